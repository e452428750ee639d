/* MPI-4.0: the functions with large counts (`_c`) of messages, collectives, one-sided
 * communication, data types and packing. MPICH only. */
#include "program.h"

static MPI_Comm world;
static int to, from;
static long sum;

static void mix(const int *v, int n) {
    for (int i = 0; i < n; i++)
        sum = (sum * 31 + v[i] + 7) % 1000003;
}

static void messages(void) {
    int a[8], b[8] = {0};
    char room[4096], *back;
    MPI_Count room_bytes;
    MPI_Request r[8];
    MPI_Status s;
    MPI_Message message;
    for (int i = 0; i < 8; i++)
        a[i] = rank * 10 + i;
    OK(MPI_Sendrecv_c(a, 2, MPI_INT, to, 1, b, 8, MPI_INT, from, 1, world, &s));
    mix(b, 2);
    OK(MPI_Sendrecv_replace_c(b, 2, MPI_INT, to, 2, from, 2, world, MPI_STATUS_IGNORE));
    mix(b, 2);
    OK(MPI_Buffer_attach_c(room, sizeof room));
    OK(MPI_Bsend_c(a, 1, MPI_INT, to, 3, world));
    OK(MPI_Recv_c(b, 1, MPI_INT, from, 3, world, &s));
    OK(MPI_Ibsend_c(a, 1, MPI_INT, to, 4, world, &r[0]));
    OK(MPI_Irecv_c(b, 1, MPI_INT, from, 4, world, &r[1]));
    OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    OK(MPI_Buffer_detach_c(&back, &room_bytes));
    CHECK(room_bytes == sizeof room);
    OK(MPI_Irecv_c(b, 1, MPI_INT, from, 5, world, &r[0]));
    OK(MPI_Irecv_c(b + 1, 1, MPI_INT, from, 6, world, &r[1]));
    OK(MPI_Irecv_c(b + 2, 1, MPI_INT, from, 7, world, &r[2]));
    OK(MPI_Irecv_c(b + 3, 1, MPI_INT, from, 8, world, &r[3]));
    OK(MPI_Irecv_c(b + 4, 1, MPI_INT, from, 9, world, &r[4]));
    OK(MPI_Barrier(world));
    OK(MPI_Isend_c(a, 1, MPI_INT, to, 5, world, &r[5]));
    OK(MPI_Issend_c(a + 1, 1, MPI_INT, to, 6, world, &r[6]));
    OK(MPI_Irsend_c(a + 2, 1, MPI_INT, to, 7, world, &r[7]));
    OK(MPI_Rsend_c(a + 3, 1, MPI_INT, to, 8, world));
    OK(MPI_Ssend_c(a + 4, 1, MPI_INT, to, 9, world));
    OK(MPI_Waitall(8, r, MPI_STATUSES_IGNORE));
    mix(b, 5);
    OK(MPI_Isend_c(a, 3, MPI_INT, to, 10, world, &r[0]));
    OK(MPI_Mprobe(from, 10, world, &message, &s));
    OK(MPI_Mrecv_c(b, 3, MPI_INT, &message, &s));
    OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
    OK(MPI_Isend_c(a, 3, MPI_INT, to, 11, world, &r[0]));
    OK(MPI_Mprobe(from, 11, world, &message, &s));
    OK(MPI_Imrecv_c(b, 3, MPI_INT, &message, &r[1]));
    OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    mix(b, 3);
    OK(MPI_Isendrecv_c(a, 1, MPI_INT, to, 12, b, 1, MPI_INT, from, 12, world, &r[0]));
    OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
    OK(MPI_Isendrecv_replace_c(b, 1, MPI_INT, to, 13, from, 13, world, &r[0]));
    OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
    mix(b, 1);
    OK(MPI_Recv_init_c(b, 1, MPI_INT, from, 14, world, &r[0]));
    OK(MPI_Send_init_c(a, 1, MPI_INT, to, 14, world, &r[1]));
    OK(MPI_Recv_init_c(b + 1, 1, MPI_INT, from, 15, world, &r[2]));
    OK(MPI_Ssend_init_c(a + 1, 1, MPI_INT, to, 15, world, &r[3]));
    for (int round = 0; round < 2; round++) {
        OK(MPI_Startall(4, r));
        OK(MPI_Waitall(4, r, MPI_STATUSES_IGNORE));
    }
    for (int i = 0; i < 4; i++)
        OK(MPI_Request_free(&r[i]));
    mix(b, 2);
}

