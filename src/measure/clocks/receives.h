/* Receives: posted, matched with entries, completed. */
#ifndef LC_MEASURE_CLOCKS_RECEIVES_H
#define LC_MEASURE_CLOCKS_RECEIVES_H

#include <stdint.h>

#include "measure/clocks/call_state.h"

/* a receive got its message: it is off the list of open ones; edge, candidate. Returns
 * the ticks that the call waited for it. */
uint64_t lc_clk_received(struct lc_clk_thread *k, const struct lc_deferred *deferred);

/* A receive was cancelled or failed: those posted after it get other messages than their lines
 * say. */
void lc_clk_drop_recv(struct lc_clk_recv *r);

#endif
