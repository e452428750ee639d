/* Two ranks: calls that MPI refuses, messages longer than their buffers, requests that fail among
 * others. What comes after them has the bytes and the waits that it has without them. */
#include "program.h"

enum { LONG = 64, SHORT = 8 };

static char buffer[16][LONG];
static MPI_Status statuses[16];

/* What MPI leaves as it was is set to the same before. */
static void report(const char *what, int code) {
    int class = code;
    if (code != MPI_SUCCESS)
        OK(MPI_Error_class(code, &class));
    say("%s class %d", what, class);
}

/* Rank 0 sends n messages of one stream, the last after a nap. */
static void send_late(int n, int tag, int ms) {
    for (int i = 0; i < n; i++) {
        if (i == n - 1)
            nap_ms(ms);
        OK(MPI_Send(buffer[i], LONG, MPI_BYTE, 1, tag, MPI_COMM_WORLD));
    }
}

/* A truncated message keeps its place in the stream: the last receive waits 300 ms. */
static void truncated_recv(void) {
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0) {
        send_late(4, 1, 300);
        return;
    }
    report("truncated receive",
           MPI_Recv(buffer[0], SHORT, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int i = 1; i < 4; i++)
        OK(MPI_Recv(buffer[i], LONG, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

/* The same with requests: of four, the second is too short. */
static void truncated_requests(int some) {
    MPI_Request r[4];
    int done = 0, indices[4] = {0};
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0) {
        send_late(4, 2, 0);
        OK(MPI_Barrier(MPI_COMM_WORLD));
        nap_ms(150);
        OK(MPI_Send(buffer[0], LONG, MPI_BYTE, 1, 2, MPI_COMM_WORLD));
        return;
    }
    for (int i = 0; i < 4; i++)
        OK(MPI_Irecv(buffer[i], i == 1 ? SHORT : LONG, MPI_BYTE, 0, 2, MPI_COMM_WORLD, &r[i]));
    nap_ms(20);
    if (!some) {
        report("waitall", MPI_Waitall(4, r, statuses));
        OK(MPI_Waitall(4, r, statuses)); /* MPICH has stopped at the one that failed */
    } else {
        int failed = 0;
        while (done < 4) {
            int n = 0, code = MPI_Waitsome(4, r, &n, indices, statuses);
            failed += code != MPI_SUCCESS;
            done += n;
        }
        say("waitsome failed %d times", failed);
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Recv(buffer[0], LONG, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

/* A persistent receive that failed can be started again (Open MPI has freed it). */
static void persistent(void) {
    MPI_Request r[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int index = 0;
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0) {
        OK(MPI_Send(buffer[0], LONG, MPI_BYTE, 1, 3, MPI_COMM_WORLD));
        OK(MPI_Barrier(MPI_COMM_WORLD));
        nap_ms(200);
        OK(MPI_Send(buffer[0], SHORT, MPI_BYTE, 1, 3, MPI_COMM_WORLD));
        return;
    }
    OK(MPI_Recv_init(buffer[0], SHORT, MPI_BYTE, 0, 3, MPI_COMM_WORLD, &r[1]));
    OK(MPI_Start(&r[1]));
    report("waitany", MPI_Waitany(2, r, &index, MPI_STATUS_IGNORE));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (r[1] == MPI_REQUEST_NULL)
        OK(MPI_Recv_init(buffer[0], SHORT, MPI_BYTE, 0, 3, MPI_COMM_WORLD, &r[1]));
    OK(MPI_Start(&r[1]));
    OK(MPI_Wait(&r[1], MPI_STATUS_IGNORE));
    OK(MPI_Request_free(&r[1]));
}

/* Both are complete when the first one fails: the next call gives the status of the other. */
static void persistent_pair(int all) {
    MPI_Request r[2];
    MPI_Status *second = &statuses[1];
    int index = 0, bytes = 0;
    if (rank == 0) {
        OK(MPI_Send(buffer[0], LONG, MPI_BYTE, 1, 4, MPI_COMM_WORLD));
        OK(MPI_Send(buffer[0], SHORT, MPI_BYTE, 1, 5, MPI_COMM_WORLD));
        OK(MPI_Barrier(MPI_COMM_WORLD));
        return;
    }
    OK(MPI_Recv_init(buffer[0], SHORT, MPI_BYTE, 0, 4, MPI_COMM_WORLD, &r[0]));
    OK(MPI_Recv_init(buffer[1], LONG, MPI_BYTE, 0, 5, MPI_COMM_WORLD, &r[1]));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Startall(2, r));
    if (all) {
        report("waitall", MPI_Waitall(2, r, statuses));
        report("the other", statuses[1].MPI_ERROR);
        OK(MPI_Waitall(2, r, statuses));
    } else {
        report("waitany", MPI_Waitany(2, r, &index, MPI_STATUS_IGNORE));
        OK(MPI_Wait(&r[1], second));
    }
    OK(MPI_Get_count(second, MPI_BYTE, &bytes));
    say("the other: %d bytes with tag %d", bytes, second->MPI_TAG);
    for (int i = 0; i < 2; i++)
        if (r[i] != MPI_REQUEST_NULL)
            OK(MPI_Request_free(&r[i]));
}

/* Refused on one rank, then right: rank 0 waits 200 ms in the last one. */
static void collectives(void) {
    int sum = 0, one = 1;
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 1) {
        report("allreduce", MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD));
        report("bcast", MPI_Bcast(&one, 1, MPI_INT, 7, MPI_COMM_WORLD));
    }
    OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    if (rank == 1)
        nap_ms(200);
    OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK(sum == 2);
}

static void refused(void) {
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Comm world = MPI_COMM_WORLD;
    report("nobody", MPI_Send(buffer, LONG, MPI_BYTE, size, 1, MPI_COMM_WORLD));
    report("count", MPI_Send(buffer, -1, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD));
    report("tag", MPI_Send(buffer, LONG, MPI_BYTE, 1 - rank, -7, MPI_COMM_WORLD));
    report("start", MPI_Isend(buffer, -1, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD, &r));
    report("receive", MPI_Irecv(buffer, -1, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD, &r));
    report("exchange", MPI_Sendrecv(buffer[0], -1, MPI_BYTE, 1 - rank, 1, buffer[1], LONG, MPI_BYTE,
                                    1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    report("free", MPI_Comm_free(&world));
}

int main(int argc, char **argv) {
    start_program(&argc, &argv);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    refused();
    truncated_recv();
    truncated_requests(0);
    truncated_requests(1);
    persistent();
    persistent_pair(0);
    persistent_pair(1);
    collectives();
    refused();
    say("refused %d", size);
    return end_program();
}
