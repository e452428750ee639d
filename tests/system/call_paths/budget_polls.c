/* Polls: MPI_Test, MPI_Iprobe and MPI_Request_get_status in vain, and what they say once there is
 * something. One process sends to itself. Prints calls made of each function, and what they gave:
 * the same with and without the tool, whatever it leaves out of polls.
 *
 *   budget_polls ROUNDS */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline, noclone))
enum { IN_VAIN = 10, TAG = 5, WRONG_EVERY = 16 };

static long tests, probes, asked, handled;
static unsigned long long digest;
static MPI_Comm comm;

static void gave(long long what) {
    digest = (digest ^ (unsigned long long)what) * 0x100000001b3ull;
}

static void handle(MPI_Comm *where, int *code, ...) {
    int class;
    (void)where;
    MPI_Error_class(*code, &class);
    gave(class);
    handled++;
}

/* One call site for all of them. Returns what MPI did. */
NOINLINE static int test(MPI_Request *request, int *flag, MPI_Status *status) {
    int result = MPI_Test(request, flag, status);
    tests++;
    return result;
}

NOINLINE static void in_vain(MPI_Request *request) {
    const MPI_Request before = *request;
    for (int i = 0; i < IN_VAIN; i++) {
        int flag = 1;
        gave(test(request, &flag, i % 2 ? MPI_STATUS_IGNORE : &(MPI_Status){0}));
        gave(flag);
        gave(*request == before);
    }
}

/* Until it is complete; what the status says, and the error. */
NOINLINE static void to_the_end(MPI_Request *request, bool receives) {
    int flag = 0, result = MPI_SUCCESS, class, count = 0, cancelled = 0;
    MPI_Status status;
    memset(&status, 0, sizeof status);
    while (!flag && result == MPI_SUCCESS)
        result = test(request, &flag, &status);
    MPI_Error_class(result, &class);
    gave(class);
    gave(flag);
    gave(*request == MPI_REQUEST_NULL);
    if (class != MPI_SUCCESS || !receives)
        return;
    MPI_Test_cancelled(&status, &cancelled);
    gave(cancelled);
    if (cancelled)
        return;
    MPI_Get_count(&status, MPI_INT, &count);
    gave(status.MPI_SOURCE);
    gave(status.MPI_TAG);
    gave(count);
}

NOINLINE static void look(void) {
    for (int i = 0; i < IN_VAIN; i++) {
        int flag;
        MPI_Iprobe(0, TAG, comm, &flag, MPI_STATUS_IGNORE);
        gave(flag);
        probes++;
    }
}

NOINLINE static void ask(MPI_Request request, int wanted) {
    for (int i = 0, flag = !wanted; i < IN_VAIN || flag != wanted; i++) {
        MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
        asked++;
    }
}

/* n: elements sent, for at most two there is room. */
NOINLINE static void message(int n) {
    int in[2] = {0}, out[3] = {n, n + 1, n + 2};
    MPI_Request request;
    MPI_Irecv(in, 2, MPI_INT, 0, TAG, comm, &request);
    in_vain(&request);
    look();
    ask(request, 0);
    MPI_Send(out, n, MPI_INT, 0, TAG, comm);
    if (n <= 2)
        ask(request, 1);
    to_the_end(&request, true);
    gave(in[0]);
}

NOINLINE static void sent(void) {
    int in = 0, out = 7;
    MPI_Request request;
    MPI_Isend(&out, 1, MPI_INT, 0, TAG, comm, &request);
    MPI_Recv(&in, 1, MPI_INT, 0, TAG, comm, MPI_STATUS_IGNORE);
    to_the_end(&request, false);
    gave(in);
}

NOINLINE static void cancelled(void) {
    int in = 0;
    MPI_Request request;
    MPI_Irecv(&in, 1, MPI_INT, 0, TAG, comm, &request);
    in_vain(&request);
    MPI_Cancel(&request);
    to_the_end(&request, true);
}

NOINLINE static void again(MPI_Request *request, const int *in) {
    int out = 9;
    MPI_Start(request);
    in_vain(request);
    MPI_Send(&out, 1, MPI_INT, 0, TAG, comm);
    to_the_end(request, true);
    gave(*in);
}

NOINLINE static void nothing(void) {
    MPI_Request request = MPI_REQUEST_NULL;
    to_the_end(&request, false);
}

int main(int argc, char **argv) {
    int in = 0;
    MPI_Errhandler handler;
    MPI_Request persistent;
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_create_errhandler(handle, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Recv_init(&in, 1, MPI_INT, 0, TAG, comm, &persistent);
    for (long i = 0, n = argc > 1 ? atol(argv[1]) : 1; i < n; i++) {
        message(i % WRONG_EVERY == WRONG_EVERY - 1 ? 3 : 1 + (int)(i % 2));
        sent();
        cancelled();
        again(&persistent, &in);
        nothing();
    }
    MPI_Request_free(&persistent);
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    printf("MPI_Test %ld\nMPI_Iprobe %ld\nMPI_Request_get_status %ld\n", tests, probes, asked);
    printf("gave %llx, errors handled %ld\n", digest, handled);
    return 0;
}
