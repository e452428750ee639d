/* Kernels that take 10, 30 and 60 % of the time between barriers; on the last rank `straggle` runs
 * besides, every tenth iteration, as long as all of them: others wait for that alone. Arguments:
 * iterations, milliseconds of one. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static volatile double sink;

/* A file of its own for each language would hide nothing: the loops are what is sampled. */
#define KERNEL(name)                                                                               \
    __attribute__((noinline)) void name(long n);                                                   \
    void name(long n) {                                                                            \
        double x = 1;                                                                              \
        for (long i = 0; i < n; i++)                                                               \
            x = x * 1.0000001 + 1e-9;                                                              \
        sink += x;                                                                                 \
    }
KERNEL(calibrate)
KERNEL(assemble)
KERNEL(precondition)
KERNEL(solve)
KERNEL(straggle)

static double cpu_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double spent[4];

__attribute__((noinline)) static void timed(int which, void (*kernel)(long), long n) {
    double begin = cpu_s();
    kernel(n);
    spent[which] += cpu_s() - begin;
}

/* A frame between main and the call that sleeps. */
__attribute__((noinline)) static void doze(useconds_t us) {
    volatile char room[1000];
    room[us % sizeof room] = 1;
    usleep(us);
    sink += room[0];
}

int main(int argc, char **argv) {
    int rank, size, iterations = argc > 1 ? atoi(argv[1]) : 100;
    double ms = argc > 2 ? atof(argv[2]) : 10;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double begin = cpu_s();
    calibrate(5000000);
    long n = (long)(ms * 1e-3 / 10 / ((cpu_s() - begin) / 5e6));
    for (int i = 0; i < iterations; i++) {
        timed(0, assemble, n);
        timed(1, precondition, 3 * n);
        timed(2, solve, 6 * n);
        if (rank == size - 1 && i % 10 == 9)
            timed(3, straggle, 10 * n);
        if (argc > 3 && rank == 0 && i == 0)
            doze((useconds_t)atoi(argv[3]));
        MPI_Barrier(MPI_COMM_WORLD);
    }
    printf("%d %.6f %.6f %.6f %.6f\n", rank, spent[0], spent[1], spent[2], spent[3]);
    MPI_Finalize();
    return 0;
}
