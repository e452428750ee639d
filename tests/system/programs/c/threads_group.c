/* Several threads in MPI_Comm_create_group at the same time, each with its own tag. */
#include "program.h"

#include <pthread.h>

enum { THREADS = 3, ROUNDS = 5 };

static void *work(void *number) {
    int tag = 10 + (int)(size_t)number, sum = 0;
    MPI_Group group;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &group));
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Comm made;
        OK(MPI_Comm_create_group(MPI_COMM_WORLD, group, tag, &made));
        OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, made));
        CHECK(sum == size * (size - 1) / 2);
        OK(MPI_Comm_free(&made));
    }
    OK(MPI_Group_free(&group));
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[THREADS];
    if (start_program_threads(&argc, &argv, MPI_THREAD_MULTIPLE) == MPI_THREAD_MULTIPLE) {
        for (size_t i = 0; i < THREADS; i++)
            pthread_create(&threads[i], NULL, work, (void *)i);
        for (size_t i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
    }
    say("groups");
    return end_program();
}
