/* Where analyses put their numbers: (metric, call path, location) -> value. Each value is added by
 * the analysis rank that owns the location, in an order that does not depend on the number of
 * ranks. Ticks stay integers until they are written (exact sums); costs are doubles. */
#ifndef LC_ANALYZE_RESULTS_H
#define LC_ANALYZE_RESULTS_H

#include <stdint.h>

#include "base/err.h"

struct lc_results;

/* No metrics yet; lc_results_free frees it. LC_ERR_NOMEM. */
enum lc_err lc_results_new(struct lc_results **results);
/* NULL is allowed. */
void lc_results_free(struct lc_results *results);

/* A metric of model/metrics.h that this analysis computes, even if it is zero everywhere; the same
 * order on all ranks. Returns a dense handle. Errors: LC_ERR_NOMEM. */
enum lc_err lc_results_metric(struct lc_results *results, const char *name, uint32_t *handle);
/* Integer unit of the metric: ticks (written as seconds) or counts, by the unit in the table. A
 * metric takes either ints or reals, never both. Errors: LC_ERR_NOMEM, LC_ERR_RANGE. */
enum lc_err lc_results_add_int(struct lc_results *results, uint32_t handle, uint32_t cnode,
                               uint32_t location, int64_t value);
/* Adds ticks with a fraction to a real metric. Errors: LC_ERR_NOMEM, LC_ERR_RANGE. */
enum lc_err lc_results_add_ticks_real(struct lc_results *results, uint32_t handle, uint32_t cnode,
                                      uint32_t location, double ticks);

#endif
