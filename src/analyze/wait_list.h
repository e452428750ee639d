/* The waits and arrivals of a location while they are found: what judges a call, a thread or a
 * window appends them here. */
#ifndef LC_ANALYZE_WAIT_LIST_H
#define LC_ANALYZE_WAIT_LIST_H

#include "analyze/trace.h"

/* Appends a wait state; LC_ERR_NOMEM. */
enum lc_err lc_wait_add(struct lc_loc *loc, const struct lc_wait *wait);
/* Appends a dependence for which nobody waited; LC_ERR_NOMEM. */
enum lc_err lc_wait_arrived(struct lc_loc *loc, const struct lc_arrival *arrival);

#endif
