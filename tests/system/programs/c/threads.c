/* MPI_THREAD_MULTIPLE: many threads calling at once on communicators of their own and on a shared
 * one; threads that come and go. */
#include "program.h"

#include <pthread.h>

enum { THREADS = 6, ROUNDS = 20, WAVES = 5 };
static MPI_Comm comms[THREADS];
static long sums[THREADS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *arg) {
    int id = *(int *)arg, to = (rank + 1) % size, from = (rank + size - 1) % size, value, flag;
    MPI_Request r[2];
    long sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        int out = rank * 1000 + id * 100 + i, in = -1;
        OK(MPI_Irecv(&in, 1, MPI_INT, from, id, MPI_COMM_WORLD,
                     &r[0])); /* shared communicator, own tag */
        OK(MPI_Isend(&out, 1, MPI_INT, to, id, MPI_COMM_WORLD, &r[1]));
        for (flag = 0; !flag; nap_ms(flag ? 0 : 1))
            OK(MPI_Testall(2, r, &flag, MPI_STATUSES_IGNORE));
        CHECK(in == from * 1000 + id * 100 + i);
        if (i % 5 == 0)
            OK(MPI_Allreduce(&in, &value, 1, MPI_INT, MPI_SUM, comms[id]));
        sum += in + value;
    }
    pthread_mutex_lock(&lock);
    sums[id] += sum;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(int argc, char **argv) {
    int level = start_program_threads(&argc, &argv, MPI_THREAD_MULTIPLE), ids[THREADS], main_thread,
        queried;
    pthread_t threads[THREADS];
    CHECK(level == MPI_THREAD_MULTIPLE);
    OK(MPI_Query_thread(&queried));
    OK(MPI_Is_thread_main(&main_thread));
    CHECK(main_thread && queried == level);
    for (int i = 0; i < THREADS; i++) {
        ids[i] = i;
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
    }
    for (int wave = 0; wave < WAVES; wave++) {
        for (int i = 0; i < THREADS; i++)
            CHECK(pthread_create(&threads[i], NULL, work, &ids[i]) == 0);
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
    }
    long sum = 0;
    for (int i = 0; i < THREADS; i++) {
        sum += sums[i];
        OK(MPI_Comm_free(&comms[i]));
    }
    say("threads %ld", sum);
    return end_program();
}
