/* Late edges: the record of a message, or the clocks of a collective operation, arrive after those
 * of the call that received it were published, because the backlog had to force its event
 * (backlog.h). A late edge counts as if it had arrived in time, except in what was published
 * meanwhile (counts.edges_late). Where there are more of them than a thread can keep, messages of
 * one source share the record of the latest. With lc_clk.lock. */
#ifndef LC_MEASURE_CLOCKS_LATE_EDGES_H
#define LC_MEASURE_CLOCKS_LATE_EDGES_H

#include <stdbool.h>
#include <stdint.h>

#include "measure/clocks/call_state.h"

struct lc_call;
struct lc_clk_thread;
struct lc_shadow;
struct lc_stashed;

/* Registers the edge of a message whose entry is still pending; takes `item`. */
void lc_clk_late_edge_add(struct lc_clk_thread *k, const struct lc_call *call, uint32_t source,
                          struct lc_stashed *item);
/* The same of a collective operation, whose wait state is of this kind (LC_MEASURED_KINDS: none).
 * False: there is no room, the edge is missing; else `shadow` is wanted until the edge is made. */
bool lc_clk_late_collective_add(struct lc_clk_thread *k, const struct lc_call *call,
                                struct lc_shadow *shadow, enum lc_measured_wait kind);

/* Adds the edges of this thread whose entries have arrived. */
void lc_clk_late_edges_take(struct lc_clk_thread *k);

#endif
