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

/* Its record is not needed any more. */
static inline void lc_clk_give_recv(struct lc_clk_recv *r) {
    if (r == NULL)
        return;
    if (lc_unlikely(r->matched_extra != NULL))
        free(r->matched_extra);
    lc_clk_lock();
    r->recv.next = (struct lc_recv *)lc_clk.spare_recv;
    lc_clk.spare_recv = r;
    lc_clk_unlock();
}

/* a receive got its message: it is off the list of open ones; edge, candidate. Returns
 * the ticks that the call waited for it. */
uint64_t lc_clk_received(struct lc_clk_thread *k, const struct lc_deferred *deferred);

/* A receive is over that got no message (MPI_PROC_NULL). */
static inline void lc_clk_take_back(struct lc_clk_recv *r) {
    lc_clk_close_recv(r);
    lc_clk_give_recv(r);
}

/* The same of one that was cancelled or failed: those posted after it get other messages than their
 * lines say. */
void lc_clk_drop_recv(struct lc_clk_recv *r);

#endif
