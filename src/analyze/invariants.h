/* The checks at the end of every run (docs/definitions/wait-states.md#6-invariants), over all
 * ranks: conservation of costs, classification, blame, the length of the critical path, indicators,
 * and that wait states do not overlap. */
#ifndef LC_ANALYZE_INVARIANTS_H
#define LC_ANALYZE_INVARIANTS_H

#include "analyze/costs.h"
#include "analyze/indicators.h"
#include "base/strbuf.h"

/* JSON and lines for people on rank 0. Collective. Errors: LC_ERR_NOMEM. */
enum lc_err lc_invariants_check(const struct lc_costs *costs, const struct lc_critical_path *path,
                                const struct lc_indicator_sums *sums, struct lc_strbuf *json,
                                struct lc_strbuf *lines);

#endif
