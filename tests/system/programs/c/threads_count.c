/* 8 threads make 100,000 calls each, or as many as the argument says, and 400 short-lived threads
 * one call each: counted exactly. */
#include "program.h"

#include <pthread.h>

enum { THREADS = 8, SHORT = 400 };
static int calls = 100000;

static void *many(void *arg) {
    int n = 0, bytes = 0;
    for (int i = 0; i < calls / 2; i++) {
        MPI_Comm_size(MPI_COMM_WORLD, &n);
        MPI_Type_size(MPI_INT, &bytes);
        CHECK(n == size && bytes == (int)sizeof(int));
    }
    return arg;
}

static void *one(void *arg) {
    int n = -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &n);
    CHECK(n == rank);
    return arg;
}

int main(int argc, char **argv) {
    pthread_t threads[THREADS];
    int level = start_program_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    CHECK(level == MPI_THREAD_MULTIPLE);
    if (argc > 1)
        calls = atoi(argv[1]);
    CHECK(calls > 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, many, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < SHORT; i++) {
        CHECK(pthread_create(&threads[0], NULL, one, NULL) == 0);
        pthread_join(threads[0], NULL);
    }
    say("counted");
    return end_program();
}