static void collectives(void) {
    int a[64], b[64] = {0};
    MPI_Count counts[8];
    MPI_Aint displs[8];
    MPI_Request r[12];
    int n = 0;
    for (int i = 0; i < 64; i++)
        a[i] = rank + i;
    for (int i = 0; i < size; i++) {
        counts[i] = 1;
        displs[i] = i;
    }
    OK(MPI_Allgather_c(a, 1, MPI_INT, b, 1, MPI_INT, world));
    mix(b, size);
    OK(MPI_Allgatherv_c(a, 1, MPI_INT, b, counts, displs, MPI_INT, world));
    OK(MPI_Alltoall_c(a, 1, MPI_INT, b, 1, MPI_INT, world));
    mix(b, size);
    OK(MPI_Alltoallv_c(a, counts, displs, MPI_INT, b, counts, displs, MPI_INT, world));
    OK(MPI_Gather_c(a, 1, MPI_INT, b, 1, MPI_INT, 0, world));
    OK(MPI_Gatherv_c(a, 1, MPI_INT, b, counts, displs, MPI_INT, 0, world));
    OK(MPI_Scatter_c(a, 1, MPI_INT, b, 1, MPI_INT, 0, world));
    OK(MPI_Scatterv_c(a, counts, displs, MPI_INT, b, 1, MPI_INT, 0, world));
    mix(b, 1);
    OK(MPI_Reduce_c(a, b, 2, MPI_INT, MPI_SUM, 0, world));
    OK(MPI_Reduce_scatter_c(a, b, counts, MPI_INT, MPI_SUM, world));
    OK(MPI_Reduce_scatter_block_c(a, b, 1, MPI_INT, MPI_SUM, world));
    mix(b, 1);
    OK(MPI_Scan_c(a, b, 2, MPI_INT, MPI_SUM, world));
    OK(MPI_Exscan_c(a, b + 2, 2, MPI_INT, MPI_SUM, world));
    mix(b, rank == 0 ? 2 : 4);
    OK(MPI_Reduce_local_c(a, b, 2, MPI_INT, MPI_SUM));
    OK(MPI_Iallreduce_c(a, b, 1, MPI_INT, MPI_SUM, world, &r[n++]));
    OK(MPI_Ibcast_c(b + 1, 1, MPI_INT, 0, world, &r[n++]));
    OK(MPI_Iallgather_c(a, 1, MPI_INT, b + 8, 1, MPI_INT, world, &r[n++]));
    OK(MPI_Ialltoall_c(a, 1, MPI_INT, b + 16, 1, MPI_INT, world, &r[n++]));
    OK(MPI_Igather_c(a, 1, MPI_INT, b + 24, 1, MPI_INT, 0, world, &r[n++]));
    OK(MPI_Iscatter_c(a, 1, MPI_INT, b + 32, 1, MPI_INT, 0, world, &r[n++]));
    OK(MPI_Ireduce_c(a, b + 40, 1, MPI_INT, MPI_SUM, 0, world, &r[n++]));
    OK(MPI_Ireduce_scatter_block_c(a, b + 41, 1, MPI_INT, MPI_SUM, world, &r[n++]));
    OK(MPI_Iscan_c(a, b + 42, 1, MPI_INT, MPI_SUM, world, &r[n++]));
    OK(MPI_Waitall(n, r, MPI_STATUSES_IGNORE));
    mix(b, 1);
    mix(b + 8, size);
    mix(b + 16, size);
    mix(b + 32, 1);
    mix(b + 41, 2);
}

