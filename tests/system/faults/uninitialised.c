/* Calls of MPI that are allowed before MPI_Init, and no MPI_Init. uninitialised STATUS: returns it;
 * uninitialised signal: dies of SIGSEGV; uninitialised init: goes on to MPI_Finalize. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
    int version, subversion, initialised;
    const char *how = argc > 1 ? argv[1] : "0";
    MPI_Get_version(&version, &subversion);
    MPI_Initialized(&initialised);
    printf("%d\n", initialised);
    fflush(stdout);
    if (strcmp(how, "signal") == 0)
        raise(SIGSEGV);
    if (strcmp(how, "init") == 0) {
        MPI_Init(&argc, &argv);
        MPI_Finalize();
        return 0;
    }
    return atoi(how);
}
