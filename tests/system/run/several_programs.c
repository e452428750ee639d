/* One of the programs of an MPMD run: NAME and WORK_MS come from the compiler. All have the same
 * functions: work, a message around a ring of all ranks, a barrier. */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

__attribute__((noinline)) static void work(void) {
    nanosleep(&(struct timespec){.tv_nsec = WORK_MS * 1000000L}, NULL);
}

__attribute__((noinline)) static void exchange(int rank, int size) {
    int out = rank, in = -1;
    MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % size, 0, &in, 1, MPI_INT, (rank + size - 1) % size,
                 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

__attribute__((noinline)) static void solve(int rank, int size) {
    for (int i = 0; i < 3; i++) {
        work();
        exchange(rank, size);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    solve(rank, size);
    printf("rank %d ran %s\n", rank, NAME);
    MPI_Finalize();
    return 0;
}
