/* Messages whose extra messages are counted: own_messages PATTERN BYTES, 2 ranks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 40 };

static int rank, bytes;
static char *out, *in;
static MPI_Op asleep;

static void nap(int us) {
    nanosleep(&(struct timespec){.tv_nsec = us * 1000L}, NULL);
}

static void sleep_in_mpi(void *a, void *b, int *n, MPI_Datatype *type) {
    (void)a;
    (void)b;
    (void)type;
    nap(*n * 1000);
}

/* Time that is not useful. */
static void rest(int ms) {
    int x[16] = {0}, y[16] = {0};
    MPI_Reduce_local(x, y, ms, MPI_INT, asleep);
}

static void pingpong(void) {
    for (int i = 0; i < ROUNDS; i++) {
        if (rank == 0)
            MPI_Send(out, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
        MPI_Recv(in, bytes, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1)
            MPI_Send(out, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    }
}

static void synchronous(void) {
    for (int i = 0; i < ROUNDS; i++) {
        if (rank == 0)
            MPI_Ssend(out, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
        MPI_Recv(in, bytes, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1)
            MPI_Ssend(out, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    }
}

/* The receiver works, the sender does not: each send that waits has an edge back. */
static void late(void) {
    for (int i = 0; i < ROUNDS; i++) {
        if (rank == 0) {
            MPI_Send(out, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
        } else {
            nap(2000);
            MPI_Recv(in, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
}

/* The receiver is late, but its clock is behind that of the sender: nothing changes there. */
static void behind(void) {
    nap(rank == 0 ? 100000 : 1000);
    for (int i = 0; i < ROUNDS; i++) {
        if (rank == 0) {
            MPI_Ssend(out, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
        } else {
            rest(2);
            MPI_Recv(in, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
}

/* Both send; in turn one of them is late. */
static void exchange(void) {
    MPI_Request r[2];
    MPI_Status s[2];
    for (int i = 0; i < ROUNDS; i++) {
        nap(i % 2 == rank ? 3000 : 1000);
        MPI_Irecv(in, bytes, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD, &r[0]);
        MPI_Isend(out, bytes, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD, &r[1]);
        MPI_Waitall(2, r, s);
    }
}

/* Collectives with nothing between them: several are reduced in one. */
static void allreduce(void) {
    double one = rank, sum;
    for (int i = 0; i < 1000; i++)
        MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* And with something else after every second one. */
static void mixed(void) {
    double one = rank, sum;
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Bcast(&one, 1, MPI_DOUBLE, i % 2, MPI_COMM_WORLD);
    }
}

enum { RALLY = 10000 };

/* Messages in turn, for long: records come after them. */
static void rally(void) {
    for (int i = 0; i < RALLY; i++) {
        if (rank == 0)
            MPI_Send(out, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
        MPI_Recv(in, bytes, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1)
            MPI_Send(out, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    }
}

static void swaps(void) {
    for (int i = 0; i < RALLY; i++)
        MPI_Sendrecv(out, bytes, MPI_BYTE, 1 - rank, 1, in, bytes, MPI_BYTE, 1 - rank, 1,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static const struct {
    const char *name;
    void (*run)(void);
} patterns[] = {
    {"pingpong", pingpong}, {"synchronous", synchronous}, {"late", late},   {"behind", behind},
    {"exchange", exchange}, {"allreduce", allreduce},     {"mixed", mixed}, {"rally", rally},
    {"swaps", swaps}};

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    bytes = argc > 2 ? atoi(argv[2]) : 1;
    out = calloc((size_t)bytes, 1);
    in = calloc((size_t)bytes, 1);
    if (out == NULL || in == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Op_create(sleep_in_mpi, 1, &asleep);
    for (size_t i = 0; argc > 1 && i < sizeof patterns / sizeof *patterns; i++)
        if (strcmp(patterns[i].name, argv[1]) == 0)
            patterns[i].run();
    MPI_Op_free(&asleep);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
