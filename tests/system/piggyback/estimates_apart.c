/* Calls whose shortest one must be no measure of others: many of MPI_COMM_SELF and of a pair that
 * nobody waits for, some of all ranks that all wait for, and exchanges completed by MPI_Waitall. */
#include <mpi.h>
#include <time.h>

enum { OWN = 2000, JOINT = 20, NAP_MS = 5 };

static __attribute__((noinline)) void sum(MPI_Comm comm, int times, int nap) {
    int one = 1, all = 0;
    for (int i = 0; i < times; i++) {
        if (nap)
            nanosleep(&(struct timespec){.tv_nsec = NAP_MS * 1000000L}, NULL);
        MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, comm);
    }
}

static __attribute__((noinline)) void alone(void) {
    sum(MPI_COMM_SELF, OWN, 0);
    __asm__ volatile("" ::: "memory");
}

static __attribute__((noinline)) void half(int rank) {
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comm);
    sum(comm, OWN, 0);
    MPI_Comm_free(&comm);
}

static __attribute__((noinline)) void together(int rank) {
    sum(MPI_COMM_WORLD, JOINT, rank == 1);
    __asm__ volatile("" ::: "memory");
}

static __attribute__((noinline)) void exchange(int rank, int size) {
    int out = rank, in = 0;
    for (int i = 0; i < JOINT; i++) {
        MPI_Request requests[2];
        MPI_Status statuses[2];
        MPI_Irecv(&in, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(&out, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, statuses);
    }
}

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    alone();
    half(rank);
    together(rank);
    exchange(rank, size);
    MPI_Finalize();
    return 0;
}
