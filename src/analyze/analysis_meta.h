/* What is said about the analysis itself: the attribute latecomer.meta of the result, and the lines
 * for people at the end. */
#ifndef LC_ANALYZE_ANALYSIS_META_H
#define LC_ANALYZE_ANALYSIS_META_H

#include "analyze/analysis_options.h"
#include "analyze/time_correct.h"
#include "analyze/trace.h"

struct lc_run_facts {
    uint64_t begin_ns, read_ns, waits_ns, end_ns;
};

/* Collective (sums up memory); *meta on rank 0 (the caller frees it). invariants: JSON object or
 * "". The health of the trace must have been reduced. Errors: LC_ERR_NOMEM. */
enum lc_err lc_meta_make(struct lc_trace *trace, const struct lc_analyze_options *options,
                         const struct lc_run_facts *facts, const struct lc_correction *correction,
                         const char *invariants, char **meta);

/* Rank 0: lines for people. `lines`: those of the root causes. */
void lc_meta_say(const struct lc_trace *trace, const struct lc_analyze_options *options,
                 const struct lc_run_facts *facts, const struct lc_correction *correction,
                 const char *lines);

#endif
