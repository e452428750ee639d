/* Many threads that call MPI at once: every call must be counted. usage: many_threads THREADS
 * CALLS; prints the calls of each function. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int n_calls;

static void *work(void *arg) {
    int number = *(int *)arg, rank, flag;
    for (int i = 0; i < n_calls; i++) {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        if (i % 10 == 0) {
            int out = i, in = -1;
            MPI_Request request;
            MPI_Irecv(&in, 1, MPI_INT, rank, number, MPI_COMM_WORLD, &request);
            MPI_Send(&out, 1, MPI_INT, rank, number, MPI_COMM_WORLD);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            if (in != out)
                abort();
        }
        if (i % 100 == 0)
            MPI_Initialized(&flag);
    }
    return NULL;
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 8, provided, numbers[64];
    pthread_t threads[64];
    n_calls = argc > 2 ? atoi(argv[2]) : 1000;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided != MPI_THREAD_MULTIPLE || n > 64)
        return 77;
    for (int i = 0; i < n; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, work, &numbers[i]);
    }
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    MPI_Finalize();
    long messages = (long)n * ((n_calls + 9) / 10);
    printf("MPI_Comm_rank %ld\nMPI_Irecv %ld\nMPI_Send %ld\nMPI_Wait %ld\nMPI_Initialized %ld\n",
           (long)n * n_calls, messages, messages, messages, (long)n * ((n_calls + 99) / 100));
    return 0;
}
