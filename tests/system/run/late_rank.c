/* Rank `argv[1]` naps eight times as long as the others before each barrier, `argv[2]` times:
 * something to watch. Leaves a file `started`. With `argv[3]` it ends as soon as there is such a
 * file. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static __attribute__((noinline)) void smooth(long milliseconds) {
    const struct timespec nap = {.tv_nsec = milliseconds * 1000000};
    nanosleep(&nap, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
}

static __attribute__((noinline)) int is_enough(int rank, const char *path) {
    int enough = rank == 0 && access(path, F_OK) == 0;
    MPI_Bcast(&enough, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return enough;
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
        if (argc > 3 && is_enough(rank, argv[3]))
            break;
    }
    MPI_Finalize();
    return 0;
}
