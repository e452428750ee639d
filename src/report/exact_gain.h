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

/* What is waited for the cause is what it costs; where several make a rank late by more than others
 * wait, to cure one may save what is booked on another: the upper bound stays. A replay knows. */
void lc_gain_limit(struct lc_finding *finding);

/* Is it not known whether to cure the cause gains anything? Where a thread waits for the end of
 * another one unseen, that takes as long in a replay as it did, and the critical path leads through
 * it instead of through what it waits for: what these gain is gained at least. Nor is it known of
 * code that does nothing but wait for threads: it is as late as they are. */
bool lc_gain_is_hidden(const struct lc_search *search, const struct lc_finding *finding);
/* Then the gain is not predicted, and says why. */
void lc_gain_hide(const struct lc_search *search, struct lc_finding *finding);

#endif
