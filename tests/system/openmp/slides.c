/* The experiment of the OTF-CPT slides: slides THREADS good|bad. One task of 0.1 s and 115 of
 * 0.02 s, created by one thread; the long one has the higher priority (good), or the others have
 * (bad). They sleep, so that two cores suffice. Measurement is switched on when the threads are
 * there; before the region the program sleeps 0.02 s: the long task's path takes 0.12 s, and what
 * the machine adds to it. Columns: highest priority, seconds of that path. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SMALL = 115, ROUND_MS = 20 };

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void rest(int ms) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += ms * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) != 0)
        ;
}

int main(int argc, char **argv) {
    int good = argc > 2 && strcmp(argv[2], "good") == 0, threads = argc > 2 ? atoi(argv[1]) : 2;
#pragma omp parallel num_threads(threads)
    {}
    double path = -now_s();
    omp_control_tool(omp_control_tool_start, 0, NULL);
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
            double begin = now_s();
            rest(5 * ROUND_MS);
            path += now_s() - begin;
        }
    }
    omp_control_tool(omp_control_tool_pause, 0, NULL); /* the threads' ends are no part of it */
    printf("%d %.6f\n", omp_get_max_task_priority(), path);
    return 0;
}
