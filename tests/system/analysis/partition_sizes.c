/* Two partitions: a mesh of 120 ms a step and particles of 180 ms, divided evenly among
 * the ranks of each. partition_sizes RANKS_OF_THE_MESH */
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

enum { STEPS = 30 };

static void nap(long us) {
    struct timespec length = {us / 1000000, us % 1000000 * 1000};
    nanosleep(&length, NULL);
}

__attribute__((noinline)) static void mesh(long us, MPI_Comm own) {
    for (int step = 0; step < STEPS; step++) {
        double share = step, sum;
        nap(us);
        MPI_Allreduce(&share, &sum, 1, MPI_DOUBLE, MPI_SUM, own);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

__attribute__((noinline)) static void particles(long us, MPI_Comm own) {
    for (int step = 0; step < STEPS; step++) {
        nap(us);
        MPI_Barrier(own);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv) {
    int rank, ranks, of_mesh = argc > 1 ? atoi(argv[1]) : 1;
    MPI_Comm own;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_split(MPI_COMM_WORLD, rank < of_mesh, rank, &own);
    if (rank < of_mesh)
        mesh(120000 / of_mesh, own);
    else
        particles(180000 / (ranks - of_mesh), own);
    MPI_Comm_free(&own);
    MPI_Finalize();
    return 0;
}
