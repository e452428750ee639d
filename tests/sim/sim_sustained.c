/* Operations in a row, without a pause in which records could catch up: sim_sustained PATTERN
 * ROUNDS. Ranks work some nanoseconds before each operation and carry their clocks in what they
 * send, so they know the critical path. Rank 0 prints how long the rounds took at most, and the
 * critical path, in ns (0: not known).
 *
 *   pair       messages in turn; pair_any: received from any source; pair_big: 8 KiB;
 *              pair_synchronous: MPI_Ssend; pair_paths: work in five call paths; pair_tags: the
 *              answers have more tags than partners count streams of each other;
 *              pair_threads: two threads each, at the same time
 *   waitall    MPI_Irecv, MPI_Isend, MPI_Waitall with the same partner
 *   stream     from even ranks to odd ones; fan_in: from all to rank 0
 *   ring       one message goes round; shift: all pass one on at once
 *   allreduce, barrier, bcast, bcasts (the root changes), reduce
 *   gradient   neighbours exchange, then an allreduce; mixed: allreduce, reduce, bcast */
#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BIG = 8192, WORK_NS = 400, TAGS = 12 };

void sim_work(uint64_t ns) __attribute__((weak));

static int rank, size, rounds;
static uint64_t mine; /* the clock */
static uint64_t *out, *in;

static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t share(int of, int round) {
    uint64_t x = (uint64_t)of * 0x9e3779b97f4a7c15u + (uint64_t)round * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 29)) * 0x94d049bb133111ebu;
    return (x >> 32) % WORK_NS;
}

static void work(int round) {
    uint64_t ns = share(rank, round);
    if (sim_work)
        sim_work(ns);
    mine += ns;
}

static void take(uint64_t clock) {
    mine = clock > mine ? clock : mine;
}

static void send(int to, int bytes, bool synchronous) {
    *out = mine;
    (synchronous ? MPI_Ssend : MPI_Send)(out, bytes, MPI_BYTE, to, 1, MPI_COMM_WORLD);
}

static void receive(int from, int bytes) {
    MPI_Recv(in, bytes, MPI_BYTE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    take(*in);
}

static void in_turn(int from, int bytes, bool synchronous) {
    for (int i = 0; i < rounds; i++) {
        if (rank % 2 == 1)
            receive(from, bytes);
        work(i);
        send(rank ^ 1, bytes, synchronous);
        if (rank % 2 == 0)
            receive(from, bytes);
    }
}

static void pair(void) {
    in_turn(rank ^ 1, 8, false);
}

static void pair_any(void) {
    in_turn(MPI_ANY_SOURCE, 8, false);
}

static void pair_big(void) {
    in_turn(rank ^ 1, BIG, false);
}

static void pair_synchronous(void) {
    in_turn(rank ^ 1, 8, true);
}

#define PATH(NAME)                                                                                 \
    static __attribute__((noinline)) void NAME(int round) {                                        \
        work(round);                                                                               \
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);                                                      \
    }
PATH(path_a)
PATH(path_b)
PATH(path_c)
PATH(path_d)
PATH(path_e)

static void pair_paths(void) {
    static void (*const paths[])(int) = {path_a, path_b, path_c, path_d, path_e};
    for (int i = 0; i < rounds; i++) {
        if (rank % 2 == 1)
            receive(rank ^ 1, 8);
        for (int p = 0; p < 5; p++)
            paths[p](5 * i + p);
        send(rank ^ 1, 8, false);
        if (rank % 2 == 0)
            receive(rank ^ 1, 8);
    }
}

