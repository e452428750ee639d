/* Alltoallv and alltoallw where one side gives count 0, the other counts of a type of 0 bytes. */
#include "program.h"

int main(int argc, char **argv) {
    int send = 0, recv = 0, ones[64], zeros[64] = {0};
    MPI_Datatype empty, empties[64], ints[64];
    start_program(&argc, &argv);
    CHECK(size <= 64);
    OK(MPI_Type_contiguous(0, MPI_INT, &empty));
    OK(MPI_Type_commit(&empty));
    for (int i = 0; i < size; i++) {
        ones[i] = 1;
        empties[i] = empty;
        ints[i] = MPI_INT;
    }
    OK(MPI_Alltoallv(&send, zeros, zeros, MPI_INT, &recv, ones, zeros, empty, MPI_COMM_WORLD));
    OK(MPI_Alltoallv(&send, ones, zeros, empty, &recv, zeros, zeros, MPI_INT, MPI_COMM_WORLD));
    OK(MPI_Alltoallw(&send, zeros, zeros, ints, &recv, ones, zeros, empties, MPI_COMM_WORLD));
    OK(MPI_Alltoallw(&send, ones, zeros, empties, &recv, zeros, zeros, ints, MPI_COMM_WORLD));
    OK(MPI_Type_free(&empty));
    say("zero bytes");
    return end_program();
}
