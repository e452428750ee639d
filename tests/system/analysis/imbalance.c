/* Four distributions of the same work (sleeping) over the ranks, a barrier after each iteration:
 *
 *     imbalance balanced|static|dynamic|mixed
 *
 * The longest rank of an iteration works 25 % more than the mean in all but the first.
 *   static    each rank deviates by a constant, from -25 % to +25 %
 *   dynamic   another rank is slow in each iteration; the sums over the iterations are equal
 *   mixed     one rank is slow in the first half, another one in the second; each works the mean in
 *             the other half
 * Prints a line per rank: how long it worked in each iteration and when it was done (ns), by its
 * own clock. */
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "latecomer.h"

enum { ITERATIONS = 16 };
static const double mean_ns = 60e6, excess = 0.25;

static long long now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* Work of a rank in an iteration, in units of the mean. */
static double share(const char *scenario, int rank, int size, int iteration) {
    if (strcmp(scenario, "static") == 0)
        return 1 + excess * (2.0 * rank / (size - 1) - 1);
    if (strcmp(scenario, "dynamic") == 0)
        return rank == iteration % size ? 1 + excess : 1 - excess / (size - 1);
    if (strcmp(scenario, "mixed") == 0) {
        int slow = 2 * iteration < ITERATIONS ? 1 : size - 2;
        return rank == slow                    ? 1 + excess
               : rank == 1 || rank == size - 2 ? 1
                                               : 1 - excess / (size - 2);
    }
    return 1;
}

static void work(double ns, long long *worked) {
    latecomer_begin("work");
    long long begin = now_ns(), end = begin + (long long)ns;
    struct timespec until = {end / 1000000000, end % 1000000000};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
    end = now_ns();
    latecomer_end("work");
    worked[0] = end - begin;
    worked[1] = end;
}

int main(int argc, char **argv) {
    int rank, size;
    long long worked[2 * ITERATIONS], *all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    all = calloc((size_t)size * 2 * ITERATIONS, sizeof *all);
    if (argc != 2 || all == NULL)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (int i = 0; i < ITERATIONS; i++) {
        work(mean_ns * share(argv[1], rank, size, i), worked + 2 * (ptrdiff_t)i);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    int n = 2 * ITERATIONS;
    MPI_Gather(worked, n, MPI_LONG_LONG, all, n, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
    for (int i = 0; i < size * n && rank == 0; i++)
        printf("%lld%c", all[i], (i + 1) % n ? ' ' : '\n');
    free(all);
    MPI_Finalize();
    return 0;
}
