/* Programs that MPICH between nodes may not end on its own: what is sent before MPI_Finalize.
 * usage: ends nothing|barrier|ask|collectives|ring */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;

static void ask(void) {
    int word = 1;
    for (int i = 1; i < ranks; i++) {
        if (rank == 0) {
            MPI_Send(&word, 1, MPI_INT, i, 1, MPI_COMM_WORLD);
            MPI_Recv(&word, 1, MPI_INT, i, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (rank == i) {
            MPI_Recv(&word, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(&word, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
        }
    }
}

static void collectives(void) {
    static char block[1 << 16];
    int one = 1, sum;
    char *all = malloc((size_t)ranks * 1000);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Bcast(block, sizeof block, MPI_BYTE, 0, MPI_COMM_WORLD);
    MPI_Gather(block, 1000, MPI_BYTE, all, 1000, MPI_BYTE, 0, MPI_COMM_WORLD);
    free(all);
}

static void ring(void) {
    int out = rank, in;
    MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % ranks, 1, &in, 1, MPI_INT,
                 (rank + ranks - 1) % ranks, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (strcmp(argv[1], "barrier") == 0)
        MPI_Barrier(MPI_COMM_WORLD);
    else if (strcmp(argv[1], "ask") == 0)
        ask();
    else if (strcmp(argv[1], "collectives") == 0)
        collectives();
    else if (strcmp(argv[1], "ring") == 0)
        ring();
    MPI_Finalize();
    return 0;
}
