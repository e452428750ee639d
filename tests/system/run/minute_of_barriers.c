/* Barriers for a minute: something to take snapshots of. */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

int main(int argc, char **argv) {
    const struct timespec nap = {.tv_nsec = 10000000};
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 6000; i++) {
        nanosleep(&nap, NULL);
        MPI_Barrier(MPI_COMM_WORLD);
        if (i == 5 && rank == 0) {
            FILE *file = fopen("started", "w");
            if (file != NULL)
                fclose(file);
        }
    }
    MPI_Finalize();
    return 0;
}
