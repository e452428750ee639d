/* A directed ring as a distributed graph, and the same ranks as a Cartesian ring: rank 2 comes late
 * to one operation on each. Only who receives from it waits: rank 3 in the directed ring, ranks 1
 * and 3 in the other. */
#include <mpi.h>
#include <unistd.h>

static void exchange(MPI_Comm comm, int late) {
    int out[2] = {1, 2}, in[2], counts[2] = {1, 1}, at[2] = {0, 1};
    if (late)
        usleep(300000);
    MPI_Neighbor_alltoallv(out, counts, at, MPI_INT, in, counts, at, MPI_INT, comm);
}

int main(int argc, char **argv) {
    int rank, size, dims[1], periodic[1] = {1};
    MPI_Comm directed, ring;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int source = (rank + size - 1) % size, target = (rank + 1) % size, weight = 1;
    dims[0] = size;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &source, &weight, 1, &target, &weight,
                                   MPI_INFO_NULL, 0, &directed);
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periodic, 0, &ring);
    for (int i = 0; i < 2; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        exchange(directed, i == 1 && rank == 2);
    }
    for (int i = 0; i < 2; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        exchange(ring, i == 1 && rank == 2);
    }
    MPI_Comm_free(&ring);
    MPI_Comm_free(&directed);
    MPI_Finalize();
    return 0;
}
