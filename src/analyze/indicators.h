/* What imbalance costs (docs/definitions/wait-states.md#5-indicators): the critical path against
 * the lives of all locations.
 *
 * Partitions: by default location p is in another partition than a call path if it never visits it.
 * With partitions given by the user: if p is in another partition than all locations where the call
 * path is on the critical path. */
#ifndef LC_ANALYZE_INDICATORS_H
#define LC_ANALYZE_INDICATORS_H

#include "analyze/critical_path.h"

/* In ticks, for the invariants. Activities: of this rank's locations; the others: of all ranks. */
struct lc_indicator_sums {
    int64_t activities_ticks; /* on and off the path */
    double intra, inter;
};

/* partition[location], dense from 0, or NULL. Publishes all metrics of sections 4 and 5.
 * Collective. Errors: LC_ERR_NOMEM, LC_ERR_RANGE. */
enum lc_err lc_indicators_run(const struct lc_critical_path *path, const uint32_t *partition,
                              struct lc_results *results, struct lc_indicator_sums *sums);

#endif
