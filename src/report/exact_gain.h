/* Gains that `analyze` found by replaying the trace without a cause (analyze/gains.h): they replace
 * what findings estimate. Called by the files that find things. */
#ifndef LC_REPORT_EXACT_GAIN_H
#define LC_REPORT_EXACT_GAIN_H

#include "report/finding_search.h"

/* Takes the gain of the same kind, call path and rank from the analysis, with the error of the
 * measurement as bounds. `kind`: "late_rank", "imbalance", "serialisation_chain", "mpi_cost".
 * False: there is none, the finding stays as it is. */
bool lc_exact_gain(const struct lc_search *search, const char *kind, struct lc_finding *finding);

/* The gains of an analysis: the caller gives them back; NULL: it has none. */
json_t *lc_exact_gains_read(struct lc_view *analysis);

#endif
