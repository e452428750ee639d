/* What sits between programs and MPI: it changes what calls do (the order of ranks is reversed, as
 * tools do that place ranks) and says at the end what it has seen. With -DNEXT_BY_NAME it asks the
 * dynamic linker for the next PMPI_ functions, as Darshan does, else it is linked to them, as
 * mpiP is. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

#ifdef NEXT_BY_NAME
#define NEXT(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))
#else
#define NEXT(name) (name)
#endif

static int seen;

int MPI_Comm_rank(MPI_Comm comm, int *rank) {
    int size, error = NEXT(PMPI_Comm_rank)(comm, rank);
    NEXT(PMPI_Comm_size)(comm, &size);
    *rank = 100 + size - 1 - *rank;
    return error;
}

int MPI_Allreduce(const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    int rank;
    MPI_Comm_rank(comm, &rank); /* its own */
    seen += rank;
    return NEXT(PMPI_Allreduce)(in, out, n, type, op, comm);
}

int MPI_Init(int *argc, char ***argv) {
    return NEXT(PMPI_Init)(argc, argv);
}

int MPI_Finalize(void) {
    printf("layer saw %d\n", seen);
    return NEXT(PMPI_Finalize)();
}
