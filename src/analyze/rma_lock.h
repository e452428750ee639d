/* Contention for the locks of windows. A lock is held from its RmaAcquireLock to its RmaReleaseLock
 * record at the most. MPI need not wait in the call that asks for it (MPI_Win_lock), only until
 * data are needed (MPI_Win_flush) or the epoch is over: the call, of those that open, flush and
 * close the epoch, within which the last conflicting holder before lets go, has waited for that.
 * Who held it before is told by the order of releases, since MPI_Win_lock may have returned without
 * the lock. Two shared holders do not conflict; MPI_Win_lock_all is a shared lock of all processes
 * of the window. Called by waits.c. */
#ifndef LC_ANALYZE_RMA_LOCK_H
#define LC_ANALYZE_RMA_LOCK_H

#include "analyze/trace.h"

/* Collective. Adds the waits (LC_WAIT_RMA_LOCK) to their locations. Errors: LC_ERR_NOMEM. */
enum lc_err lc_rma_lock_waits(struct lc_trace *trace);

#endif
