/* Sleeps in two functions, one after the other, between two calls of MPI. */
#include <mpi.h>
#include <time.h>

static volatile char sink;

static void nap(long ms) {
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

/* Frames between main and the call that sleeps. */
__attribute__((noinline)) static void first(void) {
    nap(300);
    sink++;
}

__attribute__((noinline)) static void second(void) {
    nap(100);
    sink++;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_SELF);
    first();
    second();
    MPI_Barrier(MPI_COMM_SELF);
    MPI_Finalize();
    return 0;
}
