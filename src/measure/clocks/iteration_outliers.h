/* Iterations of a loop that took longer than usual: those at its begin, and the costliest others.
 */
#ifndef LC_MEASURE_CLOCKS_ITERATION_OUTLIERS_H
#define LC_MEASURE_CLOCKS_ITERATION_OUTLIERS_H

#include <stddef.h>
#include <stdint.h>

#include "format/facts.h"

/* Sets median_s, warm_up, n_runs and runs of the loop from the n > 0 times of its iterations and
 * the ranks that worked longest in each. Without memory they stay 0. */
void lc_iterations_outliers(const double *elapsed_s, const int32_t *who, size_t n,
                            struct lc_fact_loop *loop);

#endif
