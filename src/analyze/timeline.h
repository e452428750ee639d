/* Severity of the wait states over time, and per phase: members of statistics.h. */
#ifndef LC_ANALYZE_TIMELINE_H
#define LC_ANALYZE_TIMELINE_H

#include "analyze/trace.h"
#include "base/strbuf.h"

/* Member timeline.json, on rank 0. Collective. LC_ERR_NOMEM. */
enum lc_err lc_timeline_make(struct lc_trace *trace, struct lc_strbuf *json);
/* Member phases.json, on rank 0. Collective. LC_ERR_NOMEM. */
enum lc_err lc_phases_make(struct lc_trace *trace, struct lc_strbuf *json);

#endif
