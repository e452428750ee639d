/* Every blocking collective that `latecomer bench beside` knows, 64 bytes from each rank to each
 * partner; a nonblocking one, messages from rank 0 to rank 1 and one-sided operations, of 64 bytes
 * as well; the last rank comes 50 ms late to MPI_Allreduce. */
#include <mpi.h>
#include <unistd.h>

enum { N = 64, RANKS = 8, TIMES = 20 };

int main(int argc, char **argv) {
    static char a[N * RANKS], b[N * RANKS];
    char *memory;
    MPI_Request request;
    MPI_Win window;
    int counts[RANKS], places[RANKS], rank, size;
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < RANKS; i++) {
        counts[i] = N;
        places[i] = N * i;
    }
    MPI_Win_allocate(N, 1, MPI_INFO_NULL, comm, &memory, &window);
    MPI_Win_lock_all(0, window);
    for (int i = 0; i < TIMES; i++) {
        if (rank == size - 1)
            usleep(50000);
        MPI_Allreduce(a, b, N, MPI_BYTE, MPI_BOR, comm);
        MPI_Barrier(comm);
        MPI_Bcast(a, N, MPI_BYTE, 0, comm);
        MPI_Gather(a, N, MPI_BYTE, b, N, MPI_BYTE, 0, comm);
        MPI_Gatherv(a, N, MPI_BYTE, b, counts, places, MPI_BYTE, 0, comm);
        MPI_Scatter(a, N, MPI_BYTE, b, N, MPI_BYTE, 0, comm);
        MPI_Scatterv(a, counts, places, MPI_BYTE, b, N, MPI_BYTE, 0, comm);
        MPI_Reduce(a, b, N, MPI_BYTE, MPI_BOR, 0, comm);
        MPI_Allgather(a, N, MPI_BYTE, b, N, MPI_BYTE, comm);
        MPI_Allgatherv(a, N, MPI_BYTE, b, counts, places, MPI_BYTE, comm);
        MPI_Alltoall(a, N, MPI_BYTE, b, N, MPI_BYTE, comm);
        MPI_Alltoallv(a, counts, places, MPI_BYTE, b, counts, places, MPI_BYTE, comm);
        MPI_Reduce_scatter(a, b, counts, MPI_BYTE, MPI_BOR, comm);
        MPI_Reduce_scatter_block(a, b, N, MPI_BYTE, MPI_BOR, comm);
        MPI_Scan(a, b, N, MPI_BYTE, MPI_BOR, comm);
        MPI_Exscan(a, b, N, MPI_BYTE, MPI_BOR, comm);
        MPI_Iallreduce(a, b, N, MPI_BYTE, MPI_BOR, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (rank == 0)
            MPI_Send(a, N, MPI_BYTE, 1, 0, comm);
        if (rank == 1)
            MPI_Recv(b, N, MPI_BYTE, 0, 0, comm, MPI_STATUS_IGNORE);
        MPI_Put(a, N, MPI_BYTE, (rank + 1) % size, 0, N, MPI_BYTE, window);
        MPI_Win_flush_all(window);
    }
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
