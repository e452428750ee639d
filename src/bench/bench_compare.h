/* Are two results of the micro-benchmark the same? docs/definitions/micro-benchmark.md, section 3.
 *
 * Repetitions depend on those before them, so blocks of them are drawn (circular block bootstrap);
 * the band holds for all quantiles of all pairs at once, so that A against A is "same" in 95 % of
 * all cases, of however many operations and sizes they are. */
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
/* "same", "tail differs", "shifted", "modes differ" or "not comparable"; static. */
const char *lc_bench_verdict_name(enum lc_bench_verdict verdict);

enum { LC_COMPARED = 9 }; /* quantiles 5 10 25 40 50 60 75 90 95 % */
extern const double lc_compared_quantiles[LC_COMPARED];

struct lc_bench_pair {
    enum lc_bench_verdict verdict;
    const char *why;                            /* not comparable: a constant; else NULL */
    double a[LC_COMPARED], b[LC_COMPARED];      /* ns; first and warm-up left out */
    double shift[LC_COMPARED];                  /* b / a - 1 */
    double low[LC_COMPARED], high[LC_COMPARED]; /* simultaneous 95 % band of the shifts; infinite
                                                   where too few repetitions lie beyond */
    size_t launches[2];                         /* of A and B */
    bool launches_guessed;                      /* too few to know how much launches differ */
    bool one_after_other;                       /* several each, all of one side came first */
    enum lc_bench_verdict verdict_within;       /* one each: if launches did not differ at all */
};

/* Of one series each, as if there were no other launches. `seed`: of the draws; `pairs`: that are
 * compared, for all of which together the bands hold (Bonferroni). LC_ERR_NOMEM. */
enum lc_err lc_bench_compare(const struct lc_fingerprint *a, const struct lc_fingerprint *b,
                             uint64_t seed, size_t pairs, struct lc_bench_pair *pair);

/* The part of it that compare_launches.c shares: the verdict that follows from shifts and their
 * band. */
enum lc_bench_verdict lc_bench_judge(const struct lc_modes *a, const struct lc_modes *b,
                                     const struct lc_bench_pair *pair);
/* Whether B takes longer at some quantiles and less at others ([Roth 2021], figure 4.18). */
bool lc_bench_crosses(const struct lc_bench_pair *pair);
/* Normal quantile of so many pairs of series: bounds that far out hold for all of their quantiles
 * together, on both sides. 2.77 for one pair. */
double lc_compared_normal(size_t pairs);
/* As how many independent repetitions these n tell, of each quantile: as lc_dependent_quantile()
 * says of the median and, in the upper part, of the tail. LC_ERR_NOMEM. */
enum lc_err lc_compared_effective(const double *runs, size_t n, double effective[LC_COMPARED]);
/* Where each quantile may lie by so many repetitions, as logarithms of order statistics, z standard
 * errors away. Infinite where these are not in the data. */
void lc_compared_bounds(const double *sorted, size_t n, double z,
                        const double effective[LC_COMPARED], double low[LC_COMPARED],
                        double high[LC_COMPARED]);
/* Why these two cannot be compared (a constant), or NULL. */
const char *lc_bench_why_not(const struct lc_fingerprint *a, const struct lc_fingerprint *b);

/* Metadata that differ: an array of {key, a, b}; a new reference. */
json_t *lc_bench_differences(const struct lc_fingerprint *a, const struct lc_fingerprint *b);

#endif
