/* One launch of different programs (here: of different arguments): one result for all ranks. */
#include "program.h"

static int serve(void) {
    int sum = 0, value;
    for (int i = 0; i < 3 * (size - 1); i++) {
        OK(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        sum += value;
    }
    return sum;
}

static int ask(void) {
    for (int i = 0; i < 3; i++)
        OK(MPI_Send(&rank, 1, MPI_INT, 0, 1, MPI_COMM_WORLD));
    return rank;
}

int main(int argc, char **argv) {
    int first = argc > 1 && strcmp(argv[1], "first") == 0;
    start_program(&argc, &argv);
    CHECK(first == (rank == 0));
    int result = first ? serve() : ask();
    OK(MPI_Barrier(MPI_COMM_WORLD));
    say("mpmd %d", result);
    return end_program();
}
