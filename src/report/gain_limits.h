/* What any gain of a finding cannot be more than, and where it is not known. Called by
 * finding_causes.c. */
#ifndef LC_REPORT_GAIN_LIMITS_H
#define LC_REPORT_GAIN_LIMITS_H

#include "report/finding_search.h"

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
