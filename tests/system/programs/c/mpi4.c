/* MPI-4.0: partitioned messages, persistent collectives, Isendrecv, sessions, large counts. MPICH,
 * and Open MPI from 5.0 on, which has no large counts. */
#include "program.h"

#if defined(OPEN_MPI)
#define MPI_Send_c            MPI_Send
#define MPI_Recv_c            MPI_Recv
#define MPI_Type_contiguous_c MPI_Type_contiguous
#define MPI_Type_size_c       MPI_Type_size_x
#define MPI_Get_count_c       MPI_Get_elements_x
#define MPI_Allreduce_c       MPI_Allreduce
#define MPI_Bcast_c           MPI_Bcast
#endif

static void partitioned(int to, int from) {
    enum { PARTS = 4, EACH = 3 };
    int out[PARTS * EACH], in[PARTS * EACH], flag;
    long sum = 0;
    MPI_Request r[2];
    OK(MPI_Psend_init(out, PARTS, EACH, MPI_INT, to, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]));
    OK(MPI_Precv_init(in, PARTS, EACH, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]));
    for (int round = 0; round < 4; round++) {
        memset(in, 0, sizeof in);
        OK(MPI_Startall(2, r));
        for (int p = 0; p < PARTS; p++) {
            for (int i = 0; i < EACH; i++)
                out[p * EACH + i] = rank + p * i + round;
            if (p == 0)
                OK(MPI_Pready(p, r[0]));
        }
        if (round % 2) {
            OK(MPI_Pready_range(1, PARTS - 1, r[0]));
        } else {
            OK(MPI_Pready_list(PARTS - 1, (int[]){1, 2, 3}, r[0]));
        }
        for (flag = 0; !flag; nap_ms(flag ? 0 : 1))
            OK(MPI_Parrived(r[1], 2, &flag));
        OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
        for (int i = 0; i < PARTS * EACH; i++)
            sum = sum * 3 % 1000003 + in[i];
    }
    OK(MPI_Request_free(&r[0]));
    OK(MPI_Request_free(&r[1]));
    say("partitioned %ld", sum);
}

static void persistent_collectives(void) {
    int a[64], b[17][64], counts[8], displs[8], bytes[8], from_each[8], n = 0, neighbours = 1;
    MPI_Datatype types[8];
    MPI_Aint where[8] = {0};
    MPI_Request r[24];
    MPI_Comm ring;
    long sum = 0;
    memset(b, 0, sizeof b);
    for (int i = 0; i < size; i++) {
        counts[i] = 1;
        from_each[i] = 1;
        displs[i] = i;
        bytes[i] = i * (int)sizeof(int);
        types[i] = MPI_INT;
    }
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, (int[]){(rank + size - 1) % size},
                                      MPI_UNWEIGHTED, 1, (int[]){(rank + 1) % size}, MPI_UNWEIGHTED,
                                      MPI_INFO_NULL, 0, &ring));
    MPI_Comm c = MPI_COMM_WORLD;
    MPI_Info none = MPI_INFO_NULL;
    OK(MPI_Barrier_init(c, none, &r[n++]));
    OK(MPI_Bcast_init(b[0], 4, MPI_INT, 0, c, none, &r[n++]));
    OK(MPI_Gatherv_init(a, 1, MPI_INT, b[2], counts, displs, MPI_INT, 0, c, none, &r[n++]));
    /* Not MPI_Gather_init and MPI_Scatter_init: MPICH 4.0.2 uses freed buffers in them, in the bare
     * run too. */
    OK(MPI_Scatterv_init(a, counts, displs, MPI_INT, b[4], 1, MPI_INT, 0, c, none, &r[n++]));
    OK(MPI_Allgather_init(a, 1, MPI_INT, b[5], 1, MPI_INT, c, none, &r[n++]));
    OK(MPI_Allgatherv_init(a, 1, MPI_INT, b[6], counts, displs, MPI_INT, c, none, &r[n++]));
    OK(MPI_Alltoall_init(a, 1, MPI_INT, b[7], 1, MPI_INT, c, none, &r[n++]));
    OK(MPI_Alltoallv_init(a, counts, displs, MPI_INT, b[8], from_each, displs, MPI_INT, c, none,
                          &r[n++]));
    OK(MPI_Alltoallw_init(a, counts, bytes, types, b[9], from_each, bytes, types, c, none,
                          &r[n++]));
    OK(MPI_Reduce_init(a, b[10], 4, MPI_INT, MPI_SUM, 0, c, none, &r[n++]));
    OK(MPI_Allreduce_init(a, b[11], 4, MPI_INT, MPI_SUM, c, none, &r[n++]));
    OK(MPI_Reduce_scatter_init(a, b[12], counts, MPI_INT, MPI_SUM, c, none, &r[n++]));
    OK(MPI_Reduce_scatter_block_init(a, b[13], 1, MPI_INT, MPI_SUM, c, none, &r[n++]));
    OK(MPI_Scan_init(a, b[14], 4, MPI_INT, MPI_SUM, c, none, &r[n++]));
    OK(MPI_Exscan_init(a, b[15], 4, MPI_INT, MPI_SUM, c, none, &r[n++]));
    OK(MPI_Neighbor_allgather_init(a, 1, MPI_INT, b[16], 1, MPI_INT, ring, none, &r[n++]));
    OK(MPI_Neighbor_alltoallw_init(a, &neighbours, where, types, b[16] + 8, &neighbours, where,
                                   types, ring, none, &r[n++]));
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 64; i++)
            a[i] = rank + i * round;
        if (rank == 0)
            b[0][0] = 77 + round;
        if (round == 1)
            OK(MPI_Startall(n, r));
        else
            for (int i = 0; i < n; i++)
                OK(MPI_Start(&r[i]));
        OK(MPI_Waitall(n, r, MPI_STATUSES_IGNORE));
        for (int i = 0; i < 17; i++)
            for (int k = 0; k < 16; k++)
                sum = sum * 3 % 1000003 + (i == 15 && rank == 0 ? 0 : b[i][k]);
    }
    for (int i = 0; i < n; i++)
        OK(MPI_Request_free(&r[i]));
    OK(MPI_Comm_free(&ring));
    say("persistent collectives %ld", sum);
}

