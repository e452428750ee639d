/* Latency between two processes: microseconds per message of 8 bytes one way, and per MPI_Allreduce
 * of one number. Usage: between [ITERATIONS]; prints "NAME lower-quartile median". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(const char *name, double *us, int n) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    qsort(us, (size_t)n, sizeof *us, by_size);
    if (rank == 0)
        printf("%s %.3f %.3f\n", name, us[n / 4], us[n / 2]);
}

/* The middle of slices: a single round is too short for the clock, a mean has outliers. */
enum { SLICE = 20 };

int main(int argc, char **argv) {
    int rank, size, n = (argc > 1 ? atoi(argv[1]) : 20000) / SLICE;
    char bytes[8] = {0};
    double one = 1, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double *us = malloc((size_t)(n + 1) * sizeof *us);
    if (us == NULL || size != 2)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = -n / 10; i < n; i++) { /* the first ones are not counted */
        double begin = MPI_Wtime();
        for (int j = 0; j < SLICE; j++) {
            if (rank == 0)
                MPI_Send(bytes, 8, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
            MPI_Recv(bytes, 8, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (rank == 1)
                MPI_Send(bytes, 8, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        }
        us[i < 0 ? 0 : i] = (MPI_Wtime() - begin) * 1e6 / SLICE / 2;
    }
    report("message", us, n);
    for (int i = -n / 10; i < n; i++) {
        double begin = MPI_Wtime();
        for (int j = 0; j < SLICE; j++)
            MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        us[i < 0 ? 0 : i] = (MPI_Wtime() - begin) * 1e6 / SLICE;
    }
    report("allreduce", us, n);
    free(us);
    MPI_Finalize();
    return 0;
}
