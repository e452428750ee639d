/* Several launches of the same benchmark: what they say about variants of it.
 *
 * Placement in memory, the processors chosen and the load of the machine differ between launches,
 * so that one launch says little, however many repetitions it has. Launches are made in rounds:
 * each variant once per round, in random order. What a round has in common (the load) then cancels
 * in the ratio of two variants of the same round. */
#ifndef LC_BENCH_LAUNCHES_H
#define LC_BENCH_LAUNCHES_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct lc_ratio {
    double value, low, high; /* of a to b; interval: infinite with fewer than two rounds */
    double t;                /* how many standard errors the logarithm is away from 0 */
};

/* Ratio of two variants that were launched in the same n rounds (n > 0, times > 0): exp of the mean
 * difference of logarithms, with Student's interval of that mean at `level`. */
struct lc_ratio lc_launches_ratio(const double *a, const double *b, size_t n, double level);

struct lc_ranked_variant {
    double median;         /* of its launches, in the unit of the times */
    size_t first, last;    /* places that it may have, from 1: those told faster, slower */
    struct lc_ratio ratio; /* to the variant that is first in the order */
};

/* Ranks variants: times[v * rounds + r] of variant v in round r; *ranked[n], order[n]: variants,
 * fastest mean logarithm first. Pairs are told apart at 5 % for all of them together (Holm 1979),
 * the intervals of the ratios hold at 95 % together (Bonferroni). LC_ERR_NOMEM. */
enum lc_err lc_launches_rank(const double *times, size_t n, size_t rounds,
                             struct lc_ranked_variant *ranked, size_t *order);

/* Puts 0 .. n - 1 into random order. */
void lc_launches_shuffle(size_t *items, size_t n, uint64_t *random);

#endif
