/* Time. Hot paths read ticks (lc_ticks: the processor's counter where it is invariant, else
 * CLOCK_MONOTONIC_RAW nanoseconds); everything else uses nanoseconds. lc_timer_init must have run
 * before lc_ticks is meaningful. */
#ifndef LC_BASE_TIMER_H
#define LC_BASE_TIMER_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/counter.h"

struct lc_timer {
    bool by_counter;     /* ticks are the processor's counter */
    double ns_per_tick;  /* 1 where ticks are nanoseconds */
    uint64_t base_ticks; /* the same instant on ... */
    uint64_t base_ns;    /* ... CLOCK_MONOTONIC_RAW */
};

extern struct lc_timer lc_timer;

/* Chooses the counter; LATECOMER_CLOCK=monotonic overrides. Cheap; the rate of the counter is
 * refined by lc_timer_calibrate. */
void lc_timer_init(void);

/* Measures the rate from the time passed since lc_timer_init (error: about 50 ns divided by that
 * time). */
void lc_timer_calibrate(void);

/* Time that nobody adjusts (CLOCK_MONOTONIC_RAW), ns. */
uint64_t lc_monotonic_raw_ns(void);
/* As lc_patience_ticks, ns. */
uint64_t lc_patience_ns(void);
/* What the calling thread has had of processors, ns. */
uint64_t lc_thread_cpu_ns(void);
/* Wall-clock time (CLOCK_REALTIME), ns since 1970. */
uint64_t lc_realtime_ns(void);

/* A clock that a test makes a process believe in: its time is ns * (1 + drift + curve * ns / 2) +
 * offset; all zero: the true one. */
struct lc_timer_bend {
    double offset_ns, drift, curve_per_ns;
};

/* From LATECOMER_TEST_CLOCK=offset_ns[,drift_ppm[,ppm_per_s]]. */
void lc_timer_bend_get(struct lc_timer_bend *bend);
double lc_timer_straight(const struct lc_timer_bend *bend, double bent_ns); /* the inverse */

static inline double lc_timer_bent(const struct lc_timer_bend *b, double ns) {
    return ns * (1 + b->drift + b->curve_per_ns * ns / 2) + b->offset_ns;
}

/* The counter, or this clock where there is none. */
__attribute__((always_inline)) static inline uint64_t lc_ticks_of(clockid_t clock) {
    if (__builtin_expect(lc_timer.by_counter, 1))
        return lc_counter_ticks();
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

__attribute__((always_inline)) static inline uint64_t lc_ticks(void) {
    return lc_ticks_of(CLOCK_MONOTONIC_RAW);
}

/* For limits of patience, and for nothing else: of another origin than lc_ticks. It goes on also
 * where a test gives the process another CLOCK_MONOTONIC_RAW (tests/virtual). */
static inline uint64_t lc_patience_ticks(void) {
    return lc_ticks_of(CLOCK_MONOTONIC);
}

/* lc_patience_ticks of an instant that lc_ticks has just read: the counter is not read again. */
static inline uint64_t lc_patience_at(uint64_t ticks) {
    return lc_timer.by_counter ? ticks : lc_patience_ticks();
}

#endif
