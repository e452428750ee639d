/* Collectives: who writes, who reads, who waits for whom. */
#ifndef LC_MEASURE_CLOCKS_COLLECTIVES_H
#define LC_MEASURE_CLOCKS_COLLECTIVES_H

#include <stdint.h>

#include "measure/clocks/call_state.h"

struct lc_call;
struct lc_request;

/* The deferred work of a blocking collective: reads the entries of the others, which had not
 * reached this core's cache when the call ended. */
void lc_clk_deferred_collective(struct lc_clk_thread *k, struct lc_deferred *deferred);

/* a nonblocking collective is complete */
void lc_clk_coll_completed(struct lc_call *call, struct lc_clk_thread *k, struct lc_request *r);

/* The end of an operation where clocks lag behind the program; call NULL: nothing is read from the
 * node's log. With lc_clk.lock. */
void lc_clk_coll_over(struct lc_clk_thread *k, struct lc_call *call, struct lc_clk_coll *x);

#endif
