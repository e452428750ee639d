/* A rank ends in the middle, after 1.2 s, killed or by exit(3), the others meanwhile in a call that
 * does not return. argv: kill|exit recv|barrier first|last */
#include "program.h"

#include <signal.h>

int main(int argc, char **argv) {
    int value = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int leaver = strcmp(argv[3], "last") == 0 ? size - 1 : 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == leaver) {
        nap_ms(1200);
        if (strcmp(argv[1], "exit") == 0)
            exit(3);
        raise(SIGKILL);
    } else if (strcmp(argv[2], "recv") == 0) {
        MPI_Recv(&value, 1, MPI_INT, leaver, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
