/* The global clock of the harness: that of rank 0. Ranks of a node share one counter and the model
 * of their lowest rank; lowest ranks are synchronised along a binomial tree, a child against its
 * parent's already global clock (HCA3, [Hunold and Carpen-Amarie 2018]): O(log p) rounds.
 *
 * A fit: points (local time, offset) of the fastest of some ping-pongs each; those whose round trip
 * is more than twice the fastest are dropped; a line by least squares. Its error at a time: half
 * the largest round trip used, thrice the standard error of the line there (Student's t for few
 * points), and the parent's. */
#ifndef LC_BENCH_HARNESS_CLOCK_FIT_H
#define LC_BENCH_HARNESS_CLOCK_FIT_H

#include <stdint.h>

#include "base/timer.h"
#include "bench/harness/own_messages.h"

struct lc_clock_model { /* global = local + offset + drift * (local - at) */
    double at, offset, drift;
    double half_trip;             /* ns, parent's included */
    double var_offset, var_drift; /* of the line, parent's included */
    double oldest;                /* global time from which on drift adds to the error: of all fits
                                     up to rank 0 */
};

struct lc_harness_clock {
    const struct lc_own *own;
    MPI_Comm leaders; /* one rank per node; MPI_COMM_NULL elsewhere */
    MPI_Comm node;
    int n_leaders;
    uint64_t base_ticks;
    double ns_per_tick;
    struct lc_timer_bend bend, bend_of_root; /* tests: LATECOMER_TEST_CLOCK */
    struct lc_clock_model model;
};

/* Collective: counters, nodes, the first fit. Ranks whose clock a test has bent are nodes of their
 * own. */
void lc_clock_begin(struct lc_harness_clock *clock, const struct lc_own *own);
/* Frees what lc_clock_begin made. Collective. */
void lc_clock_end(struct lc_harness_clock *clock);

struct lc_clock_checked {
    double at_ns;       /* global time of the measurement */
    double residual_ns; /* how far the global clock of this rank was behind rank 0's then */
    double error_ns;    /* at most: half a round trip */
    double truth_ns;    /* true error of a time that the residual corrects: tests (bent clocks) */
};

/* Collective: the global clock against rank 0's, by the fastest of some ping-pongs. */
void lc_clock_check(const struct lc_harness_clock *clock, struct lc_clock_checked *checked);

/* What the model says of its own error at a time, ns, thrice the standard error: how well ranks
 * begin together. Recorded times are corrected by lc_clock_check() and have its bound. */
double lc_clock_error(const struct lc_harness_clock *clock, double global_ns);

static inline double lc_clock_local(const struct lc_harness_clock *c, uint64_t ticks) {
    return lc_timer_bent(&c->bend, (double)(int64_t)(ticks - c->base_ticks) * c->ns_per_tick);
}

/* The global time at a local one. */
static inline double lc_clock_global_of(const struct lc_harness_clock *c, double local) {
    return local + c->model.offset + c->model.drift * (local - c->model.at);
}

/* ns since the base of rank 0. */
static inline double lc_clock_global(const struct lc_harness_clock *c, uint64_t ticks) {
    return lc_clock_global_of(c, lc_clock_local(c, ticks));
}

/* The ticks here at a global time. */
uint64_t lc_clock_ticks_at(const struct lc_harness_clock *clock, double global_ns);

#endif
