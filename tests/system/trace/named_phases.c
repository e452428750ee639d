/* Two rounds of two named phases, then an interval in which measurement is off. */
#include <mpi.h>

#include "latecomer.h"

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    for (int round = 0; round < 2; round++) {
        latecomer_begin("warm up");
        latecomer_begin("inner");
        MPI_Barrier(MPI_COMM_WORLD);
        latecomer_end("inner");
        latecomer_end("warm up");
        latecomer_begin("solve");
        MPI_Barrier(MPI_COMM_WORLD);
        latecomer_end("solve");
    }
    latecomer_stop();
    MPI_Barrier(MPI_COMM_WORLD);
    latecomer_start();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
