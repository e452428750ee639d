/* Several MPI_Comm_idup of one communicator in flight, with nothing that synchronises before they
 * are complete. */
#include "program.h"

enum { MANY = 4 };

int main(int argc, char **argv) {
    MPI_Comm made[MANY];
    MPI_Request r[MANY];
    int sum = 0;
    start_program(&argc, &argv);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < MANY; i++)
            OK(MPI_Comm_idup(MPI_COMM_WORLD, &made[i], &r[i]));
        OK(MPI_Waitall(MANY, r, MPI_STATUSES_IGNORE));
        for (int i = 0; i < MANY; i++)
            OK(MPI_Comm_free(&made[i]));
        OK(MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
    }
    say("idup");
    return end_program();
}
