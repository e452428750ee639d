/* Gains by what-if clocks that the library carried in the run for the causes that it found
 * (gains.tsv): they replace estimates where there is no replay of a trace (exact_gain.h). Called by
 * finding_causes.c. */
#ifndef LC_REPORT_CLOCKED_GAIN_H
#define LC_REPORT_CLOCKED_GAIN_H

#include "report/finding_search.h"
#include "report/tsv.h"

/* The table; empty where the result has none. lc_tsv_free frees it. Errors: those of lc_cubex_misc
 * but LC_ERR_NOT_FOUND, and of lc_tsv_parse. */
enum lc_err lc_clocked_gains_read(const struct lc_view *view, struct lc_tsv *gains);

/* Takes the gain of the same kind and rank ("late_rank", "imbalance") and of the call path: its
 * own, or for a function found by samples the part of the code around it that it has of the excess
 * (seconds), if that is a quarter or more. Its bound from above stays where it is the lower one; of
 * a function that has all of the gain, it grows by what the code around has more of the excess.
 * False: there is none, the finding stays as it is. */
bool lc_clocked_gain(const struct lc_search *search, const struct lc_tsv *gains, const char *kind,
                     double excess_s, struct lc_finding *finding);

/* Why no clock told the gain of such a finding of a profile; NULL: the result does not say. */
const char *lc_clocked_why_not(const struct lc_search *search);

#endif
