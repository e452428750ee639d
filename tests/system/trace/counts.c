/* Two ranks; per round a known number of messages of each kind (check_runs.py: COUNTS). */
#include <mpi.h>

enum { ROUNDS = 10 };

static int peer, in[4], out[4];
static MPI_Request r[6];
static MPI_Status statuses[6];

static void persistent(void) {
    MPI_Send_init(out, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, &r[0]);
    MPI_Recv_init(in, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, &r[1]);
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Startall(2, r);
        MPI_Waitall(2, r, statuses);
    }
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
}

static void some(void) {
    int n, places[6];
    for (int i = 0; i < 3; i++) {
        MPI_Irecv(&in[i], 1, MPI_INT, peer, 2 + i, MPI_COMM_WORLD, &r[i]);
        MPI_Isend(&out[i], 1, MPI_INT, peer, 2 + i, MPI_COMM_WORLD, &r[3 + i]);
    }
    for (int done = 0; done < 6; done += n)
        MPI_Waitsome(6, r, &n, places, statuses);
}

static void any(void) {
    int place;
    for (int i = 0; i < 2; i++)
        MPI_Irecv(&in[i], 1, MPI_INT, peer, 5 + i, MPI_COMM_WORLD, &r[i]);
    for (int i = 0; i < 2; i++)
        MPI_Send(&out[i], 1, MPI_INT, peer, 5 + i, MPI_COMM_WORLD);
    for (int i = 0; i < 2; i++)
        MPI_Waitany(2, r, &place, MPI_STATUS_IGNORE);
}

static void cancelled_and_freed(void) {
    MPI_Irecv(in, 1, MPI_INT, peer, 99, MPI_COMM_WORLD, &r[0]);
    MPI_Cancel(&r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Isend(out, 1, MPI_INT, peer, 7, MPI_COMM_WORLD, &r[0]);
    MPI_Request_free(&r[0]);
    MPI_Recv(in, 1, MPI_INT, peer, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void nobody(void) {
    MPI_Send(out, 1, MPI_INT, MPI_PROC_NULL, 8, MPI_COMM_WORLD);
    MPI_Recv(in, 1, MPI_INT, MPI_PROC_NULL, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Isend(out, 1, MPI_INT, MPI_PROC_NULL, 8, MPI_COMM_WORLD, &r[0]);
    MPI_Irecv(in, 1, MPI_INT, MPI_PROC_NULL, 8, MPI_COMM_WORLD, &r[1]);
    MPI_Waitall(2, r, statuses);
    MPI_Sendrecv(out, 1, MPI_INT, MPI_PROC_NULL, 8, in, 1, MPI_INT, MPI_PROC_NULL, 8,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void both_ways(void) {
    MPI_Message message;
    MPI_Sendrecv(out, 1, MPI_INT, peer, 9, in, 1, MPI_INT, peer, 9, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Send(out, 1, MPI_INT, peer, 10, MPI_COMM_WORLD);
    MPI_Mprobe(peer, 10, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(in, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
}

static void tested(void) {
    int done = 0;
    MPI_Irecv(in, 1, MPI_INT, peer, 11, MPI_COMM_WORLD, &r[0]);
    MPI_Issend(out, 1, MPI_INT, peer, 11, MPI_COMM_WORLD, &r[1]);
    while (!done)
        MPI_Testall(2, r, &done, statuses);
}

static void collectives(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Bcast(out, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Iallreduce(out, in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    peer = 1 - rank;
    persistent();
    for (int i = 0; i < ROUNDS; i++) {
        some();
        any();
        cancelled_and_freed();
        nobody();
        both_ways();
        tested();
        collectives();
    }
    MPI_Finalize();
    return 0;
}
