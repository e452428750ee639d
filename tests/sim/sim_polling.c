/* Programs that poll: sim-polling CASE ROUNDS. In each round rank 1 straggles for 20 ms before it
 * does what rank 0 asks for again and again; rank 2 does so at once.
 *
 *   test       MPI_Irecv and MPI_Test
 *   testany    the same by MPI_Testany, of two receives: the other one has got its message
 *   testall    of messages of both others, by MPI_Testall
 *   testsome   the same by MPI_Testsome
 *   status     MPI_Request_get_status, then MPI_Wait
 *   iprobe     MPI_Iprobe, then MPI_Recv
 *   improbe    MPI_Improbe, then MPI_Alloc_mem and MPI_Mrecv, as Boost.MPI receives
 *   mprobe     MPI_Iprobe, then MPI_Mprobe and MPI_Mrecv, as mpi4py receives
 *   two        MPI_Test in two functions by turns, for two messages
 *   reduce     MPI_Iallreduce and MPI_Test
 *   again      MPI_Test for one message, and then for another, for which rank 1 straggles again
 *   beside     MPI_Test after every 2 ms of work
 *   between    MPI_Test; some are made before a barrier, after which rank 1 straggles
 *   other      MPI_Test, whose message never came so late that it is waited for; between the tests
 *              and the receive of the late message there is another call */
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void sim_work(uint64_t ns);

enum { MS = 1000000, LATE = 1, TAG = 3 };

static int rank, x, y;

static __attribute__((noinline)) void straggle(void) {
    sim_work(20 * MS);
    __asm__ volatile("");
}

static __attribute__((noinline)) void compute(void) {
    sim_work(2 * MS);
    __asm__ volatile("");
}

static void send(void) {
    if (rank == LATE)
        straggle();
    MPI_Send(&x, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD);
}

static void test(MPI_Request *r) {
    for (int done = 0; !done;)
        MPI_Test(r, &done, MPI_STATUS_IGNORE);
}

static void receives(MPI_Request r[2]) {
    MPI_Irecv(&x, 1, MPI_INT, LATE, TAG, MPI_COMM_WORLD, &r[0]);
    MPI_Irecv(&y, 1, MPI_INT, 2, TAG, MPI_COMM_WORLD, &r[1]);
}

static void testany(void) {
    MPI_Request r[2];
    receives(r);
    MPI_Wait(&r[1], MPI_STATUS_IGNORE);
    for (int done = 0, which; !done;)
        MPI_Testany(2, r, &which, &done, MPI_STATUS_IGNORE);
}

static void testall(void) {
    MPI_Request r[2];
    receives(r);
    for (int done = 0; !done;)
        MPI_Testall(2, r, &done, MPI_STATUSES_IGNORE);
}

static void testsome(void) {
    MPI_Request r[2];
    int n, which[2];
    receives(r);
    for (int left = 2; left > 0; left -= n)
        MPI_Testsome(2, r, &n, which, MPI_STATUSES_IGNORE);
}

