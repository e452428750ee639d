/* Very many threads, one after the other, each of which calls MPI once: ended_threads N mpi|omp.
 * omp: each has a region of OpenMP of its own, too. Columns: memory in KB when a third of them has
 * ended, and when all have; page faults in between. */
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "../openmp/memory_kb.h"

static int with_openmp;
static atomic_int shares;

static void *one(void *arg) {
    int rank;
    if (with_openmp) {
#pragma omp parallel num_threads(2)
        atomic_fetch_add(&shares, 1);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return arg;
}

static long n_threads(void) {
    return memory_kb("Threads:"); /* that line has a number without a unit */
}

/* libgomp's worker may outlive the thread that had it: each pair of them ends before the next one
 * begins. */
static int run(int n) {
    const struct timespec nap = {.tv_nsec = 50000};
    long before = n_threads();
    for (int i = 0; i < n; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, one, NULL) != 0 || pthread_join(thread, NULL) != 0)
            return 0;
        while (n_threads() > before)
            nanosleep(&nap, NULL);
    }
    return 1;
}

static long faults(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}

int main(int argc, char **argv) {
    int level, n = argc > 1 ? atoi(argv[1]) : 3;
    with_openmp = argc > 2 && strcmp(argv[2], "omp") == 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (level != MPI_THREAD_MULTIPLE || !run(n / 3))
        return 1;
    long kb = memory_kb("VmRSS:"), n_faults = faults();
    if (!run(n - n / 3))
        return 1;
    printf("%ld %ld %ld\n", kb, memory_kb("VmRSS:"), faults() - n_faults);
    MPI_Finalize();
    return with_openmp && shares != 2 * n;
}
