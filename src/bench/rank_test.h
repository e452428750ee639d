/* Are values of one kind larger than those of another? The rank test of Mann and Whitney (1947). */
#ifndef LC_BENCH_RANK_TEST_H
#define LC_BENCH_RANK_TEST_H

#include <stddef.h>

#include "base/err.h"

struct lc_rank_test_result {
    double superiority; /* share of the pairs in which the first is larger; equal ones count half */
    double p; /* that this much comes about by chance (or more), if values are independent and
                         alike; normal approximation with ties; 1 where all are equal */
    double p_any_way; /* the same, in either direction */
};

/* a[n] against b[m], both at least one. LC_ERR_NOMEM. */
enum lc_err lc_rank_test(const double *a, size_t n, const double *b, size_t m,
                         struct lc_rank_test_result *test);

#endif
