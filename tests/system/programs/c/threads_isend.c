/* Many threads whose small sends are complete at once: MPI may give them all one handle, which
 * stands for no request of its own. */
#include "program.h"

#include <pthread.h>
#include <sched.h>

enum { THREADS = 4, ROUNDS = 400 };

static void *work(void *arg) {
    int id = *(int *)arg, in = -1;
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Request r[3];
        OK(MPI_Irecv(&in, 1, MPI_INT, rank, id, MPI_COMM_WORLD, &r[2]));
        OK(MPI_Isend(&i, 1, MPI_INT, rank, id, MPI_COMM_WORLD, &r[0]));
        OK(MPI_Isend(&i, 1, MPI_INT, MPI_PROC_NULL, id, MPI_COMM_WORLD, &r[1]));
        if (i % 8 == 0)
            sched_yield();
        OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
        OK(MPI_Waitall(2, r + 1, MPI_STATUSES_IGNORE));
        CHECK(in == i);
    }
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[THREADS];
    int ids[THREADS];
    CHECK(start_program_threads(&argc, &argv, MPI_THREAD_MULTIPLE) == MPI_THREAD_MULTIPLE);
    for (int i = 0; i < THREADS; i++) {
        ids[i] = i;
        CHECK(pthread_create(&threads[i], NULL, work, &ids[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    say("threads %d", THREADS * ROUNDS);
    return end_program();
}
