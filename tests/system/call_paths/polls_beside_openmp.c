/* MPI_Iprobe in vain, above the budget, and then an event of OpenMP, again and again, in one
 * thread. Prints the calls that were made.
 *
 *   polls_beside_openmp ROUNDS */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { IN_VAIN = 20 };

int main(int argc, char **argv) {
    long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 1000;
    volatile long sum = 0;
    int flag;
    MPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    for (long i = 0; i < rounds; i++) {
        for (int k = 0; k < IN_VAIN; k++)
            MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
#pragma omp critical
        sum += i;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    printf("MPI_Iprobe %ld\n", rounds * IN_VAIN);
    MPI_Finalize();
    return 0;
}
