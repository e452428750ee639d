/* Contention for the locks of windows. A lock is held from its RmaAcquireLock record until it is
 * handed over somewhere in the call that releases it: the next holder's MPI_Win_lock often returns
 * before that call does, and before its RmaReleaseLock record. So a call waits for the last
 * conflicting holder before if that one's release begins before the call ends, and its record comes
 * after the call has begun; if it comes after the call's end, all of the call has waited.
 *
 * MPI need not wait in the call that asks for the lock (MPI_Win_lock), only until data are needed
 * (MPI_Win_flush) or the epoch is over. One sees that where conflicting epochs of a window overlap;
 * there the order of releases tells who held the lock before, else that of the releasing calls. Two
 * shared holders do not conflict; MPI_Win_lock_all is a shared lock of all processes of the window.
 * Called by waits.c. */
#ifndef LC_ANALYZE_RMA_LOCK_H
#define LC_ANALYZE_RMA_LOCK_H

#include "analyze/trace.h"

/* Collective. Adds the waits (LC_WAIT_RMA_LOCK) to their locations. Errors: LC_ERR_NOMEM. */
enum lc_err lc_rma_lock_waits(struct lc_trace *trace);

#endif
