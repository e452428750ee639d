/* Patterns over time in run times: something that comes again every so many repetitions, outliers
 * that come together ([Roth 2021], sections 4.4 and 4.7). */
#ifndef LC_BENCH_PATTERNS_H
#define LC_BENCH_PATTERNS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct lc_patterns {
    size_t period;                      /* repetitions; 0: none is seen */
    double autocorrelation;             /* at that distance */
    size_t outliers, clusters, largest; /* clusters of outliers, and those of the largest */
    double clusters_by_chance;          /* how many there would be of independent outliers */
    double clusters_p;                  /* that so few come about by chance; 1 of fewer than five */
};

/* Of run times (ns, [n], in the order of time) and their categories. A period is the first distance
 * at which deviations from the level repeat: its autocorrelation is at least 0.2 and 5.5 standard
 * errors of independent ones, a peak, and at least twice that at some smaller distance. Outliers
 * that lie three repetitions apart or less are one cluster; p: the binomial distribution of how
 * many have another one so near behind them. LC_ERR_NOMEM. */
enum lc_err lc_patterns_find(const double *runs, const uint8_t *category, size_t n,
                             struct lc_patterns *patterns);

#endif
