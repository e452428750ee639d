/* Rank 1 comes last to MPI_Finalize:
 *   direct   because of its own `work`
 *   chain    mostly because it waited for a message that the `origin` of rank 2 delayed
 *   switch   as direct, but nothing is measured any more by then */
#include <mpi.h>
#include <string.h>
#include <time.h>

enum { NAP_MS = 300 };

static void nap(long milliseconds) {
    nanosleep(&(struct timespec){.tv_nsec = milliseconds * 1000000}, NULL);
}

static __attribute__((noinline)) void work(long milliseconds) {
    nap(milliseconds);
    __asm__ volatile("" ::: "memory");
}

static __attribute__((noinline)) void origin(int to) {
    nap(2 * NAP_MS);
    MPI_Send(&to, 1, MPI_INT, to, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    int rank, data = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    const char *mode = argc > 1 ? argv[1] : "direct";
    if (strcmp(mode, "chain") == 0 && rank == 2)
        origin(1);
    if (strcmp(mode, "chain") == 0 && rank == 1)
        MPI_Recv(&data, 1, MPI_INT, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (strcmp(mode, "switch") == 0)
        MPI_Pcontrol(0);
    if (rank == 1)
        work(NAP_MS);
    MPI_Finalize();
    return 0;
}
