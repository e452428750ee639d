/* Nonblocking collectives on intercommunicators that are freed as soon as they are over. */
#include "program.h"

int main(int argc, char **argv) {
    int all[64] = {0}, sum = 0;
    start_program(&argc, &argv);
    for (int round = 0; round < 8; round++) {
        int low = rank < size / 2, n = 0;
        MPI_Comm half, inter;
        MPI_Request r;
        OK(MPI_Comm_split(MPI_COMM_WORLD, low, rank, &half));
        OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, low ? size / 2 : 0, 7, &inter));
        OK(MPI_Comm_remote_size(inter, &n));
        OK(MPI_Iallgather(&rank, 1, MPI_INT, all, 1, MPI_INT, inter, &r));
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        for (int i = 0; i < n; i++)
            sum += all[i];
        OK(MPI_Comm_free(&inter));
        OK(MPI_Comm_free(&half));
    }
    say("sum %d", sum);
    return end_program();
}
