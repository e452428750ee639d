/* Lock and critical-section contention: a thread waits from entering the acquiring region until the
 * thread that held the lock before releases it. Called by omp.c for each process. */
#ifndef LC_ANALYZE_LOCKS_H
#define LC_ANALYZE_LOCKS_H

#include "analyze/trace.h"

/* Finds the waits at locks of OpenMP, and appends them to the locations. LC_ERR_NOMEM. */
enum lc_err lc_lock_waits(struct lc_trace *trace, struct lc_loc *locs, uint32_t n_locs);

#endif
