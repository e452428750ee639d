/* Persistent requests of all modes: Start, Startall, inactive requests in Wait and Test, reuse,
 * free while inactive. */
#include "program.h"

int main(int argc, char **argv) {
    start_program(&argc, &argv);
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    int in[4] = {0}, out[4] = {0}, flag, index, count, indices[8];
    char space[4000];
    void *back;
    MPI_Request r[8], null;
    MPI_Status s[8];
    OK(MPI_Buffer_attach(space, sizeof space));
    for (int i = 0; i < 4; i++)
        OK(MPI_Recv_init(&in[i], 1, MPI_INT, i == 3 ? MPI_ANY_SOURCE : from, 20 + i, MPI_COMM_WORLD,
                         &r[i]));
    OK(MPI_Send_init(&out[0], 1, MPI_INT, to, 20, MPI_COMM_WORLD, &r[4]));
    OK(MPI_Ssend_init(&out[1], 1, MPI_INT, to, 21, MPI_COMM_WORLD, &r[5]));
    OK(MPI_Bsend_init(&out[2], 1, MPI_INT, to, 22, MPI_COMM_WORLD, &r[6]));
    OK(MPI_Rsend_init(&out[3], 1, MPI_INT, to, 23, MPI_COMM_WORLD, &r[7]));

    OK(MPI_Wait(&r[0], &s[0])); /* inactive: returns at once with an empty status */
    CHECK(s[0].MPI_SOURCE == MPI_ANY_SOURCE && r[0] != MPI_REQUEST_NULL);
    OK(MPI_Test(&r[1], &flag, &s[0]));
    CHECK(flag);
    OK(MPI_Waitany(8, r, &index, &s[0]));
    CHECK(index == MPI_UNDEFINED);
    OK(MPI_Testsome(8, r, &count, indices, s));
    CHECK(count == MPI_UNDEFINED);

    long sum = 0;
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < 4; i++)
            out[i] = rank + 10 * round + i;
        OK(MPI_Startall(4, r));
        OK(MPI_Barrier(MPI_COMM_WORLD));
        if (round % 2)
            OK(MPI_Startall(4, r + 4));
        else
            for (int i = 4; i < 8; i++)
                OK(MPI_Start(&r[i]));
        if (round % 3 == 0)
            OK(MPI_Waitall(8, r, s));
        else if (round % 3 == 1) {
            for (int i = 0; i < 8; i++) {
                OK(MPI_Waitany(8, r, &index, &s[0]));
                CHECK(index >= 0 && index < 8);
            }
        } else {
            for (int done = 0; done < 8; done += count)
                OK(MPI_Waitsome(8, r, &count, indices, s));
        }
        for (int i = 0; i < 4; i++)
            sum = sum * 3 % 1000003 + in[i];
    }
    for (int i = 0; i < 8; i++) {
        CHECK(r[i] != MPI_REQUEST_NULL);
        OK(MPI_Request_free(&r[i]));
        CHECK(r[i] == MPI_REQUEST_NULL);
    }
    OK(MPI_Recv_init(&in[0], 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &null));
    OK(MPI_Start(&null));
    OK(MPI_Wait(&null, &s[0]));
    OK(MPI_Request_free(&null));
    OK(MPI_Buffer_detach(&back, &count));
    say("persistent %ld", sum);
    return end_program();
}
