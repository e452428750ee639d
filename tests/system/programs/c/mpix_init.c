/* Persistent collectives of Open MPI before 5.0, which calls them MPIX. */
#include "program.h"

int main(int argc, char **argv) {
    enum { ROUNDS = 3, MANY = 5 };
    int sum = 0, in = 0, buffer = 0, each[MANY][64] = {{0}}, n = 0, counts[64], places[64];
    MPI_Request r[MANY];
    start_program(&argc, &argv);
    say("cuda %d", MPIX_Query_cuda_support());
    for (int i = 0; i < size; i++) {
        counts[i] = 1;
        places[i] = i;
    }
    OK(MPIX_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &r[n++]));
    OK(MPIX_Bcast_init(&buffer, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r[n++]));
    OK(MPIX_Allreduce_init(&in, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &r[n++]));
    OK(MPIX_Alltoall_init(each[0], 1, MPI_INT, each[1], 1, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL,
                          &r[n++]));
    OK(MPIX_Allgatherv_init(&in, 1, MPI_INT, each[2], counts, places, MPI_INT, MPI_COMM_WORLD,
                            MPI_INFO_NULL, &r[n++]));
    for (int round = 0; round < ROUNDS; round++) {
        in = rank + round;
        buffer = rank == 0 ? 7 * round : 0;
        for (int i = 0; i < size; i++)
            each[0][i] = rank * i + round;
        if (rank == 1)
            nap_ms(20); /* the others wait */
        OK(MPI_Startall(n, r));
        OK(MPI_Waitall(n, r, MPI_STATUSES_IGNORE));
        say("round %d: %d %d %d %d", round, sum, buffer, each[1][size - 1], each[2][size - 1]);
    }
    for (int i = 0; i < n; i++)
        OK(MPI_Request_free(&r[i]));
    return end_program();
}
