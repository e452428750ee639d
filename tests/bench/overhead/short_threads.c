/* 10,001 threads one after the other, each of which calls MPI once: seconds of all. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

enum { THREADS = 10001 };

static void *one(void *arg) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return arg;
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int main(int argc, char **argv) {
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    double begin = seconds();
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, one, NULL) != 0)
            return 1;
        pthread_join(thread, NULL);
    }
    printf("%.6f\n", seconds() - begin);
    MPI_Finalize();
    return 0;
}