static void new_calls(int to, int from) {
    int in = -1, out = rank, count = 0;
    MPI_Count large = 0;
    MPI_Request r;
    MPI_Status s;
    MPI_Datatype type;
    OK(MPI_Isendrecv(&out, 1, MPI_INT, to, 4, &in, 1, MPI_INT, from, 4, MPI_COMM_WORLD, &r));
    OK(MPI_Wait(&r, &s));
    CHECK(in == from);
    out = in;
    OK(MPI_Isendrecv_replace(&out, 1, MPI_INT, to, 4, from, 4, MPI_COMM_WORLD, &r));
    OK(MPI_Wait(&r, &s));
    if (rank % 2 == 0)
        OK(MPI_Send_c(&out, 1, MPI_INT, to, 5, MPI_COMM_WORLD));
    OK(MPI_Recv_c(&in, 1, MPI_INT, from, 5, MPI_COMM_WORLD, &s));
    if (rank % 2 != 0)
        OK(MPI_Send_c(&out, 1, MPI_INT, to, 5, MPI_COMM_WORLD));
    OK(MPI_Get_count_c(&s, MPI_INT, &large));
    CHECK(large == 1);
    OK(MPI_Type_contiguous_c(2, MPI_INT, &type));
    OK(MPI_Type_commit(&type));
    OK(MPI_Type_size_c(type, &large));
    OK(MPI_Type_free(&type));
    OK(MPI_Allreduce_c(&rank, &count, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    OK(MPI_Bcast_c(&count, 1, MPI_INT, 0, MPI_COMM_WORLD));
    say("large %ld in %d out %d sum %d", (long)large, in, out, count);
}

static void sessions(void) {
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Info info;
    char name[MPI_MAX_OBJECT_NAME];
    int n, length = sizeof name, sum = 0, one = 1;
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    OK(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &n));
    OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, name));
    OK(MPI_Session_get_info(session, &info));
    OK(MPI_Info_free(&info));
    OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    OK(MPI_Comm_create_from_group(group, "latecomer.test", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                  &comm));
    OK(MPI_Group_free(&group));
    OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Session_finalize(&session));
    say("session psets %d %s sum %d", n, name, sum);
}

int main(int argc, char **argv) {
    start_program(&argc, &argv);
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    partitioned(to, from);
    persistent_collectives();
    new_calls(to, from);
    sessions();
    return end_program();
}
