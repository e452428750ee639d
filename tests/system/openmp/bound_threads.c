/* Where the threads of regions may run, nested ones too, and how many the runtime would start by
 * itself. With MPI (-DWITH_MPI) rank by rank. */
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdio.h>

#ifdef WITH_MPI
#include <mpi.h>
#endif

enum { MOST = 16, TEXT = 200 };

static void put(char *out) {
    cpu_set_t set;
    char *end = out + TEXT;
    sched_getaffinity(0, sizeof set, &set);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &set))
            out += snprintf(out, (size_t)(end - out), "%s%d", cpu > 0 ? " " : "", cpu);
}

int main(int argc, char **argv) {
    static char by_itself[MOST][TEXT], nested[2][2][TEXT];
    int threads = 0, rank = 0, size = 1;
#ifdef WITH_MPI
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
#else
    (void)argc;
    (void)argv;
#endif
    int most = omp_get_max_threads(), processors = omp_get_num_procs();
#pragma omp parallel
    {
        if (omp_get_thread_num() < MOST)
            put(by_itself[omp_get_thread_num()]);
#pragma omp single
        threads = omp_get_num_threads();
    }
    omp_set_max_active_levels(2);
    /* libgomp leaves threads of a team with several in a place where they were in the next one. */
    int outer_threads = most > processors ? 1 : 2;
#pragma omp parallel num_threads(outer_threads)
    {
        int outer = omp_get_thread_num();
#pragma omp parallel num_threads(2)
        put(nested[outer][omp_get_thread_num()]);
    }
    for (int r = 0; r < size; r++) {
        if (r == rank) {
            printf("%d: at most %d threads, %d processors:", rank, most, processors);
            for (int t = 0; t < threads && t < MOST; t++)
                printf(" [%s]", by_itself[t]);
            printf("; nested [%s] [%s], [%s] [%s]\n", nested[0][0], nested[0][1], nested[1][0],
                   nested[1][1]);
            fflush(stdout);
        }
#ifdef WITH_MPI
        MPI_Barrier(MPI_COMM_WORLD);
#endif
    }
#ifdef WITH_MPI
    MPI_Finalize();
#endif
    return 0;
}
