/* The records of receives, from the list of open ones to the free list. */
#ifndef LC_MEASURE_CLOCKS_RECEIVE_RECORDS_H
#define LC_MEASURE_CLOCKS_RECEIVE_RECORDS_H

#include <stddef.h>

#include "measure/clocks/call_state.h"
#include "measure/clocks/clocks.h"
#include "measure/core/core.h"
#include "piggyback/open_receives.h"

/* The receive is off the list of open ones. */
static inline void lc_clk_close_recv(struct lc_clk_recv *r) {
    lc_clk_lock();
    lc_match_close(&lc_clk.match, &r->recv);
    lc_clk_unlock();
}

/* Its record is not needed any more, and goes to the free list; the caller holds lc_clk.lock. */
static inline void lc_clk_recycle_recv(struct lc_clk_recv *r) {
    r->released = lc_unlikely(r->queued ||
                              r->reply_pending); /* else when the backlog is done with its post */
    if (lc_unlikely(r->released))
        return;
    r->recv.next = (struct lc_recv *)lc_clk.spare_recv;
    lc_clk.spare_recv = r;
}

/* The same without the lock held. r NULL: nothing. */
static inline void lc_clk_release_recv(struct lc_clk_recv *r) {
    if (r == NULL)
        return;
    lc_clk_lock();
    lc_clk_recycle_recv(r);
    lc_clk_unlock();
}

/* A receive completed without a message (MPI_PROC_NULL). */
static inline void lc_clk_withdraw_recv(struct lc_clk_recv *r) {
    lc_clk_close_recv(r);
    lc_clk_release_recv(r);
}

#endif
