/* A function whose calls of MPI are the last before and the first after what its caller does else:
 * solve calls compute, doze and exchange in a loop. On the stacks of the calls in exchange it looks
 * as if that had been active all the time. */
#include <mpi.h>
#include <time.h>

enum { ROUNDS = 40, COMPUTE_MS = 10, DOZE_MS = 3 };

#define NOINLINE __attribute__((noinline, noclone))

static volatile double sink;

static double now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

NOINLINE static void compute(void) {
    double end = now_ms() + COMPUTE_MS;
    do
        for (int i = 0; i < 10000; i++)
            sink = sink * 0.5 + i;
    while (now_ms() < end);
    sink++; /* no tail call */
}

NOINLINE static void doze(void) {
    nanosleep(&(struct timespec){.tv_nsec = DOZE_MS * 1000000L}, NULL);
    sink++;
}

NOINLINE static void exchange(int rank, int size) {
    double out = rank, in;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Irecv(&in, 1, MPI_DOUBLE, (rank + 1) % size, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&out, 1, MPI_DOUBLE, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, statuses);
    sink += in;
}

NOINLINE static void solve(int rank, int size) {
    for (int i = 0; i < ROUNDS; i++) {
        compute();
        doze();
        exchange(rank, size);
    }
    sink++;
}

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    solve(rank, size);
    MPI_Finalize();
    return 0;
}
