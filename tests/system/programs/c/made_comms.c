/* Two ranks: known bytes and known waits over communicators made in other ways than by dup and
 * split: MPI_Comm_create_group (ranks reversed), MPI_Intercomm_create, MPI_Intercomm_merge. */
#include "program.h"

int main(int argc, char **argv) {
    char buffer[1000] = "";
    int reversed[2] = {1, 0}, sum = 0;
    MPI_Group world, group;
    MPI_Comm grouped, local, inter, merged;
    start_program(&argc, &argv);
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_incl(world, 2, reversed, &group));
    OK(MPI_Comm_create_group(MPI_COMM_WORLD, group, 5, &grouped));
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &local));
    OK(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, 1 - rank, 7, &inter));
    OK(MPI_Intercomm_merge(inter, rank, &merged));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0) { /* rank 1 waits 100 ms for 1000 bytes */
        nap_ms(100);
        OK(MPI_Send(buffer, 1000, MPI_BYTE, 0, 1, grouped));
    } else {
        OK(MPI_Recv(buffer, 1000, MPI_BYTE, 1, 1, grouped, MPI_STATUS_IGNORE));
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 1) { /* rank 0 waits 50 ms for 500 bytes from the other side */
        nap_ms(50);
        OK(MPI_Ssend(buffer, 500, MPI_BYTE, 0, 1, inter));
    } else {
        OK(MPI_Recv(buffer, 500, MPI_BYTE, 0, 1, inter, MPI_STATUS_IGNORE));
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0)
        nap_ms(70); /* rank 1 waits 70 ms in a collective of both sides */
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, inter));
    CHECK(sum == 1 - rank);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 1)
        nap_ms(30); /* rank 0 waits 30 ms for the root, which is 1 in the merged one */
    OK(MPI_Bcast(buffer, 200, MPI_BYTE, 1, merged));
    OK(MPI_Comm_free(&merged));
    OK(MPI_Comm_free(&inter));
    OK(MPI_Comm_free(&local));
    OK(MPI_Comm_free(&grouped));
    OK(MPI_Group_free(&group));
    OK(MPI_Group_free(&world));
    say("made %d", sum);
    return end_program();
}
