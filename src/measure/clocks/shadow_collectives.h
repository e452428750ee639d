/* Shadow collectives: what carries the clocks of a collective operation whose members share no
 * memory, in parts of packets between its members. Nobody waits for one. With lc_clk.lock. */
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
struct lc_shadow;
struct lc_shadow_edge;
struct lc_stamp;

/* This member is in the operation: what the others send is passed on from now on. coll NULL: every
 * member of both groups waits for every other one. NULL: no memory. */
struct lc_shadow *lc_clk_shadow_new(struct lc_call *call, const struct lc_clk_coll *x,
                                    const struct lc_comm *comm, const struct lc_coll *coll);
/* The program's operation is over, and its edge will be made. */
void lc_clk_shadow_ended(struct lc_shadow *m, uint64_t end);
/* MPI has refused it here: it does not count among those that are combined. */
void lc_clk_shadow_refused(struct lc_shadow *m);
/* The caller needs it no more, and there is nothing to pass on: it may be freed. */
void lc_clk_shadow_drop(struct lc_shadow *m);

/* Sends this member's clocks as they were at `stamp` (NULL: it sends no data, so none). */
void lc_clk_shadow_publish(struct lc_clk_thread *k, struct lc_shadow *m,
                           const struct lc_stamp *stamp);
/* Has the result for this member arrived? */
bool lc_clk_shadow_arrived(const struct lc_shadow *m);
/* Edge and wait of the call; the caller needs it no more. If the result has not arrived, the edge
 * is late (edges.h). */
void lc_clk_shadow_end(struct lc_clk_thread *k, struct lc_call *call, const struct lc_clk_coll *x,
                       struct lc_shadow *m);

/* Of a late edge into a call that ended at `end`, once the result has arrived; false: nothing. */
bool lc_clk_shadow_edge(const struct lc_shadow *m, uint64_t end, struct lc_shadow_edge *e);
/* The late edge is made: it is needed no more. */
void lc_clk_shadow_release(struct lc_shadow *m);

/* A part of this operation has arrived: passes on what can be passed on. */
void lc_clk_shadow_part(uint32_t context, uint32_t number);
/* Other members still need this one. */
bool lc_clk_shadows_left(void);
/* Drops what this member still has to pass on; counted. */
void lc_clk_shadows_give_up(void);

/* A timeout without progress; zero-initialise. */
enum { LC_GIVE_UP_MS = 2000 };
struct lc_clk_timeout {
    uint64_t left, since;
};
/* Called again and again: false once nothing is left, or `left`, a number that changes with every
 * progress, has stayed the same for so many milliseconds. */
bool lc_clk_within_timeout(struct lc_clk_timeout *t, uint64_t left, uint32_t ms);

#endif
