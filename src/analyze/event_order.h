/* Puts what was found in several passes into the order of time. */
#ifndef LC_ANALYZE_EVENT_ORDER_H
#define LC_ANALYZE_EVENT_ORDER_H

#include "analyze/trace.h"

enum lc_err lc_order_waits(struct lc_loc *loc); /* by start, end, kind, flags */
enum lc_err lc_order_syncs(struct lc_loc *loc); /* by time, instance, group */

#endif
