/* Collectives: who writes, who reads, who waits for whom. */
#ifndef LC_MEASURE_CLOCKS_COLLECTIVES_H
#define LC_MEASURE_CLOCKS_COLLECTIVES_H

#include <stdint.h>

#include "measure/clocks/call_state.h"

struct lc_call;
struct lc_request;

void lc_clk_deferred_collective(struct lc_clk_thread *k, struct lc_deferred *deferred);

/* a nonblocking collective is complete */
void lc_clk_coll_completed(struct lc_call *call, struct lc_clk_thread *k, struct lc_request *r);

/* What the call waited for in an operation whose cause entered at `release`. */
enum lc_measured_wait lc_clk_coll_wait(const struct lc_call *call, const struct lc_clk_coll *x);
void lc_clk_coll_candidate(struct lc_clk_thread *k, struct lc_call *call,
                           const struct lc_clk_coll *x, uint64_t release, uint32_t rank,
                           uint32_t node);

#endif