static void status(void) {
    MPI_Request r;
    MPI_Irecv(&x, 1, MPI_INT, LATE, TAG, MPI_COMM_WORLD, &r);
    for (int done = 0; !done;)
        MPI_Request_get_status(r, &done, MPI_STATUS_IGNORE);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void iprobe(void) {
    for (int there = 0; !there;)
        MPI_Iprobe(LATE, TAG, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    MPI_Recv(&x, 1, MPI_INT, LATE, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void improbe(void) {
    MPI_Message m = MPI_MESSAGE_NULL;
    int *memory;
    for (int there = 0; !there;)
        MPI_Improbe(LATE, TAG, MPI_COMM_WORLD, &there, &m, MPI_STATUS_IGNORE);
    MPI_Alloc_mem(sizeof *memory, MPI_INFO_NULL, &memory);
    MPI_Mrecv(memory, 1, MPI_INT, &m, MPI_STATUS_IGNORE);
    MPI_Free_mem(memory);
}

static void mprobe(void) {
    MPI_Message m = MPI_MESSAGE_NULL;
    for (int there = 0; !there;)
        MPI_Iprobe(LATE, TAG, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    MPI_Mprobe(LATE, TAG, MPI_COMM_WORLD, &m, MPI_STATUS_IGNORE);
    MPI_Mrecv(&x, 1, MPI_INT, &m, MPI_STATUS_IGNORE);
}

#define TEST_IN(function)                                                                          \
    static __attribute__((noinline)) int function(MPI_Request *r) {                                \
        int done;                                                                                  \
        MPI_Test(r, &done, MPI_STATUS_IGNORE);                                                     \
        __asm__ volatile("" ::: "memory");                                                         \
        return done;                                                                               \
    }
TEST_IN(ahead)
TEST_IN(behind)

static void two(void) {
    MPI_Request r[2];
    receives(r);
    MPI_Wait(&r[1], MPI_STATUS_IGNORE);
    MPI_Irecv(&y, 1, MPI_INT, LATE, TAG + 1, MPI_COMM_WORLD, &r[1]);
    while (!ahead(&r[0]))
        behind(&r[1]);
    MPI_Cancel(&r[1]);
    MPI_Wait(&r[1], MPI_STATUS_IGNORE);
}

static void reduce(void) {
    MPI_Request r;
    if (rank == LATE)
        straggle();
    MPI_Iallreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r);
    if (rank == 0)
        test(&r);
    else
        MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void beside(void) {
    MPI_Request r;
    MPI_Irecv(&x, 1, MPI_INT, LATE, TAG, MPI_COMM_WORLD, &r);
    for (int done = 0; !done; compute())
        MPI_Test(&r, &done, MPI_STATUS_IGNORE);
}

static void between(void) {
    MPI_Request r;
    if (rank == 0) {
        MPI_Irecv(&x, 1, MPI_INT, LATE, TAG, MPI_COMM_WORLD, &r);
        double begin = MPI_Wtime();
        for (int done; MPI_Wtime() < begin + 0.002;)
            MPI_Test(&r, &done, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        test(&r);
    else if (rank == LATE)
        send();
}

static void other(void) {
    MPI_Request r;
    int done;
    MPI_Irecv(&x, 1, MPI_INT, LATE, TAG, MPI_COMM_WORLD, &r);
    for (int i = 0; i < 3; i++)
        MPI_Test(&r, &done, MPI_STATUS_IGNORE);
    MPI_Recv(&y, 1, MPI_INT, 2, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void one_test(void) {
    MPI_Request r;
    MPI_Irecv(&x, 1, MPI_INT, LATE, TAG, MPI_COMM_WORLD, &r);
    test(&r);
}

static void again(void) {
    MPI_Request r[2];
    for (int i = 0; i < 2; i++)
        MPI_Irecv(i == 0 ? &x : &y, 1, MPI_INT, LATE, TAG, MPI_COMM_WORLD, &r[i]);
    test(&r[0]);
    test(&r[1]);
}

static const struct {
    const char *name;
    void (*run)(void);
    int of_both; /* messages of both others come, else only that of the late one */
} cases[] = {{"test", one_test, 0},     {"testany", testany, 1}, {"testall", testall, 1},
             {"testsome", testsome, 1}, {"status", status, 0},   {"iprobe", iprobe, 0},
             {"improbe", improbe, 0},   {"mprobe", mprobe, 0},   {"two", two, 1},
             {"reduce", reduce, -1},    {"again", again, 0},     {"beside", beside, 0},
             {"between", between, -1},  {"other", other, 1}};

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (size_t i = 0; argc == 3 && i < sizeof cases / sizeof *cases; i++) {
        if (strcmp(argv[1], cases[i].name) != 0)
            continue;
        for (int round = atoi(argv[2]); round > 0; round--) {
            MPI_Barrier(MPI_COMM_WORLD);
            if (rank == 0 || cases[i].of_both < 0)
                cases[i].run();
            else if (rank == LATE || cases[i].of_both > 0)
                send();
            if (rank == LATE && cases[i].run == again)
                send();
        }
    }
    MPI_Finalize();
    return 0;
}
