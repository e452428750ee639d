/* A shared object that is linked to MPI and does a program's MPI work; its host (host.c) knows
 * nothing of MPI. */
#include "program.h"

int plugin_main(int argc, char **argv);

int plugin_main(int argc, char **argv) {
    start_program(&argc, &argv);
    int to = (rank + 1) % size, from = (rank + size - 1) % size, in = -1, sum = 0;
    for (int i = 0; i < 10; i++)
        OK(MPI_Sendrecv(&rank, 1, MPI_INT, to, 1, &in, 1, MPI_INT, from, 1, MPI_COMM_WORLD,
                        MPI_STATUS_IGNORE));
    OK(MPI_Allreduce(&in, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    say("plugin %d %d", in, sum);
    return end_program();
}
