/* Memory of the program's own heap attached to a window, block by block, with calls between: Open
 * MPI has room for 32 regions, and takes blocks that lie side by side for one. */
#include "program.h"

enum { BLOCKS = 200, BYTES = 200 };

int main(int argc, char **argv) {
    static char *blocks[BLOCKS];
    MPI_Win win;
    int sum = 0, refused = 0;
    start_program(&argc, &argv);
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    for (int i = 0; i < BLOCKS; i++) {
        MPI_Request r[4];
        blocks[i] = malloc(BYTES);
        CHECK(blocks[i] != NULL);
        refused += MPI_Win_attach(win, blocks[i], BYTES) != MPI_SUCCESS;
        /* what the tool keeps of these lies somewhere */
        OK(MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r[0]));
        OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
        for (int k = 0; k < 4; k++)
            OK(MPI_Irecv(&sum, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &r[k]));
        OK(MPI_Waitall(4, r, MPI_STATUSES_IGNORE));
        MPI_Comm made;
        OK(MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &made));
        OK(MPI_Barrier(made));
        OK(MPI_Comm_free(&made));
    }
    say("refused %d", refused);
    for (int i = 0; i < BLOCKS; i++) {
        MPI_Win_detach(win, blocks[i]);
        free(blocks[i]);
    }
    OK(MPI_Win_free(&win));
    return end_program();
}
