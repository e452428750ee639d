/* Nonblocking point-to-point: every form of Wait and Test, with null and inactive requests,
 * MPI_UNDEFINED, STATUSES_IGNORE. */
#include "program.h"

enum { N = 8 };

static void wait_forms(int to, int from) {
    int in[N], out[N], index, count, indices[N];
    MPI_Request r[2 * N];
    MPI_Status s[2 * N];
    for (int i = 0; i < N; i++) {
        out[i] = rank * 100 + i;
        in[i] = -1;
        OK(MPI_Irecv(&in[i], 1, MPI_INT, from, i, MPI_COMM_WORLD, &r[i]));
    }
    OK(MPI_Barrier(MPI_COMM_WORLD)); /* receives are posted: ready sends are allowed */
    for (int i = 0; i < N; i++)
        switch (i % 3) {
        case 0:
            OK(MPI_Isend(&out[i], 1, MPI_INT, to, i, MPI_COMM_WORLD, &r[N + i]));
            break;
        case 1:
            OK(MPI_Issend(&out[i], 1, MPI_INT, to, i, MPI_COMM_WORLD, &r[N + i]));
            break;
        default:
            OK(MPI_Irsend(&out[i], 1, MPI_INT, to, i, MPI_COMM_WORLD, &r[N + i]));
            break;
        }
    OK(MPI_Wait(&r[0], &s[0]));
    CHECK(r[0] == MPI_REQUEST_NULL && s[0].MPI_TAG == 0);
    OK(MPI_Wait(&r[0], &s[0])); /* null request: empty status */
    CHECK(s[0].MPI_SOURCE == MPI_ANY_SOURCE && s[0].MPI_TAG == MPI_ANY_TAG);
    OK(MPI_Waitany(N, r, &index, &s[0]));
    CHECK(index > 0 && index < N && s[0].MPI_TAG == index);
    OK(MPI_Waitsome(N, r, &count, indices, s));
    CHECK(count > 0);
    for (int i = 0; i < count; i++)
        CHECK(s[i].MPI_TAG == indices[i]);
    OK(MPI_Waitall(2 * N, r, s));
    OK(MPI_Waitall(2 * N, r, MPI_STATUSES_IGNORE)); /* all null */
    OK(MPI_Waitany(2 * N, r, &index, MPI_STATUS_IGNORE));
    CHECK(index == MPI_UNDEFINED);
    OK(MPI_Waitsome(2 * N, r, &count, indices, MPI_STATUSES_IGNORE));
    CHECK(count == MPI_UNDEFINED);
    OK(MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE));
    long sum = 0;
    for (int i = 0; i < N; i++)
        sum += in[i] * (i + 1);
    say("wait %ld", sum);
}

static void test_forms(int to, int from) {
    int in[N], out[N], flag = 0, index, count, done = 0, indices[N];
    MPI_Request r[2 * N];
    MPI_Status s[2 * N];
    for (int i = 0; i < N; i++) {
        in[i] = -1;
        OK(MPI_Irecv(&in[i], 1, MPI_INT, i % 2 ? MPI_ANY_SOURCE : from, i, MPI_COMM_WORLD, &r[i]));
    }
    OK(MPI_Test(&r[0], &flag, &s[0])); /* nothing was sent yet */
    CHECK(!flag);
    OK(MPI_Testany(N, r, &index, &flag, &s[0]));
    CHECK(!flag && index == MPI_UNDEFINED);
    OK(MPI_Testsome(N, r, &count, indices, s));
    CHECK(count == 0);
    OK(MPI_Testall(N, r, &flag, s));
    CHECK(!flag);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    nap_ms(rank * 3);
    for (int i = 0; i < N; i++) {
        out[i] = rank * 10 + i;
        OK(MPI_Isend(&out[i], 1, MPI_INT, to, i, MPI_COMM_WORLD, &r[N + i]));
    }
    for (flag = 0; !flag; nap_ms(1))
        OK(MPI_Test(&r[0], &flag, MPI_STATUS_IGNORE));
    for (flag = 0; !flag; nap_ms(1))
        OK(MPI_Request_get_status(r[1], &flag, &s[0]));
    CHECK(r[1] != MPI_REQUEST_NULL && s[0].MPI_SOURCE == from);
    for (flag = 0; !flag; nap_ms(1)) {
        OK(MPI_Testany(N, r, &index, &flag, &s[0]));
        CHECK(!flag || (index > 0 && s[0].MPI_TAG == index));
    }
    for (done = 2; done < N; nap_ms(1)) {
        OK(MPI_Testsome(N, r, &count, indices, s));
        CHECK(count != MPI_UNDEFINED);
        done += count;
    }
    for (flag = 0; !flag; nap_ms(1))
        OK(MPI_Testall(2 * N, r, &flag, MPI_STATUSES_IGNORE));
    OK(MPI_Testsome(N, r, &count, indices, s));
    CHECK(count == MPI_UNDEFINED);
    OK(MPI_Testany(N, r, &index, &flag, &s[0]));
    CHECK(flag && index == MPI_UNDEFINED);
    OK(MPI_Test(&r[0], &flag, &s[0]));
    CHECK(flag);
    long sum = 0;
    for (int i = 0; i < N; i++)
        sum += in[i] * (i + 1);
    say("test %ld", sum);
}

/* Completion in another order than posting, two streams and sizes over the rendezvous limit. */
static void out_of_order(int to, int from) {
    enum { LARGE = 100000 };
    int *in[4], *out[4];
    MPI_Request r[8];
    for (int i = 0; i < 4; i++) {
        in[i] = calloc(LARGE, sizeof(int));
        out[i] = calloc(LARGE, sizeof(int));
        out[i][0] = rank * 10 + i;
        OK(MPI_Irecv(in[i], LARGE, MPI_INT, from, 5 + i % 2, MPI_COMM_WORLD, &r[i]));
    }
    for (int i = 0; i < 4; i++)
        OK(MPI_Isend(out[i], i < 2 ? 10 : LARGE, MPI_INT, to, 5 + i % 2, MPI_COMM_WORLD,
                     &r[4 + i]));
    for (int i = 3; i >= 0; i--)
        OK(MPI_Wait(&r[i], MPI_STATUS_IGNORE));
    OK(MPI_Waitall(4, r + 4, MPI_STATUSES_IGNORE));
    say("order %d %d %d %d", in[0][0], in[1][0], in[2][0], in[3][0]);
    for (int i = 0; i < 4; i++) {
        free(in[i]);
        free(out[i]);
    }
}

static void buffered_and_null(int to, int from) {
    char space[2000];
    void *back;
    int n, in = -1, out = rank;
    MPI_Request r[4];
    OK(MPI_Buffer_attach(space, sizeof space));
    OK(MPI_Ibsend(&out, 1, MPI_INT, to, 3, MPI_COMM_WORLD, &r[0]));
    OK(MPI_Irecv(&in, 1, MPI_INT, from, 3, MPI_COMM_WORLD, &r[1]));
    OK(MPI_Isend(&out, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &r[2]));
    OK(MPI_Irecv(&out, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &r[3]));
    OK(MPI_Waitall(4, r, MPI_STATUSES_IGNORE));
    OK(MPI_Buffer_detach(&back, &n));
    CHECK(back == space);
    say("ibsend %d", in);
}

int main(int argc, char **argv) {
    start_program(&argc, &argv);
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    wait_forms(to, from);
    test_forms(to, from);
    out_of_order(to, from);
    buffered_and_null(to, from);
    return end_program();
}
