/* A program with a profiling layer of its own (it defines MPI_Send and MPI_Barrier over PMPI_) that
 * also calls PMPI_ directly. */
#include "program.h"
#undef MPI_Send
#undef MPI_Barrier

static int layer;

int MPI_Send(const void *buffer, int n, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
    layer++;
    TALLY_ADD(TALLY_MPI_Send);
    return PMPI_Send(buffer, n, type, dest, tag, comm);
}

int MPI_Barrier(MPI_Comm comm) {
    layer += 100;
    TALLY_ADD(TALLY_MPI_Barrier);
    return PMPI_Barrier(comm);
}

int main(int argc, char **argv) {
    start_program(&argc, &argv);
    int in = -1, sum = 0;
    for (int i = 0; i < 5; i++) {
        if (rank == 0) {
            OK(MPI_Send(&i, 1, MPI_INT, 1, 1, MPI_COMM_WORLD));
        } else if (rank == 1) {
            TALLY_ADD(TALLY_MPI_Recv);
            OK(PMPI_Recv(&in, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        }
        OK(MPI_Barrier(MPI_COMM_WORLD));
        TALLY_ADD(TALLY_MPI_Allreduce);
        OK(PMPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    }
    say("pmpi %d %d layer %d", in, sum, layer);
    return end_program();
}
