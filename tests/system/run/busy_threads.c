/* Threads that compute, and others that hardly do: busy_threads BUSY IDLE ENDED [CPU..]. The first
 * thread is one of the busy ones; those of ENDED have computed as long and are over before
 * MPI_Finalize, which all others live to see. Each busy one binds itself to the CPU that stands for
 * it, the first to the first; those without one stay where they may run. */
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

enum { BUSY_MS = 200, IDLE_MS = 1, THREADS = 16 };

static pthread_barrier_t computed, finalized;

static void compute(long ms) {
    struct timespec used;
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    while (used.tv_sec * 1000 + used.tv_nsec / 1000000 < ms);
}

struct work {
    long ms;
    const char *cpu; /* NULL: any */
};

static void bind_to(const char *cpu) {
    cpu_set_t set;
    if (cpu == NULL)
        return;
    CPU_ZERO(&set);
    CPU_SET(atoi(cpu), &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        exit(1);
}

static void *busy(void *arg) {
    compute(BUSY_MS);
    return arg;
}

static void *stays(void *arg) {
    const struct work *work = arg;
    bind_to(work->cpu);
    compute(work->ms);
    pthread_barrier_wait(&computed);
    pthread_barrier_wait(&finalized);
    return NULL;
}

int main(int argc, char **argv) {
    struct work works[THREADS];
    pthread_t threads[THREADS], ended;
    int level, n = 0, counts[3] = {0};
    for (int i = 0; i < 3 && i + 1 < argc; i++)
        counts[i] = atoi(argv[i + 1]);
    if (counts[0] < 1 || counts[1] < 0 || counts[0] - 1 + counts[1] > THREADS ||
        MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS)
        return 1;
    int stay = counts[0] - 1 + counts[1];
    pthread_barrier_init(&computed, NULL, (unsigned)stay + 1);
    pthread_barrier_init(&finalized, NULL, (unsigned)stay + 1);
    for (; n < stay; n++) {
        bool is_busy = n < counts[0] - 1;
        works[n] = (struct work){is_busy ? BUSY_MS : IDLE_MS,
                                 is_busy && n + 5 < argc ? argv[n + 5] : NULL};
        if (pthread_create(&threads[n], NULL, stays, &works[n]) != 0)
            return 1;
    }
    for (int i = 0; i < counts[2]; i++)
        if (pthread_create(&ended, NULL, busy, NULL) != 0 || pthread_join(ended, NULL) != 0)
            return 1;
    bind_to(argc > 4 ? argv[4] : NULL); /* late: threads have the CPUs of the one that makes them */
    busy(NULL);
    pthread_barrier_wait(&computed);
    MPI_Finalize();
    pthread_barrier_wait(&finalized);
    while (n > 0)
        pthread_join(threads[--n], NULL);
    return 0;
}
