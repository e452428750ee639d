/* What random programs found wrong in the waiting that `analyze` finds, each as small as it gets.
 * Working means that virtual time passes. */
#include <stdio.h>

static long total;

void sim_work(unsigned long long ns);

static void work(int n) {
    sim_work(100ull * n);
    __atomic_fetch_add(&total, n, __ATOMIC_RELAXED);
}

/* Tasks that wait for others as soon as they begin, inside of a wait. */
static void waits_at_once(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskgroup
    for (int i = 0; i < 3; i++) {
#pragma omp task
        {
#pragma omp task
            work(20 + i);
#pragma omp task
            work(30);
#pragma omp taskwait
        }
    }
}

/* A thread in a barrier begins a task long after its creation, when what it depends on ends. */
static void begins_later(void) {
    char at = 0;
    (void)at;
    for (int i = 0; i < 8; i++) {
#pragma omp parallel num_threads(3)
#pragma omp single
        {
            work(5);
#pragma omp task depend(out : at)
            work(35);
#pragma omp task depend(in : at)
            work(1);
#pragma omp task depend(in : at)
            work(17);
#pragma omp taskwait
        }
    }
}

/* A taskgroup waits for none of the tasks that are made after it. */
static void empty_taskgroup(void) {
#pragma omp parallel num_threads(2)
#pragma omp master
    for (int i = 0; i < 3; i++) {
#pragma omp taskgroup
        work(1);
#pragma omp task
        work(0);
#pragma omp taskwait
    }
}

int main(void) {
    waits_at_once();
    begins_later();
    empty_taskgroup();
    printf("%ld\n", total);
    return 0;
}
