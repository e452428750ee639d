/* Quantiles of run times that depend on those before them. Neighbouring repetitions are alike, so n
 * of them tell as much as fewer independent ones. */
#ifndef LC_BENCH_DEPENDENT_H
#define LC_BENCH_DEPENDENT_H

#include <stddef.h>

#include "base/err.h"

struct lc_quantile_interval {
    double value, low, high; /* 95 % */
    double effective;        /* number of independent repetitions that tell as much */
};

/* The quantile q of runs in the order in which they were taken; n > 0. The interval is that of
 * order statistics for the effective number, which comes from the autocorrelation of "is not above
 * the quantile", summed as long as pairs of lags are positive (Geyer 1992). LC_ERR_NOMEM. */
enum lc_err lc_dependent_quantile(const double *runs, size_t n, double q,
                                  struct lc_quantile_interval *interval);

/* Repetitions per block for a block bootstrap of these runs: 1.5 n^(1/3), or four times the time
 * within which the median forgets itself; at most n / 8. LC_ERR_NOMEM. */
enum lc_err lc_block_length(const double *runs, size_t n, size_t *length);

#endif
