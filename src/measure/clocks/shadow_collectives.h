/* Shadow collectives: nonblocking operations of our own that carry the clocks of a collective
 * whose members share no memory. */
#ifndef LC_MEASURE_CLOCKS_SHADOW_COLLECTIVES_H
#define LC_MEASURE_CLOCKS_SHADOW_COLLECTIVES_H

#include <stdbool.h>
#include <stdint.h>

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
void lc_clk_shadow_begin(struct lc_clk_thread *k, const struct lc_call *call, struct lc_clk_coll *x,
                         const struct lc_coll *coll, const struct lc_stamp *stamp);
/* MPI has taken a nonblocking operation. */
void lc_clk_shadow_posted(struct lc_clk_coll *x);

/* Starts those that waited for the copy; with lc_clk.lock held. */
void lc_clk_shadow_start_waiting(struct lc_clk_comm *c);

/* Collective over a communicator (both groups), in a constructor: an edge from every member to
 * every member. Waits. */
void lc_clk_shadow_exchange(struct lc_clk_thread *k, struct lc_call *call, struct lc_comm *comm);

/* Reads the result if it is there or comes soon, else it is read later. coll NULL: the request of a
 * nonblocking one is complete. */
void lc_clk_shadow_end(struct lc_clk_thread *k, struct lc_call *call, struct lc_clk_coll *x,
                       const struct lc_coll *coll);
/* In MPI_Finalize: reads what comes. */
void lc_clk_shadows_last(struct lc_clk_thread *k);

/* Is something still to come? Asked again and again until nothing has come for LC_GIVE_UP_MS: then
 * it never will (a member had an error, and has not begun). left: so much is still to come. */
enum { LC_GIVE_UP_MS = 2000 };
struct lc_clk_patience {
    uint64_t left, since;
};
bool lc_clk_still_waits(struct lc_clk_patience *p, uint64_t left);

/* Those that were left behind by calls of this thread, at the begin of the next one. */
void lc_clk_shadows_complete(struct lc_clk_thread *k);

#endif
