/* The operations of the overhead benchmark, in tight loops. 2 ranks: pair (half a ping-pong, 8 B),
 * allreduce (8 B), barrier, bcast (8 B), waitall (Irecv + Isend + Waitall, 8 B). 1 rank: self
 * (Irecv + Send + Wait to oneself), solo (MPI_Allreduce on one rank): the unhidden cost, nobody
 * waits. argv: iterations per operation and fifth, depth of the call path above the loop. With an
 * operation as third: so many iterations of this one, and nothing is printed.
 *
 * A virtual machine moves its cores about, so that a cache line takes 30 ns from the other core at
 * one time and 120 at another, within seconds; so an operation is measured in slices, and how long
 * a line takes before and after each of them. Rank 0 prints "slice <operation> <ns per operation>
 * <ns per line before> <after>" and, at the end of an operation, "<operation> <ns of the fastest
 * slice>". */
#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int rank, ranks;
static double value, sum;

static void pair(int n) {
    int peer = 1 - rank;
    for (int i = 0; i < n; i++) {
        if (rank == 0) {
            MPI_Send(&value, 8, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
            MPI_Recv(&value, 8, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(&value, 8, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(&value, 8, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
        }
    }
}

static void allreduce(int n) {
    for (int i = 0; i < n; i++)
        MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void barrier(int n) {
    for (int i = 0; i < n; i++)
        MPI_Barrier(MPI_COMM_WORLD);
}

static void bcast(int n) {
    for (int i = 0; i < n; i++)
        MPI_Bcast(&value, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

static void waitall(int n) {
    int peer = 1 - rank;
    double got;
    for (int i = 0; i < n; i++) {
        MPI_Request requests[2];
        MPI_Status statuses[2];
        MPI_Irecv(&got, 8, MPI_BYTE, peer, 2, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(&value, 8, MPI_BYTE, peer, 2, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, statuses);
    }
}

static void self(int n) {
    double got;
    for (int i = 0; i < n; i++) {
        MPI_Request request;
        MPI_Irecv(&got, 8, MPI_BYTE, 0, 3, MPI_COMM_SELF, &request);
        MPI_Send(&value, 8, MPI_BYTE, 0, 3, MPI_COMM_SELF);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

static void solo(int n) {
    for (int i = 0; i < n; i++)
        MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
}

struct operation {
    const char *name;
    void (*run)(int);
    int ranks, per_iteration; /* operations in one iteration */
    bool more_ranks;          /* alone, it may have more */
};

static const struct operation operations[] = {
    {"pair", pair, 2, 2},
    {"allreduce", allreduce, 2, 1, true},
    {"barrier", barrier, 2, 1, true},
    {"bcast", bcast, 2, 1, true},
    {"waitall", waitall, 2, 1},
    {"self", self, 1, 1},
    {"solo", solo, 1, 1},
};

static double now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* Two lines that both ranks see, one written by each. */
struct line {
    _Alignas(64) _Atomic int turn;
};
static struct line *lines;

static void take_turns(int from, int n) {
    for (int i = from + 1; i <= from + n; i++) {
        if (rank == 1)
            while (atomic_load_explicit(&lines[0].turn, memory_order_acquire) != i)
                ;
        atomic_store_explicit(&lines[rank].turn, i, memory_order_release);
        if (rank == 0)
            while (atomic_load_explicit(&lines[1].turn, memory_order_acquire) != i)
                ;
    }
}

/* ns for a line to get to the other rank: the fastest of three attempts; 0 but for two ranks. */
static double line_ns(void) {
    enum { TURNS = 200 };
    static int turns;
    double best = 1e300;
    if (ranks != 2)
        return 0;
    for (int attempt = 0; attempt < 3; attempt++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double begin = now_ns();
        take_turns(turns, TURNS);
        double spent = (now_ns() - begin) / TURNS / 2;
        turns += TURNS;
        if (spent < best)
            best = spent;
    }
    return best;
}

static const char *only;

static double repeat(const struct operation *op, int n) {
    enum { SLICE = 4000 };
    double best = 1e300;
    if (only != NULL) {
        op->run(n);
        return 0;
    }
    op->run(n / 10 + 1);
    double before = line_ns();
    for (int slice = 0; slice * SLICE < 5 * n; slice++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double begin = now_ns();
        op->run(SLICE);
        double spent = (now_ns() - begin) / SLICE / op->per_iteration, after = line_ns();
        if (rank == 0)
            printf("slice %s %.2f %.1f %.1f\n", op->name, spent, before, after);
        if (spent < best)
            best = spent;
        before = after;
    }
    return best;
}

/* Call paths of real programs are deep; the volatile keeps the frames. */
static volatile int kept;
__attribute__((noinline)) static double at_depth(const struct operation *op, int n, int depth) {
    double result = depth > 0 ? at_depth(op, n, depth - 1) : repeat(op, n);
    kept = depth;
    return result;
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 200000;
    int depth = argc > 2 ? atoi(argv[2]) : 10;
    only = argc > 3 ? argv[3] : NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Win win;
    MPI_Aint bytes;
    int unit;
    MPI_Win_allocate_shared(rank == 0 ? (MPI_Aint)(4 * sizeof *lines) : 0, 1, MPI_INFO_NULL,
                            MPI_COMM_WORLD, (void *)&lines, &win);
    MPI_Win_shared_query(win, 0, &bytes, &unit, (void *)&lines);
    lines = (struct line *)(((uintptr_t)lines + 63) / 64 * 64);
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
        bool fits = operations[i].ranks == ranks ||
                    (only && operations[i].more_ranks && ranks > operations[i].ranks);
        if (!fits || (only && strcmp(operations[i].name, only) != 0))
            continue;
        double ns = at_depth(&operations[i], n, depth);
        if (rank == 0 && !only)
            printf("%s %.2f\n", operations[i].name, ns);
    }
    if (rank == 0 && !only) {
        double begin = now_ns();
        for (int i = 0; i < 100000; i++)
            now_ns();
        printf("clock_gettime %.2f\n", (now_ns() - begin) / 100000);
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
