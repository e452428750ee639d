/* Collective operations: the k-th of every member of a communicator (and class: blocking,
 * nonblocking, construction, windows, files) is one instance. Members are merged into one aggregate
 * per instance on each rank, the aggregates of all ranks at the instance's home rank, and come
 * back: memory and messages grow with the number of instances in a window of constant size, not
 * with members.
 *
 * Fills loc->causes (who ends a member's waiting) and the synchronisation points of barrier-like
 * operations; books completion times. Collective; called by waits.c. */
#ifndef LC_ANALYZE_COLLECTIVE_H
#define LC_ANALYZE_COLLECTIVE_H

#include "analyze/trace.h"

/* Finds the instances and waits of all collective operations, and appends the waits to the
 * locations. Collective. LC_ERR_NOMEM. */
enum lc_err lc_collectives_match(struct lc_trace *trace);

#endif
