/* Late edges: the record of a message arrives after the clocks of the call that received it were
 * published, because the backlog had to force its event (backlog.h). A late edge counts as if it
 * had arrived in time, except in what was published meanwhile (counts.edges_late). With
 * lc_clk.lock. */
#ifndef LC_MEASURE_CLOCKS_LATE_EDGES_H
#define LC_MEASURE_CLOCKS_LATE_EDGES_H

#include <stdint.h>

struct lc_call;
struct lc_clk_thread;
struct lc_stashed;

/* Registers the edge of a message whose entry is still pending; takes `item`. */
void lc_clk_late_edge_add(struct lc_clk_thread *k, const struct lc_call *call, uint32_t source,
                          struct lc_stashed *item);

/* Adds the edges of this thread whose entries have arrived. */
void lc_clk_late_edges_take(struct lc_clk_thread *k);

#endif
