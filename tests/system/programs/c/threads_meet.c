/* Threads that meet in what belongs to all of them. "collectives": one thread begins nonblocking
 * collectives, another one completes them while the next ones begin on the same communicator.
 * "switch": one thread switches measurement off and on, and starts others, while the first one
 * sends, receives and is in regions.
 * "resume": it does only that, as often as it can, so that calls of the first one find measurement
 * off and begin when it is on again; others wait for what the first one does then.
 * "regions": MPI_THREAD_FUNNELED; a thread that never calls MPI is in many regions while the first
 * one sends, receives and is away from MPI. */
#include "program.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "latecomer.h"

enum { ROUNDS = 400, EXCHANGES = 60, OPEN = 24, NAMES = 100, SHORT = 2000 };
static MPI_Request requests[OPEN];
static int given[OPEN], all[OPEN], begun, completed;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int stop;
static const struct timespec pause_time = {0, 20000};

static int value_of(const int *counter) {
    pthread_mutex_lock(&lock);
    int value = *counter;
    pthread_mutex_unlock(&lock);
    return value;
}

static void add_to(int *counter, int n) {
    pthread_mutex_lock(&lock);
    *counter += n;
    pthread_mutex_unlock(&lock);
}

/* Not in order: the oldest one is asked for last. */
static void *complete(void *unused) {
    (void)unused;
    for (int first = 0; first < ROUNDS;) {
        int n = value_of(&begun) - first;
        if (n < OPEN / 2 && first + n < ROUNDS) {
            nanosleep(&pause_time, NULL);
            continue;
        }
        for (int i = n - 1; i >= 0; i--) {
            int done = 0, slot = (first + i) % OPEN;
            for (; !done; nanosleep(&pause_time, NULL))
                OK(MPI_Test(&requests[slot], &done, MPI_STATUS_IGNORE));
            CHECK(all[slot] == size * (first + i));
        }
        first += n;
        add_to(&completed, n);
    }
    return NULL;
}

static void collectives(void) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, complete, NULL) == 0);
    for (int i = 0; i < ROUNDS; i++) {
        while (i - value_of(&completed) >= OPEN)
            nanosleep(&pause_time, NULL);
        given[i % OPEN] = i;
        OK(MPI_Iallreduce(&given[i % OPEN], &all[i % OPEN], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
                          &requests[i % OPEN]));
        add_to(&begun, 1);
    }
    pthread_join(thread, NULL);
}

static void *be_in_regions(void *unused) {
    char name[32];
    (void)unused;
    while (!stop)
        for (int i = 0; i < NAMES; i++) {
            snprintf(name, sizeof name, "region %d", i);
            latecomer_begin(name);
            latecomer_end(name);
        }
    return NULL;
}

static void regions(void) {
    int to = (rank + 1) % size, from = (rank + size - 1) % size, out, in;
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, be_in_regions, NULL) == 0);
    for (out = 0; out < EXCHANGES; out++) {
        OK(MPI_Sendrecv(&out, 1, MPI_INT, to, 0, &in, 1, MPI_INT, from, 0, MPI_COMM_WORLD,
                        MPI_STATUS_IGNORE));
        CHECK(in == out);
        nanosleep(&pause_time, NULL);
    }
    stop = 1;
    pthread_join(thread, NULL);
}

static void *one_message(void *unused) {
    int out = rank, in = -1;
    (void)unused;
    OK(MPI_Sendrecv(&out, 1, MPI_INT, rank, 7, &in, 1, MPI_INT, rank, 7, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
    CHECK(in == rank);
    return NULL;
}

static void *switch_often(void *unused) {
    (void)unused;
    for (int i = 0; i < EXCHANGES; i++) {
        pthread_t thread;
        MPI_Pcontrol(0);
        CHECK(pthread_create(&thread, NULL, one_message, NULL) == 0);
        MPI_Pcontrol(1);
        pthread_join(thread, NULL);
    }
    stop = 1;
    return NULL;
}

static void switching(void) {
    int to = (rank + 1) % size, from = (rank + size - 1) % size, go_on = 1, out = 0, in;
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, switch_often, NULL) == 0);
    while (go_on) {
        int mine = !stop;
        latecomer_begin("exchange");
        OK(MPI_Sendrecv(&out, 1, MPI_INT, to, 0, &in, 1, MPI_INT, from, 0, MPI_COMM_WORLD,
                        MPI_STATUS_IGNORE));
        latecomer_end("exchange");
        OK(MPI_Allreduce(&mine, &go_on, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
    }
    pthread_join(thread, NULL);
}

static void compute(int steps) {
    for (volatile int i = 0; i < steps; i++) {
    }
}

static void *resume_often(void *unused) {
    (void)unused;
    while (!stop) {
        MPI_Pcontrol(0);
        MPI_Pcontrol(1);
        compute(SHORT);
    }
    return NULL;
}

static void resuming(void) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, resume_often, NULL) == 0);
    for (int i = 0; i < ROUNDS; i++) {
        int sum = 0;
        OK(MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        CHECK(sum == size * i);
        compute(rank == 0 ? 10 * SHORT : 0);
    }
    stop = 1;
    pthread_join(thread, NULL);
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "collectives";
    int funneled = strcmp(what, "regions") == 0;
    int wanted = funneled ? MPI_THREAD_FUNNELED : MPI_THREAD_MULTIPLE;
    CHECK(start_program_threads(&argc, &argv, wanted) >= wanted);
    (funneled                      ? regions
     : strcmp(what, "switch") == 0 ? switching
     : strcmp(what, "resume") == 0 ? resuming
                                   : collectives)();
    say("threads_meet %d", ROUNDS);
    return end_program();
}
