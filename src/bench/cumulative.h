/* The metrics that the thesis tried for finding the end of the warm-up ([Roth 2021], equations 4.2
 * to 4.6), for comparison: each fills out[0..n). */
#ifndef LC_BENCH_CUMULATIVE_H
#define LC_BENCH_CUMULATIVE_H

#include <stddef.h>

#include "base/err.h"

enum { LC_RUNNING_WINDOW = 21 }; /* k, odd */

struct lc_cumulative {
    const char *name; /* as in runs.csv.zst */
    enum lc_err (*fill)(const double *runs, size_t n, double *out);
};

/* cumulative_mean, cumulative_median, cumulative_minimum, running_mean, running_median; the last
 * has no name. */
extern const struct lc_cumulative lc_cumulative[];

#endif
