/* Very many tasks: many stream|burst N. stream: created by one thread, run as they come; burst:
 * none runs before all are created, where the runtime lets so many be: with
 * KMP_ENABLE_TASK_THROTTLING=0. Columns: tasks that ran, that were there at once in a burst, KB
 * of memory after a tenth of them, and at most. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memory_kb.h"

static _Atomic long ran;
static long at_once;
static atomic_bool go, busy;

static void count(void) {
    atomic_fetch_add_explicit(&ran, 1, memory_order_relaxed);
}

static void stream(long n, long *early_kb) {
    for (long i = 0; i < n; i++) {
        if (i == n / 10)
            *early_kb = memory_kb("VmRSS:");
#pragma omp task
        count();
    }
}

/* The other thread waits in a task meanwhile. */
static void burst(long n, long *early_kb) {
#pragma omp task
    {
        atomic_store(&busy, 1);
        while (!atomic_load(&go))
            usleep(1000);
    }
    while (!atomic_load(&busy))
        usleep(1000);
    stream(n, early_kb);
    at_once = n - ran;
    atomic_store(&go, 1);
}

int main(int argc, char **argv) {
    long early_kb = 0, n = argc > 2 ? atol(argv[2]) : 1;
#pragma omp parallel num_threads(2)
#pragma omp master
    {
        if (argc > 1 && strcmp(argv[1], "burst") == 0)
            burst(n, &early_kb);
        else
            stream(n, &early_kb);
    }
    printf("%ld %ld %ld %ld\n", ran, at_once, early_kb, memory_kb("VmHWM:"));
    return 0;
}
