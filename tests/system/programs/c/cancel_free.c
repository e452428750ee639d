/* Cancelled receives, Request_free of active requests, generalized requests, unbounded eager sends
 * before any receive. */
#include "program.h"

static void cancel(int to, int from) {
    int in[3] = {-1, -1, -1}, out = rank + 1, flag;
    MPI_Request r[3];
    MPI_Status s;
    for (int round = 0; round < 5; round++) {
        OK(MPI_Irecv(&in[0], 1, MPI_INT, from, 40, MPI_COMM_WORLD,
                     &r[0])); /* nobody sends tag 40 */
        OK(MPI_Irecv(&in[1], 1, MPI_INT, round % 2 ? MPI_ANY_SOURCE : from, 41, MPI_COMM_WORLD,
                     &r[1]));
        OK(MPI_Irecv(&in[2], 1, MPI_INT, from, 42, MPI_COMM_WORLD, &r[2]));
        OK(MPI_Cancel(&r[0]));
        OK(MPI_Wait(&r[0], &s));
        OK(MPI_Test_cancelled(&s, &flag));
        CHECK(flag && in[0] == -1);
        OK(MPI_Send(&out, 1, MPI_INT, to, 42, MPI_COMM_WORLD));
        OK(MPI_Wait(&r[2], &s));
        OK(MPI_Test_cancelled(&s, &flag));
        CHECK(!flag);
        OK(MPI_Cancel(&r[1]));
        OK(MPI_Waitall(1, &r[1], &s));
        OK(MPI_Test_cancelled(&s, &flag));
        CHECK(flag && in[1] == -1);
    }
    /* A persistent receive, started, cancelled, started again. */
    OK(MPI_Recv_init(&in[0], 1, MPI_INT, from, 43, MPI_COMM_WORLD, &r[0]));
    OK(MPI_Start(&r[0]));
    OK(MPI_Cancel(&r[0]));
    OK(MPI_Wait(&r[0], &s));
    OK(MPI_Test_cancelled(&s, &flag));
    CHECK(flag);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Start(&r[0]));
    OK(MPI_Send(&out, 1, MPI_INT, to, 43, MPI_COMM_WORLD));
    OK(MPI_Wait(&r[0], &s));
    OK(MPI_Request_free(&r[0]));
    say("cancel %d %d", in[0], in[2]);
}

static void free_active(int to, int from) {
    static int in = -1, out, ack = 0;
    MPI_Request r;
    for (int i = 0; i < 4; i++) {
        out = rank * 10 + i;
        OK(MPI_Isend(&out, 1, MPI_INT, to, 50, MPI_COMM_WORLD, &r));
        OK(MPI_Request_free(&r));
        CHECK(r == MPI_REQUEST_NULL);
        OK(MPI_Recv(&in, 1, MPI_INT, from, 50, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        OK(MPI_Sendrecv(NULL, 0, MPI_INT, from, 51, &ack, 1, MPI_INT, to, 51, MPI_COMM_WORLD,
                        MPI_STATUS_IGNORE));
    }
    say("freed send %d", in);
}

/* A freed receive completes silently; a later message of the same stream tells that it did. */
static void free_receive(int to, int from) {
    static int first, second;
    int out = rank + 5;
    MPI_Request r;
    first = second = -1;
    OK(MPI_Irecv(&first, 1, MPI_INT, from, 52, MPI_COMM_WORLD, &r));
    OK(MPI_Request_free(&r));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Send(&out, 1, MPI_INT, to, 52, MPI_COMM_WORLD));
    out += 10;
    OK(MPI_Send(&out, 1, MPI_INT, to, 52, MPI_COMM_WORLD));
    OK(MPI_Recv(&second, 1, MPI_INT, from, 52, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    say("freed receive %d %d", first, second);
}

static int freed_states, cancelled_states;

static int query(void *state, MPI_Status *status) {
    MPI_Status_set_elements(status, MPI_INT, *(int *)state);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = 1;
    status->MPI_TAG = 2;
    return MPI_SUCCESS;
}

static int free_state(void *state) {
    (void)state;
    freed_states++;
    return MPI_SUCCESS;
}

static int cancel_state(void *state, int complete) {
    (void)state;
    cancelled_states += 1 + complete;
    return MPI_SUCCESS;
}

static void generalized(int to, int from) {
    int value = 3, count = 0, in = -1, out = rank, flag;
    MPI_Request r[2];
    MPI_Status s[2];
    OK(MPI_Grequest_start(query, free_state, cancel_state, &value, &r[0]));
    OK(MPI_Test(&r[0], &flag, &s[0]));
    CHECK(!flag);
    OK(MPI_Cancel(&r[0]));
    OK(MPI_Irecv(&in, 1, MPI_INT, from, 60, MPI_COMM_WORLD, &r[1]));
    OK(MPI_Send(&out, 1, MPI_INT, to, 60, MPI_COMM_WORLD));
    OK(MPI_Grequest_complete(r[0]));
    OK(MPI_Waitall(2, r, s));
    OK(MPI_Get_count(&s[0], MPI_INT, &count));
    CHECK(count == 3 && s[0].MPI_TAG == 2);
    say("grequest %d freed %d cancelled %d", in, freed_states, cancelled_states);
}

static void far_ahead(int to, int from) {
    enum { N = 3000 };
    long sum = 0;
    int value = -1;
    for (int i = 0; i < N; i++)
        OK(MPI_Send(&i, 1, MPI_INT, to, i % 2, MPI_COMM_WORLD));
    for (int tag = 1; tag >= 0; tag--)
        for (int i = 0; i < N / 2; i++) {
            OK(MPI_Recv(&value, 1, MPI_INT, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK(value == 2 * i + tag);
            sum += value;
        }
    say("eager %ld", sum);
}

int main(int argc, char **argv) {
    start_program(&argc, &argv);
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    cancel(to, from);
    free_active(to, from);
    free_receive(to, from);
    generalized(to, from);
    far_ahead(to, from);
    return end_program();
}
