/* Patterns in which waiting is passed on: inherited_waits PATTERN ROUNDS. Work is naps, in virtual
 * time.
 *   chain       rank 0 works longer, each rank passes on to the next; then an allreduce
 *   ring        the same without a collective, around a ring; rank 1 works longer, too
 *   stencil     one-dimensional halo exchange with one slow rank, now and then an allreduce
 *   wavefront   a grid of ranks: from west and north, to east and south, planes forth and back, as
 *               NPB LU; the first rank works longer
 *   master      rank 0 hands a piece of work to each of the others and takes what comes back
 *   mixed       halves: a chain in each, a collective of the half, a broadcast, a barrier of all
 *   threads     three threads of each rank, each with a communicator of its own and its slow
 *               rank: a ring, a chain with an allreduce, one that hears from two others in turn
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int rank, ranks, rounds;

static void nap(double ms) {
    nanosleep(&(struct timespec){(time_t)(ms * 1e-3), (long)(ms * 1e6) % 1000000000}, NULL);
}

__attribute__((noinline)) static void prepare(double ms) {
    nap(ms);
}

__attribute__((noinline)) static void compute(double ms) {
    nap(ms);
}

static void receive(int from) {
    int value;
    if (from >= 0)
        MPI_Recv(&value, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void send(int to) {
    if (to >= 0)
        MPI_Send(&rank, 1, MPI_INT, to, 0, MPI_COMM_WORLD);
}

__attribute__((noinline)) static void allreduce(MPI_Comm comm) {
    int sum;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
}

__attribute__((noinline)) static void chain(int i) {
    (void)i;
    prepare(rank == 0 ? 12 : 2);
    receive(rank - 1);
    compute(3);
    send(rank + 1 < ranks ? rank + 1 : -1);
    allreduce(MPI_COMM_WORLD);
}

__attribute__((noinline)) static void ring(int i) {
    if (rank > 0 || i > 0)
        receive((rank + ranks - 1) % ranks);
    compute(rank == 0 ? 8 : rank == 1 ? 5 : 2);
    send((rank + 1) % ranks);
}

__attribute__((noinline)) static void stencil(int i) {
    MPI_Request requests[4];
    MPI_Status statuses[4];
    int in[2], n = 0;
    for (int side = 0; side < 2; side++) {
        int other = rank + 2 * side - 1;
        if (other < 0 || other >= ranks)
            continue;
        MPI_Irecv(&in[side], 1, MPI_INT, other, 0, MPI_COMM_WORLD, &requests[n++]);
    }
    compute(rank == 1 ? 9 : rank == ranks - 1 && i % 3 == 0 ? 14 : 4);
    for (int side = 0; side < 2; side++) {
        int other = rank + 2 * side - 1;
        if (other >= 0 && other < ranks)
            MPI_Isend(&rank, 1, MPI_INT, other, 0, MPI_COMM_WORLD, &requests[n++]);
    }
    MPI_Waitall(n, requests, statuses);
    if (i % 4 == 3)
        allreduce(MPI_COMM_WORLD);
}

__attribute__((noinline)) static void sweep(int west, int north, int east, int south, double ms) {
    for (int plane = 0; plane < 3; plane++) {
        receive(west);
        receive(north);
        compute(rank == 0 ? 2 * ms : ms);
        send(east);
        send(south);
    }
}

__attribute__((noinline)) static void wavefront(int i) {
    int columns = ranks % 2 == 0 ? 2 : 1, x = rank % columns;
    int west = x > 0 ? rank - 1 : -1, east = x + 1 < columns ? rank + 1 : -1;
    int north = rank >= columns ? rank - columns : -1;
    int south = rank + columns < ranks ? rank + columns : -1;
    prepare(1);
    sweep(west, north, east, south, 3);
    sweep(east, south, west, north, 2);
    if (i % 3 == 2)
        allreduce(MPI_COMM_WORLD);
}

__attribute__((noinline)) static void master(int i) {
    if (rank > 0) {
        receive(0);
        compute(3 + (rank + i) % ranks);
        send(0);
        return;
    }
    for (int other = 1; other < ranks; other++) {
        prepare(1.5);
        send(other);
    }
    for (int other = 1; other < ranks; other++) {
        receive(other);
        compute(0.5);
    }
}

__attribute__((noinline)) static void mixed(int i) {
    static MPI_Comm half = MPI_COMM_NULL;
    int value = rank, first = rank < ranks / 2 ? 0 : ranks / 2;
    int end = first == 0 ? ranks / 2 : ranks;
    if (half == MPI_COMM_NULL)
        MPI_Comm_split(MPI_COMM_WORLD, first, rank, &half);
    prepare(rank == first ? (i % 2 == 0 ? 10 : 6) : 2);
    receive(rank > first ? rank - 1 : -1);
    compute(2);
    send(rank + 1 < end ? rank + 1 : -1);
    allreduce(half);
    compute(rank == 0 ? 5 : 1);
    MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

static MPI_Comm comm_of[3];

__attribute__((noinline)) static void thread_ring(MPI_Comm comm, int i) {
    int value, left = (rank + ranks - 1) % ranks;
    if (rank > 0 || i > 0)
        MPI_Recv(&value, 1, MPI_INT, left, 0, comm, MPI_STATUS_IGNORE);
    compute(rank == 0 ? 8 : 2);
    MPI_Send(&rank, 1, MPI_INT, (rank + 1) % ranks, 0, comm);
}

__attribute__((noinline)) static void thread_chain(MPI_Comm comm) {
    int value;
    prepare(rank == 1 ? 9 : 1);
    if (rank > 0)
        MPI_Recv(&value, 1, MPI_INT, rank - 1, 0, comm, MPI_STATUS_IGNORE);
    compute(1);
    if (rank + 1 < ranks)
        MPI_Send(&rank, 1, MPI_INT, rank + 1, 0, comm);
    allreduce(comm);
}

/* From the last rank on: each hears from the next one, and the first from two. */
__attribute__((noinline)) static void thread_back(MPI_Comm comm) {
    int value;
    prepare(rank == ranks - 1 ? 11 : 3);
    for (int from = rank + 1; from < ranks && from <= (rank == 0 ? 2 : rank + 1); from++)
        MPI_Recv(&value, 1, MPI_INT, from, 0, comm, MPI_STATUS_IGNORE);
    compute(1);
    for (int to = rank - 1; to >= 0 && to >= (rank == 2 ? 0 : rank - 1); to--)
        MPI_Send(&rank, 1, MPI_INT, to, 0, comm);
}