static void pair_tags(void) {
    for (int i = 0; i < rounds; i++) {
        int tag = 2 + i % TAGS;
        if (rank % 2 == 1)
            receive(rank ^ 1, 8);
        work(i);
        *out = mine;
        MPI_Send(out, 8, MPI_BYTE, rank ^ 1, rank % 2 == 1 ? tag : 1, MPI_COMM_WORLD);
        if (rank % 2 == 0) {
            MPI_Recv(in, 8, MPI_BYTE, rank ^ 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            take(*in);
        }
    }
}

static void *of_thread(void *tag) {
    int t = (int)(intptr_t)tag;
    uint64_t x = 0;
    for (int i = 0; i < rounds; i++) {
        if (rank % 2 == 1)
            MPI_Recv(&x, 8, MPI_BYTE, rank ^ 1, t, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (sim_work)
            sim_work(share(rank, i));
        MPI_Send(&x, 8, MPI_BYTE, rank ^ 1, t, MPI_COMM_WORLD);
        if (rank % 2 == 0)
            MPI_Recv(&x, 8, MPI_BYTE, rank ^ 1, t, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return NULL;
}

static void pair_threads(void) {
    pthread_t other;
    if (pthread_create(&other, NULL, of_thread, (void *)(intptr_t)2) != 0)
        abort();
    of_thread((void *)(intptr_t)1);
    pthread_join(other, NULL);
}

static void waitall(void) {
    for (int i = 0; i < rounds; i++) {
        MPI_Request r[2];
        MPI_Status statuses[2];
        work(i);
        *out = mine;
        MPI_Irecv(in, 8, MPI_BYTE, rank ^ 1, 1, MPI_COMM_WORLD, &r[0]);
        MPI_Isend(out, 8, MPI_BYTE, rank ^ 1, 1, MPI_COMM_WORLD, &r[1]);
        MPI_Waitall(2, r, statuses);
        take(*in);
    }
}

static void stream(void) {
    for (int i = 0; i < rounds; i++) {
        work(i);
        if (rank % 2 == 0)
            send(rank + 1, 8, false);
        else
            receive(rank - 1, 8);
    }
}

static void fan_in(void) {
    for (int i = 0; i < rounds; i++) {
        for (int from = 1; rank == 0 && from < size; from++)
            receive(MPI_ANY_SOURCE, 8);
        work(i);
        if (rank > 0)
            send(0, 8, false);
    }
}

static void ring(void) {
    for (int i = 0; i < rounds; i++) {
        if (rank > 0)
            receive(rank - 1, 8);
        work(i);
        send((rank + 1) % size, 8, false);
        if (rank == 0)
            receive(size - 1, 8);
    }
}

static void exchange(void) {
    *out = mine;
    MPI_Sendrecv(out, 8, MPI_BYTE, (rank + 1) % size, 1, in, 8, MPI_BYTE, (rank + size - 1) % size,
                 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    take(*in);
}

static void shift(void) {
    for (int i = 0; i < rounds; i++) {
        work(i);
        exchange();
    }
}

static void reduce_all(void) {
    MPI_Allreduce(&mine, in, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    take(*in);
}

static void reduce_to(int root) {
    MPI_Reduce(&mine, in, 1, MPI_UINT64_T, MPI_MAX, root, MPI_COMM_WORLD);
    if (rank == root)
        take(*in);
}

static void broadcast(int root) {
    *out = mine;
    MPI_Bcast(out, 1, MPI_UINT64_T, root, MPI_COMM_WORLD);
    take(*out);
}

static void allreduce(void) {
    for (int i = 0; i < rounds; i++) {
        work(i);
        reduce_all();
    }
}

static void barrier(void) {
    for (int i = 0; i < rounds; i++) {
        uint64_t before = mine, most = 0;
        for (int r = 0; r < size; r++)
            most = share(r, i) > most ? share(r, i) : most;
        work(i);
        MPI_Barrier(MPI_COMM_WORLD);
        mine = before + most;
    }
}

static void bcast(void) {
    for (int i = 0; i < rounds; i++) {
        work(i);
        broadcast(0);
    }
}

static void bcasts(void) {
    for (int i = 0; i < rounds; i++) {
        work(i);
        broadcast(i % size);
    }
}

static void reduce(void) {
    for (int i = 0; i < rounds; i++) {
        work(i);
        reduce_to(0);
    }
}

static void gradient(void) {
    for (int i = 0; i < rounds; i++) {
        work(2 * i);
        exchange();
        work(2 * i + 1);
        reduce_all();
    }
}

static void mixed(void) {
    for (int i = 0; i < rounds; i++) {
        work(2 * i);
        reduce_all();
        work(2 * i + 1);
        reduce_to(i % size);
        broadcast((i + 1) % size);
    }
}

static const struct pattern {
    const char *name;
    void (*run)(void);
    bool unknown; /* the critical path */
} patterns[] = {{"pair", pair, false},
                {"pair_any", pair_any, false},
                {"pair_big", pair_big, false},
                {"pair_synchronous", pair_synchronous, true},
                {"pair_paths", pair_paths, false},
                {"pair_tags", pair_tags, false},
                {"pair_threads", pair_threads, true},
                {"waitall", waitall, false},
                {"stream", stream, false},
                {"fan_in", fan_in, false},
                {"ring", ring, false},
                {"shift", shift, false},
                {"allreduce", allreduce, false},
                {"barrier", barrier, false},
                {"bcast", bcast, false},
                {"bcasts", bcasts, false},
                {"reduce", reduce, false},
                {"gradient", gradient, false},
                {"mixed", mixed, false}};
enum { N_PATTERNS = sizeof patterns / sizeof *patterns };

int main(int argc, char **argv) {
    const struct pattern *p = patterns;
    while (argc > 2 && p < patterns + N_PATTERNS && strcmp(p->name, argv[1]) != 0)
        p++;
    if (argc != 3 || p == patterns + N_PATTERNS)
        return 2;
    rounds = atoi(argv[2]);
    bool threads = strcmp(p->name, "pair_threads") == 0;
    int given;
    MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    out = calloc(1, BIG);
    in = calloc(1, BIG);
    if (out == NULL || in == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    uint64_t begin = now();
    p->run();
    uint64_t told[2] = {now() - begin, p->unknown ? 0 : mine}, most[2];
    MPI_Reduce(told, most, 2, MPI_UINT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%llu %llu\n", (unsigned long long)most[0], (unsigned long long)most[1]);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
