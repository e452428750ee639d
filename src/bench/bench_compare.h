/* Are two results of the micro-benchmark the same? docs/definitions/micro-benchmark.md, section 3.
 *
 * Repetitions depend on those before them, so blocks of them are drawn (circular block bootstrap);
 * the band holds for all quantiles at once, so that A against A is "same" in 95 % of all cases. */
#ifndef LC_BENCH_BENCH_COMPARE_H
#define LC_BENCH_BENCH_COMPARE_H

#include "bench/fingerprint.h"

enum lc_bench_verdict {
    LC_BENCH_SAME,
    LC_BENCH_TAIL,
    LC_BENCH_SHIFTED,
    LC_BENCH_MODES,
    LC_BENCH_NOT_COMPARABLE,
    LC_BENCH_VERDICTS
};
/* "same", "tail differs", "shifted", "modes differ", "not comparable". */
const char *lc_bench_verdict_name(enum lc_bench_verdict verdict);

enum { LC_COMPARED = 9 }; /* quantiles 5 10 25 40 50 60 75 90 95 % */
extern const double lc_compared_quantiles[LC_COMPARED];

struct lc_bench_pair {
    enum lc_bench_verdict verdict;
    const char *why;                            /* not comparable: a constant; else NULL */
    double a[LC_COMPARED], b[LC_COMPARED];      /* ns; first and warm-up left out */
    double shift[LC_COMPARED];                  /* b / a - 1 */
    double low[LC_COMPARED], high[LC_COMPARED]; /* simultaneous 95 % band of the shifts */
};

/* `seed`: of the draws. LC_ERR_NOMEM. */
enum lc_err lc_bench_compare(const struct lc_fingerprint *a, const struct lc_fingerprint *b,
                             uint64_t seed, struct lc_bench_pair *pair);

/* Metadata that differ: an array of {key, a, b}; a new reference. */
json_t *lc_bench_differences(const struct lc_fingerprint *a, const struct lc_fingerprint *b);

#endif
