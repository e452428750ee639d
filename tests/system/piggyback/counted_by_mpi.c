/* One operation again and again: counted_by_mpi OPERATION TIMES; counted_by_mpi.py counts
 * what MPI sends. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
    int rank, size, in = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const char *operation = argc > 1 ? argv[1] : "";
    for (int i = argc > 2 ? atoi(argv[2]) : 0; i > 0; i--) {
        if (strcmp(operation, "message") == 0)
            MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 1, &in, 1, MPI_INT,
                         (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else if (strcmp(operation, "allreduce") == 0)
            MPI_Allreduce(&rank, &in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        else if (strcmp(operation, "barrier") == 0)
            MPI_Barrier(MPI_COMM_WORLD);
        else if (strcmp(operation, "bcast") == 0)
            MPI_Bcast(&rank, 1, MPI_INT, 0, MPI_COMM_WORLD);
        else if (strcmp(operation, "reduce") == 0)
            MPI_Reduce(&rank, &in, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
        else if (strcmp(operation, "scan") == 0)
            MPI_Scan(&rank, &in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
