/* Regions of one thread whose constructs cost the tool too much, so that it measures them as a
 * whole, on the runtime of the program's compiler. Prints how often each thing was executed.
 *
 *   plain_regions ROUNDS */
#include <stdio.h>
#include <stdlib.h>

enum { TASKS = 3, TEAMS = 40, TEAM_TASKS = 4 };
static long regions, singles, barriers, criticals, tasks, shared, sections, inner;

__attribute__((noinline)) static void alone(void) {
#pragma omp parallel num_threads(1)
    {
        regions++;
#pragma omp single
        singles++;
#pragma omp barrier
        barriers++;
#pragma omp critical
        criticals++;
#pragma omp for schedule(dynamic)
        for (int i = 0; i < 4; i++)
            shared++;
#pragma omp sections
        {
#pragma omp section
            sections++;
#pragma omp section
            sections++;
        }
        for (int i = 0; i < TASKS; i++)
#pragma omp task
            tasks++;
#pragma omp taskwait
#pragma omp taskgroup
        {
#pragma omp task
            tasks++;
        }
    }
}

/* Two threads in a region of one. */
__attribute__((noinline)) static void nested(void) {
#pragma omp parallel num_threads(1)
#pragma omp parallel num_threads(2)
#pragma omp atomic
    inner++;
}

/* Tasks of two threads. */
__attribute__((noinline)) static void team(long *ran) {
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int i = 0; i < TEAM_TASKS; i++)
#pragma omp task
    {
#pragma omp atomic
        (*ran)++;
    }
}

int main(int argc, char **argv) {
    long ran = 0, rounds = argc > 1 ? atol(argv[1]) : 1;
    for (long i = 0; i < rounds; i++)
        alone();
    for (long i = 0; i < TEAMS; i++) {
        team(&ran);
        nested();
    }
    printf("alone %ld %ld %ld %ld %ld %ld %ld team %ld nested %ld\n", regions, singles, barriers,
           criticals, shared, sections, tasks, ran, inner);
    return 0;
}
