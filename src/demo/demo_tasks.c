/* What scheduling costs: latecomer-demo-tasks [THREADS [good|bad]], as the OTF-CPT slides have it.
 * One task of 0.1 s and 115 of 0.02 s, created by one thread; the long one has the higher priority
 * (good), or the others have (bad), where the runtime has priorities (OMP_MAX_TASK_PRIORITY=1).
 * They sleep, so that two cores suffice. Measured from when the threads are there until they are
 * through; before the tasks the program sleeps 0.02 s: on threads without limit it would take
 * 0.12 s, and what the machine adds to it, also as measurement begins and ends. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <latecomer.h>

enum { SMALL = 115, ROUND_MS = 20, LONG_ROUNDS = 5, THREADS = 4, MOST_THREADS = 1024 };

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

__attribute__((noinline)) static void rest(int ms) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += ms * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) != 0)
        ;
}

/* Returns how long the work before the long task (since `begin`), that task, and what comes after
 * the region took, until the measurement has ended. */
static double experiment(int threads, int good, double begin) {
    double path = -begin;
    latecomer_start();
    rest(ROUND_MS);
#pragma omp parallel num_threads(threads)
#pragma omp master
    {
        for (int i = 0; i < SMALL; i++) {
#pragma omp task priority(!good)
            rest(ROUND_MS);
        }
        path += now_s();
#pragma omp task priority(good) shared(path)
        {
            path -= now_s();
            rest(LONG_ROUNDS * ROUND_MS);
            path += now_s();
        }
    }
    path -= now_s();
    latecomer_stop();
    return path + now_s();
}

int main(int argc, char **argv) {
    int threads = argc > 1 ? atoi(argv[1]) : THREADS, good = argc > 2 && !strcmp(argv[2], "good");
    if (argc > 3 || threads < 1 || threads > MOST_THREADS ||
        (argc > 2 && !good && strcmp(argv[2], "bad") != 0)) {
        fprintf(stderr, "usage: %s [THREADS [good|bad]]\n", argv[0]);
        return 2;
    }
    latecomer_stop();
#pragma omp parallel num_threads(threads)
    {}
    double begin = now_s(), path = experiment(threads, good, begin), all = now_s() - begin;
    printf("%d threads, %s schedule: %.6f s; with threads without limit: %.6f s\n", threads,
           good ? "good" : "bad", all, path);
    if (omp_get_max_task_priority() == 0)
        printf("without priorities of tasks (OMP_MAX_TASK_PRIORITY=1) good and bad are the same\n");
    return 0;
}
