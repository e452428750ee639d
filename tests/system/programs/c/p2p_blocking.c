/* Blocking point-to-point: all send modes, Sendrecv, wildcards, MPI_PROC_NULL, zero sizes,
 * rendezvous sizes, buffered sends. */
#include "program.h"

enum { LARGE = 300000 };

static void modes(int to, int from) {
    int out[4] = {rank, rank * 2, rank * 3, rank * 4}, in[4] = {-1, -1, -1, -1}, count = -1;
    MPI_Status status;
    char *space = malloc(4096 + 4 * MPI_BSEND_OVERHEAD);
    void *detached = NULL;
    int detached_size = 0;
    OK(MPI_Buffer_attach(space, 4096 + 4 * MPI_BSEND_OVERHEAD));
    for (int i = 0; i < 4; i++)
        OK(MPI_Bsend(out, i, MPI_INT, to, 10 + i, MPI_COMM_WORLD));
    for (int i = 3; i >= 0; i--) { /* reverse order of tags, the zero-sized one included */
        OK(MPI_Recv(in, 4, MPI_INT, from, 10 + i, MPI_COMM_WORLD, &status));
        OK(MPI_Get_count(&status, MPI_INT, &count));
        CHECK(count == i && status.MPI_SOURCE == from && status.MPI_TAG == 10 + i);
    }
    OK(MPI_Buffer_detach(&detached, &detached_size));
    CHECK(detached == space);
    free(space);
    say("bsend %d", in[2]);

    if (rank % 2 == 0)
        OK(MPI_Ssend(out, 4, MPI_INT, to, 1, MPI_COMM_WORLD));
    OK(MPI_Recv(in, 4, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    if (rank % 2 != 0)
        OK(MPI_Ssend(out, 4, MPI_INT, to, 1, MPI_COMM_WORLD));
    say("ssend %d", in[3]);

    MPI_Request ready;
    OK(MPI_Irecv(in, 4, MPI_INT, from, 2, MPI_COMM_WORLD, &ready));
    OK(MPI_Barrier(MPI_COMM_WORLD)); /* all receives are posted */
    OK(MPI_Rsend(out, 3, MPI_INT, to, 2, MPI_COMM_WORLD));
    OK(MPI_Wait(&ready, &status));
    OK(MPI_Get_elements(&status, MPI_INT, &count));
    CHECK(count == 3);
    say("rsend %d", in[2]);
}

static void sendrecv(int to, int from) {
    double x = rank + 0.5, y = 0;
    MPI_Status status;
    for (int i = 0; i < 20; i++) {
        OK(MPI_Sendrecv(&x, 1, MPI_DOUBLE, to, 7, &y, 1, MPI_DOUBLE, i % 2 ? MPI_ANY_SOURCE : from,
                        i % 3 || i % 2 ? 7 : MPI_ANY_TAG, MPI_COMM_WORLD,
                        i % 4 ? &status : MPI_STATUS_IGNORE));
        OK(MPI_Sendrecv_replace(&y, 1, MPI_DOUBLE, from, 8, to, 8, MPI_COMM_WORLD, &status));
        CHECK(y == x && status.MPI_SOURCE == to);
        x += 1;
    }
    OK(MPI_Sendrecv(&x, 1, MPI_DOUBLE, MPI_PROC_NULL, 1, &y, 1, MPI_DOUBLE, MPI_PROC_NULL, 1,
                    MPI_COMM_WORLD, &status));
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG);
    OK(MPI_Sendrecv(&x, 1, MPI_DOUBLE, rank, 1, &y, 1, MPI_DOUBLE, rank, 1, MPI_COMM_WORLD,
                    &status)); /* to itself */
    CHECK(y == x);
    say("sendrecv %.1f", y);
}

static void null_process(void) {
    int value = 17;
    MPI_Status status;
    OK(MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
    OK(MPI_Ssend(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
    OK(MPI_Rsend(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
    OK(MPI_Bsend(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
    OK(MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
    CHECK(value == 17 && status.MPI_SOURCE == MPI_PROC_NULL);
    OK(MPI_Sendrecv_replace(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_PROC_NULL, 0, MPI_COMM_WORLD,
                            MPI_STATUS_IGNORE));
    OK(MPI_Probe(MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
    say("null %d", value);
}

/* Rank 0 takes from anybody; large messages go through the rendezvous protocol. */
static void wildcards(void) {
    char *large = calloc(1, LARGE);
    if (rank == 0) {
        long sum = 0;
        for (int i = 0; i < 5 * (size - 1); i++) {
            MPI_Status status;
            int count;
            OK(MPI_Recv(large, LARGE, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                        &status));
            OK(MPI_Get_count(&status, MPI_CHAR, &count));
            CHECK(large[0] == status.MPI_SOURCE && (count == LARGE) == (status.MPI_TAG == 4));
            sum += (long)count * status.MPI_SOURCE + status.MPI_TAG;
        }
        say("wildcards %ld", sum);
    } else {
        large[0] = (char)rank;
        for (int i = 0; i < 5; i++)
            OK(MPI_Send(large, i < 4 ? 1 << (3 * i) : LARGE, MPI_CHAR, 0, i, MPI_COMM_WORLD));
    }
    free(large);
}

int main(int argc, char **argv) {
    start_program(&argc, &argv);
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    modes(to, from);
    sendrecv(to, from);
    null_process();
    wildcards();
    return end_program();
}
