/* Shadow collectives: nonblocking operations of our own that carry the clocks of a collective
 * whose members share no memory. */
#ifndef LC_MEASURE_CLOCKS_SHADOW_COLLECTIVES_H
#define LC_MEASURE_CLOCKS_SHADOW_COLLECTIVES_H

#include <stdbool.h>

struct lc_call;
struct lc_clk_coll;
struct lc_clk_comm;
struct lc_clk_thread;
struct lc_coll;
struct lc_comm;
struct lc_stamp;

/* collectives by messages. */
void lc_clk_shadow_init(void);
void lc_clk_shadows_finish(void); /* collective */
void lc_clk_shadow_begin(struct lc_clk_thread *k, struct lc_clk_coll *x, const struct lc_coll *coll,
                         const struct lc_stamp *stamp);

/* Starts those that waited for the copy. */
void lc_clk_shadow_start_waiting(struct lc_clk_comm *c);

/* Collective over a communicator (both groups), in a constructor: an edge from every member to
 * every member. Waits. */
void lc_clk_shadow_exchange(struct lc_clk_thread *k, struct lc_call *call, struct lc_comm *comm);

/* Reads the result if it is there (blocking: waits for it), else it is read later. */
void lc_clk_shadow_end(struct lc_clk_thread *k, struct lc_call *call, struct lc_clk_coll *x,
                       bool blocking);

/* Those that were left behind by calls of this thread, at the begin of the next one. */
void lc_clk_shadows_complete(struct lc_clk_thread *k);

#endif
