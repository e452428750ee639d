/* What reading counters does to the run times that they stand beside. Every k-th repetition has
 * counters; its neighbours have none, and tell how long it would have taken without. */
#ifndef LC_BENCH_PERTURBATION_H
#define LC_BENCH_PERTURBATION_H

#include <stddef.h>

#include "base/err.h"

struct lc_counted_series {
    double *runs; /* [n], ns */
    size_t *at;   /* [n] how many repetitions without counters came before; ascending */
    size_t n;
};

struct lc_perturbation {
    double change;              /* of the median by counters, relative; NAN: not known */
    double low, high;           /* 95 % interval; infinite of fewer than two blocks */
    double with_ns, without_ns; /* medians of the blocks' medians */
    size_t blocks;
};

enum { LC_PERTURBATION_LEAST = 4 };
/* Blocks of neighbouring repetitions, about twenty of them with at least LC_PERTURBATION_LEAST
 * counted ones each: exp of the mean logarithm of the ratio of their medians, less 1, with
 * Student's interval; blocks, because repetitions depend on those before them. `plain`: run times
 * [n] without counters, of which those before `from` are left out, and counted ones there, too.
 * LC_ERR_NOMEM. */
enum lc_err lc_perturbation_find(const double *plain, size_t n, size_t from,
                                 const struct lc_counted_series *counted,
                                 struct lc_perturbation *found);

#endif
