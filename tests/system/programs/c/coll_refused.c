/* A collective that fails on some ranks only: those that failed go on, and so do the others, which
 * had nothing to wait for. */
#include "program.h"

int main(int argc, char **argv) {
    int value = 1, all[64], sum = 0, class = 0;
    MPI_Request r;
    start_program(&argc, &argv);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    for (int i = 0; i < 5; i++) {
        int code = MPI_SUCCESS;
        if (rank > 0) /* refused there; nobody needs the others in an operation of no data */
            code = MPI_Reduce(&value, &sum, 1, MPI_INT, MPI_OP_NULL, 0, MPI_COMM_WORLD);
        if (code != MPI_SUCCESS)
            OK(MPI_Error_class(code, &class));
        if (rank > 0) {
            code = MPI_Iallgather(&value, -1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, &r);
            CHECK(code != MPI_SUCCESS);
        }
        OK(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        CHECK(sum == size);
    }
    say("class %d", class);
    return end_program();
}
