/* What chosen_points.c and chosen_scenarios.c know of each other.
 *
 * Nouns
 *   point  an operation of all ranks after which they choose scenarios (what_if_factors.h)
 *   head   what a rank tells the others beside its sums
 *   lost   an event of a point had to run before it was known what all ranks have chosen: this rank
 *          tells the others at the next point, and all choose no more */
#ifndef LC_MEASURE_CLOCKS_CHOSEN_POINTS_H
#define LC_MEASURE_CLOCKS_CHOSEN_POINTS_H

#include <stdbool.h>
#include <stdint.h>

#include "measure/clocks/call_state.h"
#include "piggyback/portions.h"

enum { /* bits of lc_portion_sums.unable */
       LC_UNABLE = 1,
       LC_UNABLE_FIXED = 2,
       LC_UNABLE_GAVE_UP = 4,
       LC_UNABLE_THREADS = 8,
       LC_UNABLE_LOST = 16
};

extern _Atomic bool lc_chosen_lost; /* changed with the lock of the queue, any thread asks */

/* Takes lc_clk.lock and the thread's own: others may read its clocks, and count. */
void lc_chosen_lock(struct lc_clk_thread *k);
/* Releases what lc_chosen_lock took. */
void lc_chosen_unlock(struct lc_clk_thread *k);

/* Bits of what this rank cannot do because it has several threads. */
uint32_t lc_chosen_threads(void);
/* Which part of the time clocks would take if they were carried all the time, until now. With
 * lc_clk.lock. */
uint64_t lc_chosen_ppm(const struct lc_clk_thread *k);
/* This rank's head; ppm: as lc_chosen_ppm; room: for clocks is made. With lc_chosen_lock, as what
 * follows. */
struct lc_portion_sums lc_chosen_head(struct lc_clk_thread *k, uint64_t ppm, bool room);
/* Clocks begin, end and change as these sums of all ranks say. */
void lc_chosen_decide(struct lc_clk_thread *k, const struct lc_portion_sums *sums);
/* No clocks are carried from now on, and no gain is told: a rank did not come to the point (it was
 * refused memory, say, or is gone; the others give up when they hear nothing of this one), has
 * several threads, or is lost, as the sums say. */
void lc_chosen_no_more(struct lc_clk_thread *k, const struct lc_portion_sums *sums);
/* If no clocks are carried, then because of what these say. */
void lc_chosen_why(const struct lc_portion_sums *sums);

#endif
