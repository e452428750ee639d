/* Messages between all neighbours, both ways, for argv[1] ms; barriers over every argv[2]-th rank
 * only. */
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv) {
    int rank, size, out = 1, in = 0, go = 1;
    MPI_Comm some;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split(MPI_COMM_WORLD, rank % (argc > 2 ? atoi(argv[2]) : 2) ? MPI_UNDEFINED : 0, rank,
                   &some);
    double end = MPI_Wtime() + (argc > 1 ? atoi(argv[1]) : 100) * 1e-3;
    while (go) {
        int right = (rank + 1) % size, left = (rank + size - 1) % size;
        MPI_Sendrecv(&out, 1, MPI_INT, right, 1, &in, 1, MPI_INT, left, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        MPI_Sendrecv(&out, 1, MPI_INT, left, 2, &in, 1, MPI_INT, right, 2, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        if (some != MPI_COMM_NULL)
            MPI_Barrier(some);
        go = MPI_Wtime() < end;
        MPI_Bcast(&go, 1, MPI_INT, 0, MPI_COMM_WORLD);
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    if (some != MPI_COMM_NULL)
        MPI_Comm_free(&some);
    MPI_Finalize();
    return 0;
}
