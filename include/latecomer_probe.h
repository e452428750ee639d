/* Probes: counters and timers for any layer below a benchmark: an MPI library, a driver, a message
 * layer. No MPI, no dependency but the C library; one header.
 *
 * A table names them; it stands before every inclusion, so best in a header of your own:
 *
 *   #define LATECOMER_PROBES(COUNTER, TIMER) COUNTER(slots) TIMER(grow_pool)
 *   #include "latecomer_probe.h"
 *
 *   LATECOMER_PROBE_TABLE;               in one source file of the library: the memory behind it
 *
 *   latecomer_probe_count(latecomer_probe_slots);
 *   latecomer_probe_start(latecomer_probe_grow_pool);
 *   ...
 *   latecomer_probe_stop(latecomer_probe_grow_pool);       time adds up within a repetition
 *
 * Each library has a table of its own, however many of them are in a process. Two layers in one
 * library or program have names, which are in the names of their probes, too:
 *
 *   #define LATECOMER_PROBE_LAYER ring   before the inclusion
 *
 * A table reports to the program when its library is loaded, and when it is unloaded:
 *
 *   void latecomer_probe_register(struct latecomer_probe_table *table);
 *   void latecomer_probe_unregister(struct latecomer_probe_table *table);
 *
 * are called if the program that measures defines and exports them (gcc -rdynamic); libraries find
 * them also where they are opened with RTLD_LOCAL. Who measures says which repetition it is:
 *
 *   table->nanoseconds = 1;                timers by CLOCK_MONOTONIC_RAW, else the processor's
 *   latecomer_probe_open(table, 1000);     memory for so many; 0: done
 *   latecomer_probe_repetition(table, i);  ..; -1: nothing is recorded from here on
 *   latecomer_probe_value(table, i, m);    over all threads; timers: ticks
 *
 * `latecomer bench` does so with each table, and correlates each probe with the run time. Before
 * the first repetition nothing is recorded. A stop without a start, and a start of a timer that
 * runs, are counted as unbalanced and change nothing else. Each thread has its own memory; threads
 * beyond LATECOMER_PROBE_THREADS are counted as lost. A disabled probe costs one predictable
 * branch. */
#ifndef LATECOMER_PROBE_H
#define LATECOMER_PROBE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { LATECOMER_PROBE_VERSION = 3, LATECOMER_PROBE_THREADS = 64, LATECOMER_PROBE_MOST = 64 };

struct latecomer_probe_table {
    int version, n;          /* probes */
    const char *layer;       /* its name, or "" */
    const char *const *name; /* [n] */
    const char *timer;       /* [n]: 1: its values are ticks */
    int nanoseconds;         /* ticks are those of CLOCK_MONOTONIC_RAW */
    int64_t now;             /* repetition, or -1 */
    int64_t repetitions;
    int threads;                              /* that have taken a part of the memory */
    int64_t *values[LATECOMER_PROBE_THREADS]; /* [repetitions][n] each */
    int64_t unbalanced, lost;                 /* starts and stops; records of threads too many */
};

/* Ticks of timers: the processor's counter; nanoseconds where it has none, or where who measures
 * says that it does not run evenly. */
