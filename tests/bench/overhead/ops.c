/* The operations of the overhead benchmark, in tight loops. Prints "<operation> <ns per operation>"
 * on rank 0. 2 ranks: pair (half a ping-pong, 8 B), allreduce (8 B), barrier, bcast (8 B), waitall
 * (Irecv + Isend + Waitall, 8 B) 1 rank:  self (Irecv + Send + Wait to oneself), solo
 * (MPI_Allreduce on one rank): the unhidden cost, nobody waits argv: iterations per repetition,
 * depth of the call path above the loop. The smallest of 5 repetitions is printed. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
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
};

static const struct operation operations[] = {
    {"pair", pair, 2, 2},   {"allreduce", allreduce, 2, 1}, {"barrier", barrier, 2, 1},
    {"bcast", bcast, 2, 1}, {"waitall", waitall, 2, 1},     {"self", self, 1, 1},
    {"solo", solo, 1, 1},
};

static double now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double repeat(const struct operation *op, int n) {
    double best = 1e300;
    op->run(n / 10 + 1);
    for (int repetition = 0; repetition < 5; repetition++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double begin = now_ns();
        op->run(n);
        double spent = (now_ns() - begin) / n / op->per_iteration;
        if (spent < best)
            best = spent;
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
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
        if (operations[i].ranks != ranks)
            continue;
        double ns = at_depth(&operations[i], n, depth);
        if (rank == 0)
            printf("%s %.2f\n", operations[i].name, ns);
    }
    if (rank == 0) {
        double begin = now_ns();
        for (int i = 0; i < 100000; i++)
            now_ns();
        printf("clock_gettime %.2f\n", (now_ns() - begin) / 100000);
    }
    MPI_Finalize();
    return 0;
}