static void neighbours(void) {
    int a[8], b[8] = {0};
    MPI_Comm ring;
    MPI_Request r;
    OK(MPI_Cart_create(world, 1, &size, (int[]){1}, 0, &ring));
    for (int i = 0; i < 8; i++)
        a[i] = rank * 3 + i;
    OK(MPI_Neighbor_allgather_c(a, 1, MPI_INT, b, 1, MPI_INT, ring));
    mix(b, 2);
    OK(MPI_Neighbor_alltoall_c(a, 1, MPI_INT, b, 1, MPI_INT, ring));
    mix(b, 2);
    OK(MPI_Ineighbor_alltoall_c(a, 1, MPI_INT, b, 1, MPI_INT, ring, &r));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    mix(b, 2);
    OK(MPI_Comm_free(&ring));
}

static void one_sided(void) {
    int *memory, one = 1, got = -1, out = rank + 5;
    MPI_Win win;
    MPI_Request r;
    OK(MPI_Win_allocate_c(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, world, &memory, &win));
    memset(memory, 0, 4 * sizeof(int));
    OK(MPI_Win_fence(0, win));
    OK(MPI_Put_c(&out, 1, MPI_INT, to, 0, 1, MPI_INT, win));
    OK(MPI_Accumulate_c(&one, 1, MPI_INT, to, 1, 1, MPI_INT, MPI_SUM, win));
    OK(MPI_Win_fence(0, win));
    OK(MPI_Get_c(&got, 1, MPI_INT, to, 0, 1, MPI_INT, win));
    OK(MPI_Win_fence(0, win));
    mix(&got, 1);
    OK(MPI_Win_lock_all(0, win));
    OK(MPI_Rput_c(&out, 1, MPI_INT, to, 2, 1, MPI_INT, win, &r));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    OK(MPI_Win_flush(to, win));
    OK(MPI_Rget_c(&got, 1, MPI_INT, to, 2, 1, MPI_INT, win, &r));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    OK(MPI_Win_unlock_all(win));
    mix(&got, 1);
    OK(MPI_Win_free(&win));
}

static void types(void) {
    int a[16], b[16] = {0};
    char packed[64];
    MPI_Count place = 0, bytes, lb, extent;
    MPI_Datatype t, u;
    for (int i = 0; i < 16; i++)
        a[i] = rank + i;
    OK(MPI_Type_vector_c(2, 2, 4, MPI_INT, &t));
    OK(MPI_Type_create_resized_c(t, 0, 8 * sizeof(int), &u));
    OK(MPI_Type_commit(&u));
    OK(MPI_Type_get_extent_c(u, &lb, &extent));
    CHECK(lb == 0 && extent == 8 * sizeof(int));
    OK(MPI_Sendrecv_c(a, 1, u, to, 20, b, 1, u, from, 20, world, MPI_STATUS_IGNORE));
    mix(b, 16);
    OK(MPI_Pack_size_c(4, MPI_INT, world, &bytes));
    CHECK(bytes <= (MPI_Count)sizeof packed);
    OK(MPI_Pack_c(a, 4, MPI_INT, packed, sizeof packed, &place, world));
    place = 0;
    OK(MPI_Unpack_c(packed, sizeof packed, &place, b, 4, MPI_INT, world));
    mix(b, 4);
    OK(MPI_Type_free(&t));
    OK(MPI_Type_free(&u));
}

int main(int argc, char **argv) {
    start_program(&argc, &argv);
    world = MPI_COMM_WORLD;
    to = (rank + 1) % size;
    from = (rank + size - 1) % size;
    messages();
    collectives();
    neighbours();
    one_sided();
    types();
    say("large counts %ld", sum);
    return end_program();
}
