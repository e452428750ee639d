/* Hazards for the piggyback: hazard flood | tags | bcasts | partitioned | switch | wild | idups.
 * What rank 0 prints does not depend on the tool. */
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

/* Exact and wild receives of the same streams, completed last first. */
static long wild(void) {
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

static const struct {
    const char *name;
    long (*run)(void);
} hazards[] = {
    {"flood", flood},     {"tags", tags}, {"bcasts", bcasts}, {"partitioned", partitioned},
    {"switch", switched}, {"wild", wild}, {"idups", idups}};

int main(int argc, char **argv) {
    long sum = 0, all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1)
        for (size_t i = 0; i < sizeof hazards / sizeof *hazards; i++)
            if (strcmp(argv[1], hazards[i].name) == 0)
                sum = hazards[i].run();
    MPI_Reduce(&sum, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("sum %ld\n", all);
    MPI_Finalize();
    return 0;
}
