/* MPI-4.0 sessions without MPI_Init: the world model is never used. MPICH only (4.0.2 crashes at a
 * second session). session_only late: one rank comes 1 s after the others. */
#include "program.h"

int main(int argc, char **argv) {
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    int sum = 0, to, from, in = -1;
    const char *number = getenv("PMI_RANK");
    if (argc > 1 && strcmp(argv[1], "late") == 0 && number != NULL && atoi(number) == 1)
        nap_ms(1000);
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    OK(MPI_Comm_create_from_group(group, "latecomer.test", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                  &comm));
    OK(MPI_Group_free(&group));
    OK(MPI_Comm_rank(comm, &rank));
    OK(MPI_Comm_size(comm, &size));
    to = (rank + 1) % size;
    from = (rank + size - 1) % size;
    OK(MPI_Sendrecv(&rank, 1, MPI_INT, to, 0, &in, 1, MPI_INT, from, 0, comm, MPI_STATUS_IGNORE));
    OK(MPI_Allreduce(&in, &sum, 1, MPI_INT, MPI_SUM, comm));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Session_finalize(&session));
    say("sessions %d %d", in, sum);
    return print_tally();
}
