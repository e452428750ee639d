/* Programs whose calls cost the tool much, in virtual time. What a run takes between MPI_Init and
 * MPI_Finalize is printed, and what with both: "took NS NS".
 *
 *   sim-budget calls ROUNDS NS     a round works for NS and makes 12 calls from three call paths,
 *                                  eight of which may be counted only
 *   sim-budget paths ROUNDS NS     a round works for NS and makes a call on a path of its own
 *   sim-budget start ROUNDS NS     64 such paths first, then rounds of work and one call
 *   sim-budget messages ROUNDS NS  a round works for NS and sends two messages to itself
 *   sim-budget matched ROUNDS NS   a round works for NS, sends a message to itself, asks 20 times
 *                                  for its rank, and receives the message by MPI_Mrecv
 *   sim-budget polls ROUNDS NS     a round works for NS and looks 40 times for a message
 *   sim-budget ranks ROUNDS NS     the same of all ranks, for a message of the next one; then comes
 *                                  a barrier of all
 *   sim-budget open ROUNDS NS      a second thread does as in "polls", and is between two polls of
 *                                  its last round when MPI_Finalize is called
 *   sim-budget turns ROUNDS NS     a round works for NS, looks for a message 5 times from one call
 *                                  path and 3 times from another, with a barrier behind both
 *   sim-budget tests ROUNDS NS     a round works for NS and tests 40 times whether a message is
 *                                  there, sends it, and tests once more
 *   sim-budget takes ROUNDS NS     the same by MPI_Improbe, which takes the message at last
 *   sim-budget regions ROUNDS NS   a round works for NS, half of it in ten parallel regions of one
 *                                  thread (of simulated libgomp), then comes a barrier
 *   sim-budget usual ROUNDS NS     the same, of OMP_NUM_THREADS threads
 *   sim-budget places ROUNDS NS    the same, by turns from two functions
 *   sim-budget groups ROUNDS NS    the same, and in each region four nested taskgroups
 *   sim-budget outside ROUNDS NS   a round works for NS, then come 40 barriers outside of regions
 *   sim-budget constructs ROUNDS NS  the same, and in each region what OpenMP has, also a region of
 *                                  two threads; each must have been executed as often as it should
 *   sim-budget work ROUNDS NS      a round works for NS, then comes a barrier
 *   sim-budget compare ROUNDS NS   the same of all ranks, which compare their work now and then
 */
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void sim_work(uint64_t ns);
void GOMP_parallel(void (*fn)(void *), void *data, unsigned threads, unsigned flags);
void GOMP_barrier(void);
bool GOMP_single_start(void);
void GOMP_critical_start(void);
void GOMP_critical_end(void);
void GOMP_task(void (*fn)(void *), void *data, void (*copy)(void *, void *), long bytes, long align,
               bool now, unsigned flags, void **depend, int priority, void *detach);
void GOMP_taskwait(void);
void GOMP_taskgroup_start(void);
void GOMP_taskgroup_end(void);
uint64_t sim_true_clock(void);

#define NOINLINE __attribute__((noinline, noclone))

static volatile int sink;

