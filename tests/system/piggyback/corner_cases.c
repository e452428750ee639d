/* Corner cases of the piggyback: corner_cases flood | tags | bcasts | partitioned | switch |
 * wildcards | idups | refused | nothing | two_idups | spawn. What rank 0 prints does not depend on
 * the tool. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "latecomer.h"

static int rank, size;

static void nap(long ms) {
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

/* A sender far ahead of its receiver, which then takes one tag after the other, last first. */
static long ahead(int n_tags) {
    enum { MANY = 5600 };
    long sum = 0;
    if (rank == 0)
        for (int i = 0; i < MANY; i++)
            MPI_Send(&i, 1, MPI_INT, 1, i % n_tags, MPI_COMM_WORLD);
    if (rank == 1) {
        nap(100);
        for (int tag = n_tags - 1; tag >= 0; tag--)
            for (int i = tag, got; i < MANY; i += n_tags) {
                MPI_Recv(&got, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                sum += got == i ? got : -1000000;
            }
    }
    return sum;
}

static long flood(void) {
    return ahead(7);
}

static long tags(void) { /* every message has a tag of its own */
    return ahead(5600);
}

/* A root far ahead of the others, then one of reductions behind all others. */
static long bcasts(void) {
    long sum = 0;
    for (int i = 0, x; i < 5000; i++) {
        if (i % 2500 == 0 && rank != 0)
            nap(100);
        x = rank == 0 ? i : -1;
        MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);
        sum += x == i ? 1 : -100000;
    }
    for (int i = 0, all = 0; i < 3000; i++) {
        if (i == 0 && rank == 0)
            nap(100);
        MPI_Reduce(&rank, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
        sum += rank > 0 || all == size * (size - 1) / 2 ? 1 : -100000;
    }
    return sum;
}

/* Partitioned and other messages of one tag do not match each other. */
static long partitioned(void) {
    long sum = 0;
#if MPI_VERSION >= 4
    double box[8] = {0};
    MPI_Request parts, other;
    if (rank == 0)
        MPI_Psend_init(box, 2, 4, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &parts);
    if (rank == 1)
        MPI_Precv_init(box, 2, 4, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &parts);
    for (int i = 0, got = -1; rank < 2 && i < 20; i++) {
        if (rank == 0) {
            box[7] = i;
            MPI_Start(&parts);
            MPI_Pready(0, parts);
            MPI_Send(&i, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
            nap(1);
            MPI_Pready(1, parts);
            MPI_Wait(&parts, MPI_STATUS_IGNORE);
            continue;
        }
        MPI_Irecv(&got, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &other);
        MPI_Start(&parts);
        MPI_Wait(i % 2 ? &parts : &other, MPI_STATUS_IGNORE);
        MPI_Wait(i % 2 ? &other : &parts, MPI_STATUS_IGNORE);
        sum += got == i && box[7] == i ? 1 : -1000;
    }
    if (rank < 2)
        MPI_Request_free(&parts);
#endif
    return sum;
}

/* Ranks switch measurement on and off whenever they like, with messages on their way. */
static long switched(void) {
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    long sum = 0;
    srand((unsigned)rank + 1);
    for (int i = 0; i < 100; i++) {
        int in = -1, all = 0;
        switch (rand() % 6) {
        case 0:
            latecomer_stop();
            break;
        case 1:
            latecomer_start();
            break;
        case 2:
            MPI_Pcontrol(rand() % 2);
            break;
        default:
            break;
        }
        MPI_Request r;
        MPI_Isend(&i, 1, MPI_INT, right, i % 3, MPI_COMM_WORLD, &r);
        if (rand() % 3 == 0)
            latecomer_stop();
        MPI_Recv(&in, 1, MPI_INT, left, i % 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rand() % 3 == 0)
            latecomer_start();
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        MPI_Allreduce(&in, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        sum += all == i * size ? 1 : -1000;
    }
    return sum;
}

/* Exact and wildcard receives of the same streams, completed last first. */
static long wildcards(void) {
    enum { ROUNDS = 50, PER_ROUND = 6 };
    long sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
        int in[PER_ROUND];
        MPI_Request r[PER_ROUND];
        if (rank == 0) {
            for (int i = 0; i < PER_ROUND; i++)
                MPI_Irecv(&in[i], 1, MPI_INT, i % 3 == 1 ? MPI_ANY_SOURCE : 1,
                          i % 3 == 2 ? MPI_ANY_TAG : 4, MPI_COMM_WORLD, &r[i]);
            MPI_Barrier(MPI_COMM_WORLD);
            for (int i = PER_ROUND - 1; i >= 0; i--) {
                MPI_Status status;
                MPI_Wait(&r[i], &status);
                sum += status.MPI_SOURCE == 1 && in[i] == round * PER_ROUND + i ? 1 : -1000;
            }
        } else {
            MPI_Barrier(MPI_COMM_WORLD);
            for (int i = 0; rank == 1 && i < PER_ROUND; i++) {
                int out = round * PER_ROUND + i;
                MPI_Send(&out, 1, MPI_INT, 0, 4, MPI_COMM_WORLD);
            }
        }
    }
    return sum;
}

/* Nonblocking collectives as soon as MPI_Comm_idup is complete, of which another copy is made; some
 * completed last first. */
static long idups(void) {
    long sum = 0;
    for (int i = 0; i < 20; i++) {
        MPI_Comm copy, second;
        MPI_Request r[4];
        int all[3] = {0}, root = rank == 0 ? i : -1, done = 0;
        MPI_Comm_idup(MPI_COMM_WORLD, &copy, &r[0]);
        while (!done)
            MPI_Test(&r[0], &done, MPI_STATUS_IGNORE);
        for (int k = 0; k < 2; k++)
            MPI_Iallreduce(&rank, &all[k], 1, MPI_INT, MPI_SUM, copy, &r[k]);
        MPI_Ibcast(&root, 1, MPI_INT, 0, copy, &r[2]);
        MPI_Comm_idup(copy, &second, &r[3]);
        if (rank == i % 2)
            nap(1);
        for (int k = 3; k >= 0; k--)
            MPI_Wait(&r[k], MPI_STATUS_IGNORE);
        MPI_Allreduce(&root, &all[2], 1, MPI_INT, MPI_MAX, second);
        sum += all[0] == size * (size - 1) / 2 && all[1] == all[0] && all[2] == i ? 1 : -1000;
        MPI_Comm_free(&copy);
        MPI_Comm_free(&second);
    }
    return sum;
}

/* Collectives that MPI refuses on one rank, which the others do not call; then others of all. */
static long refused(void) {
    int one = 1, all = 0, errors = 0;
    long sum = 0;
    MPI_Request request;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (rank == 0) {
        errors += MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD) != MPI_SUCCESS;
        errors += MPI_Bcast(&one, 1, MPI_INT, size + 5, MPI_COMM_WORLD) != MPI_SUCCESS;
        errors += MPI_Iallreduce(&one, &all, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD, &request) !=
                  MPI_SUCCESS;
    }
    for (int i = 0; i < 20; i++) {
        int root = rank == i % size ? i : -1;
        MPI_Bcast(&root, 1, MPI_INT, i % size, MPI_COMM_WORLD);
        MPI_Allreduce(&root, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        sum += all == i * size ? 1 : -1000;
    }
    return sum + errors;
}

/* Blocks of a type without bytes on one side, no blocks on the other. */
static long nothing(void) {
    enum { MOST = 64 };
    int counts[MOST], places[MOST] = {0}, none[MOST] = {0}, to = 0, from = 0;
    MPI_Datatype empty, with[MOST], without[MOST];
    MPI_Type_contiguous(0, MPI_INT, &empty);
    MPI_Type_commit(&empty);
    for (int i = 0; i < size; i++) {
        counts[i] = 1;
        with[i] = MPI_INT;
        without[i] = empty;
    }
    MPI_Alltoallv(&to, none, places, MPI_INT, &from, counts, places, empty, MPI_COMM_WORLD);
    MPI_Alltoallw(&to, none, places, with, &from, counts, places, without, MPI_COMM_WORLD);
    MPI_Alltoallw(&to, counts, places, without, &from, none, places, with, MPI_COMM_WORLD);
    MPI_Type_free(&empty);
    return 1;
}

/* Two copies of one communicator at the same time. */
static long two_idups(void) {
    MPI_Comm copies[2];
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int sum = 0;
    for (int i = 0; i < 2; i++)
        MPI_Comm_idup(MPI_COMM_WORLD, &copies[i], &requests[i]);
    MPI_Waitall(2, requests, statuses);
    for (int i = 0; i < 2; i++) {
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, copies[i]);
        MPI_Comm_free(&copies[i]);
    }
    return sum;
}

/* What parents and the processes that they spawned do together, in a communicator of both: wildcard
 * receives take messages of either, collectives of all kinds have roots of either. */
enum { CHILDREN = 2, TOGETHER = 20 };
static long together(MPI_Comm both) {
    long sum = 0;
    int me, n, all = 0;
    MPI_Comm copy, half;
    MPI_Comm_rank(both, &me);
    MPI_Comm_size(both, &n);
    MPI_Comm_dup(both, &copy);
    MPI_Comm_split(both, me < n - CHILDREN, me, &half); /* parents, children */
    for (int i = 0; i < TOGETHER; i++) {
        int in[2] = {-1, -1}, from_all = 0, root = me == i % n ? i : -1, halves = 0;
        MPI_Request r[5];
        MPI_Status statuses[5];
        MPI_Comm comm = i % 2 ? copy : both;
        for (int k = 0; k < 2; k++) /* from the one before, and the one before that */
            MPI_Irecv(&in[k], 1, MPI_INT, i % 3 ? MPI_ANY_SOURCE : (me + n - 1 - k) % n,
                      i % 3 == 1 ? MPI_ANY_TAG : i, comm, &r[k]);
        for (int k = 0; k < 2; k++)
            MPI_Isend(&me, 1, MPI_INT, (me + 1 + k) % n, i, comm, &r[2 + k]);
        MPI_Iallreduce(&me, &all, 1, MPI_INT, MPI_SUM, comm, &r[4]);
        if (me == i % n)
            nap(1);
        MPI_Waitall(5, r, statuses);
        MPI_Allreduce(in, &from_all, 1, MPI_INT, MPI_SUM, half);
        MPI_Allreduce(&me, &halves, 1, MPI_INT, MPI_MAX, half);
        MPI_Bcast(&root, 1, MPI_INT, i % n, both);
        sum += in[0] + in[1] == (me + n - 1) % n + (me + n - 2) % n && all == n * (n - 1) / 2 &&
                       root == i && halves == (me < n - CHILDREN ? n - CHILDREN : n) - 1
                   ? 1
                   : -1000;
    }
    MPI_Comm_free(&half);
    MPI_Comm_free(&copy);
    return sum;
}

static long spawn(const char *program) {
    MPI_Comm children, both;
    long sum = 0, theirs = 0;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (MPI_Comm_spawn(program, MPI_ARGV_NULL, CHILDREN, MPI_INFO_NULL, 0, MPI_COMM_WORLD,
                       &children, MPI_ERRCODES_IGNORE) != MPI_SUCCESS)
        return 0; /* Debian's MPICH cannot */
    MPI_Intercomm_merge(children, 0, &both);
    sum = together(both);
    MPI_Reduce(&sum, &theirs, 1, MPI_LONG, MPI_SUM, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, children);
    MPI_Comm_free(&both);
    MPI_Comm_disconnect(&children);
    return sum + theirs;
}

static int spawned(MPI_Comm parents) {
    MPI_Comm both;
    MPI_Intercomm_merge(parents, 1, &both);
    long sum = together(both);
    MPI_Reduce(&sum, NULL, 1, MPI_LONG, MPI_SUM, 0, parents);
    MPI_Comm_free(&both);
    MPI_Comm_disconnect(&parents);
    MPI_Finalize();
    return 0;
}

static const struct {
    const char *name;
    long (*run)(void);
} cases[] = {{"flood", flood},     {"tags", tags},
             {"bcasts", bcasts},   {"partitioned", partitioned},
             {"switch", switched}, {"wildcards", wildcards},
             {"idups", idups},     {"refused", refused},
             {"nothing", nothing}, {"two_idups", two_idups}};

int main(int argc, char **argv) {
    long sum = 0, all = 0;
    MPI_Comm parents;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_get_parent(&parents);
    if (parents != MPI_COMM_NULL)
        return spawned(parents);
    if (argc > 1 && strcmp(argv[1], "spawn") == 0)
        sum = spawn(argv[0]);
    if (argc > 1)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
            if (strcmp(argv[1], cases[i].name) == 0)
                sum = cases[i].run();
    MPI_Reduce(&sum, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("sum %ld\n", all);
    MPI_Finalize();
    return 0;
}