static void *thread_runs(void *number) {
    const MPI_Comm *comm = number;
    for (int i = 0; i < rounds; i++) {
        if (comm == &comm_of[0])
            thread_ring(*comm, i);
        else if (comm == &comm_of[1])
            thread_chain(*comm);
        else
            thread_back(*comm);
    }
    return NULL;
}

static void threads(int i) {
    pthread_t id[3];
    if (i > 0)
        return;
    for (int t = 0; t < 3; t++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm_of[t]);
    for (int t = 0; t < 3; t++)
        if (pthread_create(&id[t], NULL, thread_runs, &comm_of[t]) != 0)
            MPI_Abort(MPI_COMM_WORLD, 1);
    for (int t = 0; t < 3; t++)
        pthread_join(id[t], NULL);
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*round)(int i);
    } patterns[] = {{"chain", chain},         {"ring", ring},     {"stencil", stencil},
                    {"wavefront", wavefront}, {"master", master}, {"mixed", mixed},
                    {"threads", threads}};
    int known = 0, level, several = argc > 1 && strcmp(argv[1], "threads") == 0;
    rounds = argc > 2 ? atoi(argv[2]) : 10;
    MPI_Init_thread(&argc, &argv, several ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (size_t p = 0; argc > 1 && p < sizeof patterns / sizeof *patterns; p++)
        if (strcmp(patterns[p].name, argv[1]) == 0) {
            known = 1;
            MPI_Barrier(MPI_COMM_WORLD);
            for (int i = 0; i < rounds; i++)
                patterns[p].round(i);
        }
    if (!known)
        fprintf(stderr,
                "inherited_waits chain|ring|stencil|wavefront|master|mixed|threads ROUNDS\n");
    MPI_Finalize();
    return !known;
}