NOINLINE static void message(void) {
    int in = 1, out;
    MPI_Sendrecv(&in, 1, MPI_INT, 0, 1, &out, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    sink = out;
}

/* Dear calls among cheap ones: the tool takes locks in some of the messages. */
NOINLINE static void matched(void) {
    enum { CHEAP = 20 };
    MPI_Request request;
    MPI_Message found;
    int in = 1, out;
    MPI_Isend(&in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
    for (int i = 0; i < CHEAP; i++) {
        int rank;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        sink = rank;
    }
    MPI_Mprobe(0, 1, MPI_COMM_SELF, &found, MPI_STATUS_IGNORE);
    MPI_Mrecv(&out, 1, MPI_INT, &found, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    sink = out;
}

NOINLINE static void shared(void) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    sink = (int)MPI_Wtime();
    message();
}

NOINLINE static void first(void) {
    shared();
    sink = 1;
}
NOINLINE static void second(void) {
    shared();
    sink = 2;
}
NOINLINE static void third(void) {
    shared();
    sink = 3;
}

/* The bits of `path` say who calls whom. */
NOINLINE static void descend(unsigned path, int depth);
NOINLINE static void left(unsigned path, int depth) {
    descend(path, depth);
    sink = 1;
}
NOINLINE static void right(unsigned path, int depth) {
    descend(path, depth);
    sink = 2;
}
NOINLINE static void descend(unsigned path, int depth) {
    if (depth == 0)
        message();
    else if (path & 1)
        left(path >> 1, depth - 1);
    else
        right(path >> 1, depth - 1);
    sink = 3;
}

static MPI_Comm looked_at = MPI_COMM_SELF;
static int next_rank;
enum { LOOKS = 40 };

NOINLINE static void look(int times) {
    int flag;
    for (int i = 0; i < times; i++) {
        MPI_Iprobe(next_rank, 1, looked_at, &flag, MPI_STATUS_IGNORE);
        sink = flag;
    }
}

NOINLINE static void near(void) {
    look(5);
    sink = 1;
}

NOINLINE static void far(void) {
    look(3);
    sink = 2;
}

enum { TESTS = 40 };

NOINLINE static void take(void) {
    MPI_Message message = MPI_MESSAGE_NULL;
    int in = 0, out = 1, there = 0;
    for (int i = 0; i < TESTS; i++)
        MPI_Improbe(0, 1, MPI_COMM_SELF, &there, &message, MPI_STATUS_IGNORE);
    if (there)
        abort();
    MPI_Send(&out, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
    sim_work(100000); /* it arrives */
    MPI_Improbe(0, 1, MPI_COMM_SELF, &there, &message, MPI_STATUS_IGNORE);
    if (!there)
        abort();
    MPI_Mrecv(&in, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    if (in != 1)
        abort();
}

NOINLINE static void test(void) {
    MPI_Request request;
    int in = 0, out = 1, flag = 0;
    MPI_Irecv(&in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
    for (int i = 0; i < TESTS; i++)
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    if (flag)
        abort();
    MPI_Send(&out, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
    sim_work(100000); /* it arrives */
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    if (!flag || in != 1 || request != MPI_REQUEST_NULL)
        abort();
}

static void share(void *ns) {
    sim_work(*(uint64_t *)ns);
}

static void groups(void *ns) {
    enum { GROUPS = 4 };
    for (int i = 0; i < GROUPS; i++)
        GOMP_taskgroup_start();
    share(ns);
    for (int i = 0; i < GROUPS; i++)
        GOMP_taskgroup_end();
}

enum { REGIONS = 10, TASKS = 2 };
static _Atomic unsigned executed;

static void once(void *unused) {
    (void)unused;
    executed++;
}

/* Executes seven things: a single, a critical region, two tasks that are waited for and one that
 * the end of the region waits for, and two shares of an inner region. */
static void much(void *ns) {
    share(ns);
    if (GOMP_single_start())
        executed++;
    GOMP_barrier();
    GOMP_critical_start();
    executed++;
    GOMP_critical_end();
    for (int i = 0; i < TASKS; i++)
        GOMP_task(once, NULL, NULL, 0, 1, true, 0, NULL, 0, NULL);
    GOMP_taskwait();
    GOMP_parallel(once, NULL, 2, 0);
    GOMP_task(once, NULL, NULL, 0, 1, true, 0, NULL, 0, NULL);
}

static unsigned wanted = 1; /* threads; 0: as the environment says */

NOINLINE static void regions(void (*body)(void *), uint64_t ns) {
    sim_work(ns / 2);
    for (int i = 0; i < REGIONS; i++)
        GOMP_parallel(body, &(uint64_t){ns / 2 / REGIONS}, wanted, 0);
    sink = 1;
}

NOINLINE static void barriers(uint64_t ns) {
    enum { BARRIERS = 40 };
    sim_work(ns);
    for (int i = 0; i < BARRIERS; i++)
        GOMP_barrier();
}

NOINLINE static void here(uint64_t ns) {
    regions(share, ns);
    sink = 1;
}

NOINLINE static void there(uint64_t ns) {
    regions(share, ns);
    sink = 2;
}

static _Atomic bool looks_on = true, is_open = true;

static void nap(void) {
    nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
}

static void nap_in_call(void *in, void *inout, int *n, MPI_Datatype *type) {
    (void)in;
    (void)inout;
    (void)n;
    (void)type;
    nap();
}

/* MPI calls the program, which naps: the time is the call's. */
static void reduce_with_nap(void) {
    static MPI_Op op = MPI_OP_NULL;
    int in = 1, inout = 1;
    if (op == MPI_OP_NULL)
        MPI_Op_create(nap_in_call, 1, &op);
    MPI_Reduce_local(&in, &inout, 1, MPI_INT, op);
}

struct rounds {
    unsigned n;
    uint64_t ns;
};

static void *look_apart(void *of) {
    const struct rounds *rounds = of;
    for (unsigned i = 0; i < rounds->n; i++) {
        sim_work(rounds->ns);
        look(LOOKS);
    }
    looks_on = false;
    while (is_open)
        nap();
    return NULL;
}

static void iterate(const char *what, unsigned round, uint64_t ns) {
    enum { DEPTH = 14 };
    if (strcmp(what, "regions") == 0 || strcmp(what, "usual") == 0)
        regions(share, ns);
    else if (strcmp(what, "places") == 0)
        (round % 2 == 0 ? here : there)(ns);
    else if (strcmp(what, "groups") == 0)
        regions(groups, ns);
    else if (strcmp(what, "constructs") == 0)
        regions(much, ns);
    else if (strcmp(what, "outside") == 0)
        barriers(ns);
    else
        sim_work(ns);
    if (strcmp(what, "naps") == 0) {
        nap();
        MPI_Barrier(MPI_COMM_SELF);
    } else if (strcmp(what, "inside") == 0) {
        reduce_with_nap();
    } else if (strcmp(what, "calls") == 0) {
        first();
        second();
        third();
        first();
    } else if (strcmp(what, "polls") == 0) {
        look(LOOKS);
    } else if (strcmp(what, "ranks") == 0) {
        look(LOOKS);
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (strcmp(what, "turns") == 0) {
        near();
        MPI_Barrier(MPI_COMM_SELF);
        far();
        MPI_Barrier(MPI_COMM_SELF);
    } else if (strcmp(what, "tests") == 0) {
        test();
    } else if (strcmp(what, "takes") == 0) {
        take();
    } else if (strcmp(what, "paths") == 0) {
        descend(round, DEPTH);
    } else if (strcmp(what, "messages") == 0) {
        message();
        message();
    } else if (strcmp(what, "matched") == 0) {
        matched();
    } else {
        MPI_Barrier(strcmp(what, "compare") == 0 ? MPI_COMM_WORLD : MPI_COMM_SELF);
    }
}

int main(int argc, char **argv) {
    int rank, level;
    if (argc < 4)
        return 2;
    uint64_t started = sim_true_clock();
    bool apart = strcmp(argv[1], "open") == 0;
    MPI_Init_thread(&argc, &argv, apart ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    uint64_t begin = sim_true_clock(), ns = strtoull(argv[3], NULL, 10);
    unsigned rounds = (unsigned)atoi(argv[2]);
    pthread_t second_thread;
    struct rounds its = {rounds, ns};
    wanted = strcmp(argv[1], "usual") != 0;
    if (strcmp(argv[1], "ranks") == 0) {
        int size;
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        looked_at = MPI_COMM_WORLD;
        next_rank = (rank + 1) % size;
    }
    if (apart && (level != MPI_THREAD_MULTIPLE ||
                  pthread_create(&second_thread, NULL, look_apart, &its) != 0))
        return 1;
    while (apart && looks_on)
        nap();
    rounds = apart ? 0 : rounds;
    for (unsigned i = 0; strcmp(argv[1], "start") == 0 && i < 64; i++)
        descend(i, 6);
    for (unsigned i = 0; i < rounds; i++)
        iterate(argv[1], i, ns);
    uint64_t end = sim_true_clock();
    MPI_Finalize();
    is_open = false;
    if (apart)
        pthread_join(second_thread, NULL);
    if (strcmp(argv[1], "constructs") == 0 && executed != rounds * REGIONS * (5 + TASKS))
        return 1;
    if (rank == 0)
        printf("took %llu %llu\n", (unsigned long long)(end - begin),
               (unsigned long long)(sim_true_clock() - started));
    return 0;
}
