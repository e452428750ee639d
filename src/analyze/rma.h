/* One-sided synchronisation in groups (MPI_Win_post/start/complete/wait): Late Post and Early Wait
 * (docs/definitions/wait-states.md#26-other-paradigms). Fences and windows are collectives
 * (collective.c). Collective; called by waits.c. */
#ifndef LC_ANALYZE_RMA_H
#define LC_ANALYZE_RMA_H

#include "analyze/trace.h"

/* Finds the waits at windows, and appends them to the locations. Collective. LC_ERR_NOMEM. */
enum lc_err lc_rma_waits(struct lc_trace *trace);

#endif
