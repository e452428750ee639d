/* How long the ranks of a program are outside of MPI, from the end of MPI_Init to the begin of
 * MPI_Finalize: two stamps per call and nothing else, to compare the tool's useful time with.
 * Preloaded; writes a line to stopwatch.PID in the working directory. Calls of all threads but the
 * one that called MPI_Init go past it.
 *
 * Every function takes and returns words, so that one wrapper does for all of them; MPI_Wtime and
 * MPI_Wtick return what words cannot hold. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef long words_fn(long, long, long, long, long, long, long, long, long, long, long, long, long,
                      long, long, long);
typedef double time_fn(void);

static __thread unsigned depth;
static __thread bool on;
static double last, useful;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Behind this library; Python's modules bring MPI where only they see it. */
static void *next_one(const char *name) {
    static const char *const libraries[] = {"libmpi.so.40", "libmpi_mpifh.so.40", "libmpich.so.12",
                                            "libmpichfort.so.12"};
    void *found = dlsym(RTLD_NEXT, name);
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries && found == NULL; i++) {
        void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);
        found = library != NULL ? dlsym(library, name) : NULL;
    }
    return found;
}

static void finish(void) {
    char name[64];
    on = false;
    snprintf(name, sizeof name, "stopwatch.%ld", (long)getpid());
    FILE *out = fopen(name, "w");
    if (out == NULL)
        return;
    fprintf(out, "%.9f\n", useful);
    fclose(out);
}

static void enter(const char *name) {
    if (depth++ > 0 || !on)
        return;
    useful += now() - last;
    if (strcasecmp(name, "MPI_Finalize") == 0 || strcasecmp(name, "MPI_Finalize_") == 0)
        finish();
}

static void leave(const char *name) {
    if (--depth > 0)
        return;
    if (strncasecmp(name, "MPI_Init", 8) == 0 && strncasecmp(name, "MPI_Initialized", 15) != 0)
        on = true;
    if (on)
        last = now();
}

#define WORDS(name)                                                                                \
    long name(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j,      \
              long k, long l, long m, long n, long o, long p);                                     \
    long name(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j,      \
              long k, long l, long m, long n, long o, long p) {                                    \
        static words_fn *real;                                                                     \
        if (real == NULL)                                                                          \
            *(void **)&real = next_one(#name);                                                     \
        enter(#name);                                                                              \
        long result = real(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p);                        \
        leave(#name);                                                                              \
        return result;                                                                             \
    }
#define SECONDS(name)                                                                              \
    double name(void);                                                                             \
    double name(void) {                                                                            \
        static time_fn *real;                                                                      \
        if (real == NULL)                                                                          \
            *(void **)&real = next_one(#name);                                                     \
        enter(#name);                                                                              \
        double result = real();                                                                    \
        leave(#name);                                                                              \
        return result;                                                                             \
    }

#include "stopwatch_calls.h"
