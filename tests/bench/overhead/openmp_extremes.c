/* Many of something in OpenMP: openmp_extremes nested|threads|tasks N. nested: regions of two
 * threads inside of one, N of them; threads: N threads that end after one region; tasks: N, one
 * after the other. Columns: ns for each, KB of memory after a tenth of them, and at most. */
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../system/openmp/memory_kb.h"

static volatile int sink;
static long early_kb;

static double now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void touch(long i) {
    sink = (int)i;
}

static void look(long i, long n) {
    if (i == n / 10)
        early_kb = memory_kb("VmRSS:");
}

static void nested(long n) {
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
#pragma omp master
    for (long i = 0; i < n; i++) {
        look(i, n);
#pragma omp parallel num_threads(2)
        touch(i);
    }
}

static void *short_thread(void *unused) {
#pragma omp parallel num_threads(1)
    touch(0);
    return unused;
}

static void threads(long n) {
    for (long i = 0; i < n; i++) {
        pthread_t thread;
        look(i, n);
        if (pthread_create(&thread, NULL, short_thread, NULL) == 0)
            pthread_join(thread, NULL);
    }
}

static void tasks(long n) {
#pragma omp parallel num_threads(2)
#pragma omp master
    for (long i = 0; i < n; i++) {
        look(i, n);
#pragma omp task
        touch(i);
    }
}

int main(int argc, char **argv) {
    long n = argc > 2 ? atol(argv[2]) : 1;
    double begin = now_ns();
    if (argc > 1)
        (strcmp(argv[1], "nested") == 0    ? nested
         : strcmp(argv[1], "threads") == 0 ? threads
                                           : tasks)(n);
    printf("%.0f %ld %ld\n", (now_ns() - begin) / (double)n, early_kb, memory_kb("VmHWM:"));
    return 0;
}
