/* Intercommunicators: create, messages, collectives with MPI_ROOT and MPI_PROC_NULL, dup, merge.
 * Ranks 0 | 1..n-1. */
#include "program.h"

int main(int argc, char **argv) {
    start_program(&argc, &argv);
    MPI_Comm local, inter, dup, merged, remote_comm;
    MPI_Group remote;
    int left = rank == 0, n, flag, value = -1, all[16] = {0}, sum = 0;
    MPI_Status s;
    MPI_Request r;
    OK(MPI_Comm_split(MPI_COMM_WORLD, left, rank, &local));
    OK(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, left ? 1 : 0, 12, &inter));
    OK(MPI_Comm_test_inter(inter, &flag));
    OK(MPI_Comm_remote_size(inter, &n));
    CHECK(flag && n == (left ? size - 1 : 1));
    OK(MPI_Comm_remote_group(inter, &remote));
    OK(MPI_Group_size(remote, &n));
    OK(MPI_Group_free(&remote));
    if (left) {
        for (int i = 0; i < 2 * n; i++) {
            OK(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 5, inter, &s));
            CHECK(value % 100 == s.MPI_SOURCE + 1); /* remote rank k is world rank k + 1 */
            sum += value;
        }
        for (int i = 0; i < n; i++)
            OK(MPI_Send(&sum, 1, MPI_INT, i, 6, inter));
    } else {
        for (int i = 0; i < 2; i++) {
            value = 100 * i + rank;
            OK(MPI_Isend(&value, 1, MPI_INT, 0, 5, inter, &r));
            OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        }
        OK(MPI_Recv(&sum, 1, MPI_INT, 0, 6, inter, &s));
    }
    say("messages %d", sum);
    value = left ? 42 : -1;
    OK(MPI_Bcast(&value, 1, MPI_INT, left ? MPI_ROOT : 0, inter));
    OK(MPI_Barrier(inter));
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, inter)); /* sum of the other side */
    OK(MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, inter));
    say("collectives %d %d %d", value, sum, all[0]);
    if (!left)
        OK(MPI_Gather(&rank, 1, MPI_INT, NULL, 0, MPI_INT, 0, inter));
    else
        OK(MPI_Gather(NULL, 0, MPI_INT, all, 1, MPI_INT, MPI_ROOT, inter));
    OK(MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_MAX,
                  left        ? 0
                  : rank == 1 ? MPI_ROOT
                              : MPI_PROC_NULL,
                  inter));
    OK(MPI_Comm_dup(inter, &dup));
    OK(MPI_Intercomm_merge(dup, left, &merged));
    OK(MPI_Comm_rank(merged, &n));
    OK(MPI_Allreduce(&n, &sum, 1, MPI_INT, MPI_SUM, merged));
    say("merged rank %d sum %d", n, sum);
    OK(MPI_Comm_split(inter, rank < 2, rank, &remote_comm));
    if (remote_comm != MPI_COMM_NULL)
        OK(MPI_Comm_free(&remote_comm));
    OK(MPI_Comm_free(&merged));
    OK(MPI_Comm_free(&dup));
    OK(MPI_Comm_free(&inter));
    OK(MPI_Comm_free(&local));
    return end_program();
}
