/* Rank `argv[1]` naps eight times as long as the others before each barrier, for some seconds:
 * something to watch. Leaves a file `started`. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static __attribute__((noinline)) void smooth(long milliseconds) {
    const struct timespec nap = {.tv_nsec = milliseconds * 1000000};
    nanosleep(&nap, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < (argc > 2 ? atoi(argv[2]) : 1000); i++) {
        smooth(argc > 1 && rank == atoi(argv[1]) ? 40 : 5);
        FILE *file = i == 5 && rank == 0 ? fopen("started", "w") : NULL;
        if (file != NULL)
            fclose(file);
    }
    MPI_Finalize();
    return 0;
}
