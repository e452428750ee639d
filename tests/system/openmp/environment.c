/* What a program can see of its OpenMP runtime under the variables of its environment: settings,
 * threads and where each may run, nested regions, and which thread gets which iteration. Where the
 * runtime may choose (OMP_DYNAMIC, dynamic schedules), only what does not depend on the moment. */
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdio.h>

enum { MOST = 64, ITERATIONS = 24 };

static void put_cpus(char *text, size_t bytes) {
    cpu_set_t cpus;
    size_t n = 0;
    CPU_ZERO(&cpus);
    sched_getaffinity(0, sizeof cpus, &cpus);
    for (int cpu = 0; cpu < CPU_SETSIZE && n + 8 < bytes; cpu++)
        if (CPU_ISSET(cpu, &cpus))
            n += (size_t)snprintf(text + n, bytes - n, " %d", cpu);
}

static void threads(void) {
    static char cpus[MOST][256];
    static int inner[MOST];
    int n = 0;
#pragma omp parallel
    {
        int own = omp_get_thread_num();
        if (own < MOST)
            put_cpus(cpus[own], sizeof cpus[own]);
#pragma omp single
        n = omp_get_num_threads();
#pragma omp parallel num_threads(2)
#pragma omp atomic
        inner[own % MOST] += omp_get_num_threads() * 10 + omp_get_level();
    }
    for (int i = 0; i < n && i < MOST; i++)
        printf("thread %d of %d: cpus%s, inner %d\n", i, n, cpus[i], inner[i]);
}

static void iterations(int follow) {
    int by[ITERATIONS], sum = 0;
#pragma omp parallel for schedule(runtime) num_threads(3) reduction(+ : sum)
    for (int i = 0; i < ITERATIONS; i++) {
        by[i] = omp_get_thread_num();
        sum += i;
    }
    printf("sum %d by", sum);
    for (int i = 0; i < ITERATIONS && follow; i++)
        printf(" %d", by[i]);
    printf("\n");
}

int main(void) {
    omp_sched_t kind;
    int chunk;
    omp_get_schedule(&kind, &chunk);
    printf("schedule %u,%d dynamic %d levels %d limit %d cancellation %d bind %d threads %d procs "
           "%d places "
           "%d\n",
           (unsigned)kind, chunk, omp_get_dynamic(), omp_get_max_active_levels(),
           omp_get_thread_limit(), omp_get_cancellation(), (int)omp_get_proc_bind(),
           omp_get_dynamic() ? 0 : omp_get_max_threads(), omp_get_num_procs(),
           omp_get_num_places());
    if (!omp_get_dynamic())
        threads();
    iterations(!omp_get_dynamic() && ((unsigned)kind & 0xffff) == omp_sched_static);
    return 7;
}
