/* A team whose threads run `light` and `heavy`, one to three, 40 times; prints what each took of
 * all threads, in seconds of their processors. */
#include <omp.h>
#include <stdio.h>
#include <time.h>

static volatile double sink;

#define KERNEL(name)                                                                               \
    __attribute__((noinline)) void name(long n);                                                   \
    void name(long n) {                                                                            \
        double x = 1;                                                                              \
        for (long i = 0; i < n; i++)                                                               \
            x = x * 1.0000001 + 1e-9;                                                              \
        sink = x;                                                                                  \
    }
KERNEL(light)
KERNEL(heavy)

static double cpu_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(void) {
    double spent[2] = {0, 0};
    for (int i = 0; i < 40; i++) {
#pragma omp parallel num_threads(2) reduction(+ : spent[:2])
        {
            double begin = cpu_s();
            light(1500000);
            double middle = cpu_s();
            heavy(4500000);
            spent[0] += middle - begin;
            spent[1] += cpu_s() - middle;
        }
    }
    printf("%.6f %.6f\n", spent[0], spent[1]);
    return 0;
}
