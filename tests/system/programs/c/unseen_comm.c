/* Communicators that the tool has not seen made: the MPI library's own constructors are called by
 * their addresses. Everything that can be done with them. */
#include "past_the_tool.h"
#include "program.h"

static MPI_Comm unseen_dup(MPI_Comm from) {
    MPI_Comm made = MPI_COMM_NULL;
    int (*dup)(MPI_Comm, MPI_Comm *) = NULL;
    void *address = past_the_tool(getenv("MPI_LIBRARY"), "PMPI_Comm_dup");
    memcpy(&dup, &address, sizeof dup);
    CHECK(dup != NULL && dup(from, &made) == MPI_SUCCESS);
    return made;
}

static void messages(MPI_Comm comm) {
    static char large[1 << 20], got[1 << 20];
    int right = (rank + 1) % size, left = (rank + size - 1) % size, flag = 0, n = 0;
    MPI_Request r[2];
    MPI_Message message;
    MPI_Status s;
    for (int i = 0; i < 20; i++)
        OK(MPI_Sendrecv(large, 8, MPI_BYTE, right, 1, got, 8, MPI_BYTE, left, 1, comm, &s));
    OK(MPI_Irecv(got, sizeof got, MPI_BYTE, left, 2, comm, &r[0]));
    nap_ms(rank == 0 ? 20 : 0);
    OK(MPI_Ssend(large, sizeof large, MPI_BYTE, right, 2, comm)); /* slow: the sender looks back */
    OK(MPI_Wait(&r[0], &s));
    OK(MPI_Irecv(got, sizeof got, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &r[0]));
    OK(MPI_Issend(large, sizeof large, MPI_BYTE, right, 3, comm, &r[1]));
    nap_ms(rank == 0 ? 20 : 0);
    OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    OK(MPI_Recv_init(got, 8, MPI_BYTE, left, 4, comm, &r[0]));
    OK(MPI_Send_init(large, 8, MPI_BYTE, right, 4, comm, &r[1]));
    for (int i = 0; i < 3; i++) {
        OK(MPI_Startall(2, r));
        OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    }
    OK(MPI_Request_free(&r[0]));
    OK(MPI_Request_free(&r[1]));
    OK(MPI_Isend(large, 8, MPI_BYTE, right, 5, comm, &r[0]));
    OK(MPI_Mprobe(left, 5, comm, &message, &s));
    OK(MPI_Mrecv(got, 8, MPI_BYTE, &message, &s));
    OK(MPI_Get_count(&s, MPI_BYTE, &n));
    OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
    OK(MPI_Iprobe(left, 6, comm, &flag, &s));
    OK(MPI_Barrier(comm));
    OK(MPI_Irecv(got, 8, MPI_BYTE, left, 7, comm, &r[0]));
    OK(MPI_Cancel(&r[0]));
    OK(MPI_Wait(&r[0], &s));
    CHECK(n == 8 && !flag);
}

static void collectives(MPI_Comm comm) {
    int sum = 0, all[64], counts[64], places[64];
    MPI_Request r;
    for (int i = 0; i < size; i++) {
        counts[i] = 1;
        places[i] = i;
    }
    for (int i = 0; i < 10; i++)
        OK(MPI_Barrier(comm));
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
    OK(MPI_Bcast(&sum, 1, MPI_INT, size - 1, comm));
    OK(MPI_Alltoallv(all, counts, places, MPI_INT, all + 32, counts, places, MPI_INT, comm));
    OK(MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm, &r));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    OK(MPI_Ibarrier(comm, &r));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    OK(MPI_Scan(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
}

static void made_of(MPI_Comm comm) {
    MPI_Comm seen, half, inter, later;
    MPI_Request r;
    MPI_Win win;
    MPI_File file;
    char path[4096] = "";
    int *memory, sum = 0;
    OK(MPI_Comm_dup(comm, &seen));
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, seen));
    OK(MPI_Comm_idup(comm, &later, &r));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    OK(MPI_Barrier(later));
    OK(MPI_Comm_split(comm, rank == 0, 0, &half));
    OK(MPI_Intercomm_create(half, 0, comm, rank == 0 ? 1 : 0, 9, &inter));
    OK(MPI_Barrier(inter));
    OK(MPI_Win_allocate(64, 1, MPI_INFO_NULL, comm, &memory, &win));
    OK(MPI_Win_fence(0, win));
    OK(MPI_Win_fence(0, win));
    OK(MPI_Win_free(&win));
    if (rank == 0)
        snprintf(path, sizeof path, "%s/unseen.%d", getenv("TMPDIR"), (int)getpid());
    OK(MPI_Bcast(path, sizeof path, MPI_CHAR, 0, comm));
    OK(MPI_File_open(comm, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                     MPI_INFO_NULL, &file));
    OK(MPI_File_write_at_all(file, 4 * rank, &rank, 1, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    OK(MPI_Comm_free(&inter));
    OK(MPI_Comm_free(&half));
    OK(MPI_Comm_free(&later));
    OK(MPI_Comm_free(&seen));
}

int main(int argc, char **argv) {
    start_program(&argc, &argv);
    for (int i = 0; i < 3; i++) { /* handles are used again */
        MPI_Comm comm = unseen_dup(MPI_COMM_WORLD);
        messages(comm);
        collectives(comm);
        made_of(comm);
        OK(MPI_Comm_free(&comm));
    }
    say("unseen");
    return end_program();
}
