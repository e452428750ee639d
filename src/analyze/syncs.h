/* Synchronisation points (docs/definitions/wait-states.md#31-synchronisation-points) of
 * operations whose members wait for a cause of their own: one-to-all, all-to-one, scans, everything
 * nonblocking. M = the cause and all who wait because of it. Barrier-like ones are found by
 * collective.c, teams by omp.c, those of two locations alone by syncpoint.c. Collective; called by
 * waits.c when all waits are known. */
#ifndef LC_ANALYZE_SYNCS_H
#define LC_ANALYZE_SYNCS_H

#include "analyze/trace.h"

/* Finds the points at which locations synchronise. Collective. LC_ERR_NOMEM. */
enum lc_err lc_syncs_find(struct lc_trace *trace);

/* One point of a location: at `time` (ticks) it takes part in an instance, as a member of this
 * group of it. LC_ERR_NOMEM. */
enum lc_err lc_sync_add(struct lc_loc *loc, int64_t time, uint64_t instance, uint32_t group);

#endif