static inline int64_t latecomer_probe_clock(const struct latecomer_probe_table *t) {
    struct timespec now;
#if defined(__x86_64__)
    if (__builtin_expect(!t->nanoseconds, 1))
        return (int64_t)__builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    if (__builtin_expect(!t->nanoseconds, 1)) {
        int64_t ticks;
        __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
        return ticks;
    }
#else
    (void)t;
#endif
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Memory for repetitions 0 .. n - 1 of all threads; nothing is recorded yet. To be called when no
 * other thread is in a probe. -1: not enough memory. */
static inline int latecomer_probe_open(struct latecomer_probe_table *t, int64_t n) {
    t->now = -1;
    free(t->values[0]);
    size_t each = (size_t)n * (size_t)t->n;
    int64_t *all = (int64_t *)calloc(each * LATECOMER_PROBE_THREADS + 1, sizeof *all);
    t->repetitions = all != NULL ? n : 0;
    for (int i = 0; i < LATECOMER_PROBE_THREADS; i++)
        t->values[i] = all != NULL ? all + (size_t)i * each : NULL;
    return all != NULL ? 0 : -1;
}

/* From here on records belong to repetition i; -1, or one that has no memory: none. */
static inline void latecomer_probe_repetition(struct latecomer_probe_table *t, int64_t i) {
    __atomic_store_n(&t->now, i >= 0 && i < t->repetitions ? i : -1, __ATOMIC_RELEASE);
}

/* Of probe m in repetition i, over all threads. */
static inline int64_t latecomer_probe_value(const struct latecomer_probe_table *t, int64_t i,
                                            int m) {
    int64_t sum = 0;
    for (int k = 0; k < t->threads && k < LATECOMER_PROBE_THREADS; k++)
        sum += t->values[k][i * t->n + m];
    return sum;
}

/* Values of repetition i become 0. */
static inline void latecomer_probe_clear(struct latecomer_probe_table *t, int64_t i) {
    for (int k = 0; k < t->threads && k < LATECOMER_PROBE_THREADS; k++)
        memset(t->values[k] + i * t->n, 0, (size_t)t->n * sizeof(int64_t));
}

/* Where a table reports; NULL in a program that does not measure. */
extern void latecomer_probe_register(struct latecomer_probe_table *table)
    __attribute__((weak, visibility("default")));
extern void latecomer_probe_unregister(struct latecomer_probe_table *table)
    __attribute__((weak, visibility("default")));

#ifdef LATECOMER_PROBES

/* Names for the linker, so that layers of one library have memory of their own. */
#define LATECOMER_PROBE_STRING_(text) #text
#define LATECOMER_PROBE_STRING(text)  LATECOMER_PROBE_STRING_(text)
#ifdef LATECOMER_PROBE_LAYER
#define LATECOMER_PROBE_LAYER_NAME   LATECOMER_PROBE_STRING(LATECOMER_PROBE_LAYER)
#define LATECOMER_PROBE_SYMBOL(name) __asm__(name "_" LATECOMER_PROBE_LAYER_NAME)
#else
#define LATECOMER_PROBE_LAYER_NAME   ""
#define LATECOMER_PROBE_SYMBOL(name) __asm__(name)
#endif

#define LATECOMER_PROBE_ENUM(probe) latecomer_probe_##probe,
enum { LATECOMER_PROBES(LATECOMER_PROBE_ENUM, LATECOMER_PROBE_ENUM) LATECOMER_PROBE_N };

/* Hidden: the dynamic linker would give all libraries that of the first. */
#define LATECOMER_PROBE_OWN(name) LATECOMER_PROBE_SYMBOL(name) __attribute__((visibility("hidden")))
extern struct latecomer_probe_table
    latecomer_probe_table LATECOMER_PROBE_OWN("latecomer_probe_table");
/* 0: not yet known, else its place + 1 */
extern __thread int latecomer_probe_thread LATECOMER_PROBE_OWN("latecomer_probe_thread");
/* [n] ticks; 0: does not run */
extern __thread int64_t latecomer_probe_started[] LATECOMER_PROBE_OWN("latecomer_probe_started");

#define LATECOMER_PROBE_NAME(probe)   #probe,
#define LATECOMER_PROBE_COUNTS(probe) 0,
#define LATECOMER_PROBE_TIMES(probe)  1,
/* The memory behind the table, and who reports it. */
#define LATECOMER_PROBE_TABLE                                                                      \
    static const char *const latecomer_probe_names[] = {                                           \
        LATECOMER_PROBES(LATECOMER_PROBE_NAME, LATECOMER_PROBE_NAME)};                             \
    static const char latecomer_probe_timers[] = {                                                 \
        LATECOMER_PROBES(LATECOMER_PROBE_COUNTS, LATECOMER_PROBE_TIMES)};                          \
    __thread int latecomer_probe_thread;                                                           \
    __thread int64_t latecomer_probe_started[LATECOMER_PROBE_N];                                   \
    struct latecomer_probe_table latecomer_probe_table = {LATECOMER_PROBE_VERSION,                 \
                                                          LATECOMER_PROBE_N,                       \
                                                          LATECOMER_PROBE_LAYER_NAME,              \
                                                          latecomer_probe_names,                   \
                                                          latecomer_probe_timers,                  \
                                                          0,                                       \
                                                          -1,                                      \
                                                          0,                                       \
                                                          0,                                       \
                                                          {NULL},                                  \
                                                          0,                                       \
                                                          0};                                      \
    __attribute__((constructor)) static void latecomer_probe_loaded(void) {                        \
        if (latecomer_probe_register != NULL)                                                      \
            latecomer_probe_register(&latecomer_probe_table);                                      \
    }                                                                                              \
    __attribute__((destructor)) static void latecomer_probe_unloaded(void) {                       \
        if (latecomer_probe_unregister != NULL)                                                    \
            latecomer_probe_unregister(&latecomer_probe_table);                                    \
    }                                                                                              \
    struct latecomer_probe_table /* so that a semicolon follows */

/* Adds to a probe of the current repetition. */
static inline void latecomer_probe_add(int m, int64_t n) {
    struct latecomer_probe_table *t = &latecomer_probe_table;
    int64_t now = __atomic_load_n(&t->now, __ATOMIC_RELAXED);
    if (__builtin_expect(now < 0, 1))
        return;
    if (latecomer_probe_thread == 0)
        latecomer_probe_thread = __atomic_add_fetch(&t->threads, 1, __ATOMIC_RELAXED);
    if (latecomer_probe_thread > LATECOMER_PROBE_THREADS)
        __atomic_add_fetch(&t->lost, 1, __ATOMIC_RELAXED);
    else
        t->values[latecomer_probe_thread - 1][now * LATECOMER_PROBE_N + m] += n;
}

static inline void latecomer_probe_count(int m) {
    latecomer_probe_add(m, 1);
}

static inline void latecomer_probe_start(int m) {
    if (__builtin_expect(__atomic_load_n(&latecomer_probe_table.now, __ATOMIC_RELAXED) < 0, 1))
        return;
    if (latecomer_probe_started[m] != 0)
        __atomic_add_fetch(&latecomer_probe_table.unbalanced, 1, __ATOMIC_RELAXED);
    else
        latecomer_probe_started[m] = latecomer_probe_clock(&latecomer_probe_table);
}

static inline void latecomer_probe_stop(int m) {
    if (__builtin_expect(__atomic_load_n(&latecomer_probe_table.now, __ATOMIC_RELAXED) < 0, 1)) {
        latecomer_probe_started[m] = 0; /* began in a repetition that is over */
        return;
    }
    if (latecomer_probe_started[m] == 0) {
        __atomic_add_fetch(&latecomer_probe_table.unbalanced, 1, __ATOMIC_RELAXED);
        return;
    }
    latecomer_probe_add(m,
                        latecomer_probe_clock(&latecomer_probe_table) - latecomer_probe_started[m]);
    latecomer_probe_started[m] = 0;
}

#endif

#ifdef __cplusplus
}
#endif

#endif
