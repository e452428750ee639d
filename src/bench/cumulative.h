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

enum { LC_CURVE_POINTS = 200 };
struct lc_curve { /* a metric to be drawn */
    size_t n;
    size_t at[LC_CURVE_POINTS];    /* repetitions: the first, the last, and some between */
    double value[LC_CURVE_POINTS]; /* ns */
    /* ns; its change from a repetition to the next (equation 4.1): of all since the point before
     * the one that is farthest from 0 */
    double delta[LC_CURVE_POINTS];
};

/* The curve of a metric of n > 0 run times. LC_ERR_NOMEM. */
enum lc_err lc_curve_of(const struct lc_cumulative *metric, const double *runs, size_t n,
                        struct lc_curve *curve);

#endif
