/* Puts what was found in several passes into the order of time. */
#ifndef LC_ANALYZE_EVENT_ORDER_H
#define LC_ANALYZE_EVENT_ORDER_H

#include "analyze/trace.h"

/* Waits by start, end, kind, flags. Errors: LC_ERR_NOMEM, with the order as it was. */
enum lc_err lc_order_waits(struct lc_loc *loc);
/* Synchronisations by time, instance, group. Errors: LC_ERR_NOMEM, with the order as it was. */
enum lc_err lc_order_syncs(struct lc_loc *loc);

#endif
