/* What lies next to the critical path: its segments, how much shorter each call path may get before
 * the path moves (slack), what the run would take if some regions were faster (--what-if), or
 * without its main causes of waiting (gains.h).
 *
 * Slack: a segment of the path may get shorter by as much as the next location on the path waited
 * for it; then the path runs elsewhere. So from the time of a call path in a segment, min(that
 * time, slack of the segment) may go. The sum over the segments is a lower bound of what may be
 * gained on the path itself; each hand-over is regarded alone. */
#ifndef LC_ANALYZE_NEAR_CRITICAL_H
#define LC_ANALYZE_NEAR_CRITICAL_H

#include "analyze/critical_path.h"
#include "analyze/gains.h"
#include "base/strbuf.h"

/* JSON and lines on rank 0; what_if may be NULL. Collective. Errors: LC_ERR_USAGE (what_if),
 * LC_ERR_NOMEM. */
enum lc_err lc_near_critical_run(const struct lc_critical_path *path, const char *what_if,
                                 const struct lc_gain_causes *causes, struct lc_strbuf *json,
                                 struct lc_strbuf *lines);

#endif
