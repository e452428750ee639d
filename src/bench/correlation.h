/* Correlation of a counter with the run time. */
#ifndef LC_BENCH_CORRELATION_H
#define LC_BENCH_CORRELATION_H

#include <stddef.h>

#include "base/err.h"

struct lc_correlation {
    double pearson, spearman; /* NAN where one of both is constant, or of fewer than 3 pairs */
};

/* Correlation of x and y, n values each, with its significance. Errors: LC_ERR_NOMEM. */
enum lc_err lc_correlate(const double *x, const double *y, size_t n, struct lc_correlation *result);

#endif
