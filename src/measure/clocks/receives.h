/* Receives: posted, matched with entries, completed. */
#ifndef LC_MEASURE_CLOCKS_RECEIVES_H
#define LC_MEASURE_CLOCKS_RECEIVES_H

#include <stdint.h>
#include <stdlib.h>

#include "measure/clocks/call_state.h"
#include "measure/clocks/clocks.h"
#include "measure/core.h"
#include "piggyback/match.h"

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

/* a receive got its message: it is off the list of open ones; edge, candidate. Returns
 * the ticks that the call waited for it. */
uint64_t lc_clk_received(struct lc_clk_thread *k, const struct lc_deferred *deferred);

/* Sends the pending replies: when the receives of their messages were posted, for senders whose
 * clocks wait for that. Sent as soon as it is known, so that the sender can make progress whatever
 * the end of the receive waits for. With lc_clk.lock. */
void lc_clk_replies_send(void);
/* A record arrived whose sender waits for such a reply. */
void lc_clk_reply_wanted(void);

/* A receive completed without a message (MPI_PROC_NULL). */
static inline void lc_clk_withdraw_recv(struct lc_clk_recv *r) {
    lc_clk_close_recv(r);
    lc_clk_release_recv(r);
}

/* The same of one that was cancelled or failed: those posted after it get other messages than their
 * lines say. */
void lc_clk_drop_recv(struct lc_clk_recv *r);

#endif
