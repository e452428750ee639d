/* Nanoseconds per construct of OpenMP, 2 threads: medians of 21 samples, as EPCC's benchmarks
 * measure them. Columns: name, ns. With NAME SAMPLES: nothing but that construct, so often, for
 * whoever counts instructions; columns: name, constructs. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SAMPLES = 21, N = 2000 };
static volatile int sink;
static double samples[SAMPLES];

static double now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void touch(int i) {
    sink = i;
}

static void regions(void) {
    for (int i = 0; i < N; i++) {
#pragma omp parallel
        touch(i);
    }
}

static void barriers(void) {
#pragma omp parallel
    for (int i = 0; i < N; i++) {
#pragma omp barrier
    }
}

static void singles(void) {
#pragma omp parallel
    for (int i = 0; i < N; i++) {
#pragma omp single
        touch(i);
    }
}

static void criticals(void) {
#pragma omp parallel
    for (int i = 0; i < N / 2; i++) {
#pragma omp critical
        touch(i);
    }
}

static void tasks_of_one(void) {
#pragma omp parallel
#pragma omp master
    for (int i = 0; i < N; i++) {
#pragma omp task
        touch(i);
    }
}

static void tasks_of_all(void) {
#pragma omp parallel
    for (int i = 0; i < N / 2; i++) {
#pragma omp task
        touch(i);
    }
}

static void taskwaits(void) {
#pragma omp parallel
    for (int i = 0; i < N / 2; i++) {
#pragma omp task
        touch(i);
#pragma omp taskwait
    }
}

static void chain(void) {
    int link = 0;
    (void)link;
#pragma omp parallel
#pragma omp master
    for (int i = 0; i < N; i++) {
#pragma omp task depend(inout : link)
        touch(i);
    }
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(const char *name, void (*what)(void)) {
    what();
    for (int s = 0; s < SAMPLES; s++) {
        double begin = now_ns();
        what();
        samples[s] = (now_ns() - begin) / N;
    }
    qsort(samples, SAMPLES, sizeof samples[0], compare);
    printf("%s %.0f\n", name, samples[SAMPLES / 2]);
}

static const struct {
    const char *name;
    void (*what)(void);
} constructs[] = {{"parallel", regions},
                  {"barrier", barriers},
                  {"single", singles},
                  {"critical", criticals},
                  {"task_one_producer", tasks_of_one},
                  {"task_all_produce", tasks_of_all},
                  {"taskwait", taskwaits},
                  {"dependence_chain", chain}};

int main(int argc, char **argv) {
    omp_set_num_threads(2);
    for (size_t i = 0; i < sizeof constructs / sizeof *constructs; i++) {
        if (argc < 3) {
            measure(constructs[i].name, constructs[i].what);
        } else if (strcmp(argv[1], constructs[i].name) == 0) {
            for (int s = 0; s < atoi(argv[2]); s++)
                constructs[i].what();
            printf("%s %d\n", argv[1], N * atoi(argv[2]));
        }
    }
    return 0;
}
