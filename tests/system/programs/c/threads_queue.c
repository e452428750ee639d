/* MPI_THREAD_MULTIPLE: threads that receive in all ways while others call MPI, too, 50 rounds of
 * messages in each wave of threads: 20 waves, or as many as the argument says. Under the tool, with
 * clocks that travel in messages, every thread works off what others have queued. The memory of
 * threads that went is used again. */
#include "program.h"

#include <pthread.h>
#include <time.h>

enum { THREADS = 4, WAVES = 20, ROUNDS = 50, WORDS = 64 };
static MPI_Comm comms[THREADS];
static long sums[THREADS];
static int ids[THREADS];

/* Asks often: who blocks in MPI keeps other threads of the same core from it. */
static void complete(int n, MPI_Request *requests) {
    const struct timespec pause = {0, 20000};
    for (int done = 0; !done;) {
        OK(MPI_Testall(n, requests, &done, MPI_STATUSES_IGNORE));
        if (!done)
            nanosleep(&pause, NULL);
    }
}

/* The message is there when a blocking call receives it. */
static void receive(int way, int *in, int from, int id) {
    const struct timespec pause = {0, 20000};
    MPI_Request r;
    MPI_Message message;
    int there = 0, index;
    switch (way) {
    case 0:
        for (; !there; nanosleep(&pause, NULL))
            OK(MPI_Iprobe(from, id, comms[id], &there, MPI_STATUS_IGNORE));
        OK(MPI_Recv(in, WORDS, MPI_INT, from, id, comms[id], MPI_STATUS_IGNORE));
        break;
    case 1:
        OK(MPI_Irecv(in, WORDS, MPI_INT, from, id, comms[id], &r));
        complete(1, &r);
        break;
    case 2:
        OK(MPI_Irecv(in, WORDS, MPI_INT, from, MPI_ANY_TAG, comms[id], &r));
        for (; !there; nanosleep(&pause, NULL))
            OK(MPI_Testany(1, &r, &index, &there, MPI_STATUS_IGNORE));
        break;
    default:
        for (; !there; nanosleep(&pause, NULL))
            OK(MPI_Improbe(from, id, comms[id], &there, &message, MPI_STATUS_IGNORE));
        OK(MPI_Mrecv(in, WORDS, MPI_INT, &message, MPI_STATUS_IGNORE));
    }
}

static void *work(void *arg) {
    int id = *(int *)arg, to = (rank + 1) % size, from = (rank + size - 1) % size;
    long sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        int out[WORDS] = {rank * 1000 + id * 100 + i}, in[WORDS] = {-1}, all = 0;
        MPI_Request r[2];
        OK(MPI_Isend(out, 1 + i, MPI_INT, to, id, comms[id], &r[0]));
        receive(i % 4, in, from, id);
        complete(1, r);
        CHECK(in[0] == from * 1000 + id * 100 + i);
        OK(MPI_Irecv(in, 1, MPI_INT, to, id, MPI_COMM_WORLD, &r[0])); /* shared, own tag; back */
        OK(MPI_Issend(out, 1, MPI_INT, from, id, MPI_COMM_WORLD, &r[1]));
        complete(2, r);
        CHECK(in[0] == to * 1000 + id * 100 + i);
        sum += in[0];
        if (i % 25 == 0) {
            OK(MPI_Iallreduce(in, &all, 1, MPI_INT, MPI_SUM, comms[id], r));
            complete(1, r);
        }
        sum += all;
    }
    sums[id] += sum;
    return NULL;
}

int main(int argc, char **argv) {
    int level = start_program_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    pthread_t threads[THREADS];
    long sum = 0;
    int waves = argc > 1 ? atoi(argv[1]) : WAVES;
    CHECK(level == MPI_THREAD_MULTIPLE && waves > 0);
    for (int i = 0; i < THREADS; i++) {
        ids[i] = i;
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
    }
    for (int wave = 0; wave < waves; wave++) {
        for (int i = 0; i < THREADS; i++)
            CHECK(pthread_create(&threads[i], NULL, work, &ids[i]) == 0);
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
    }
    for (int i = 0; i < THREADS; i++) {
        sum += sums[i];
        OK(MPI_Comm_free(&comms[i]));
    }
    say("threads_queue %ld", sum);
    return end_program();
}
