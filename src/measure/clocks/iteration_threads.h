/* What the threads of a process do in iterations of loops that were found in the run. Seen by the
 * thread that is in the loop, which asks no other: one that works meanwhile is seen as it was at
 * its last event, and between events as working until now. */
#ifndef LC_MEASURE_CLOCKS_ITERATION_THREADS_H
#define LC_MEASURE_CLOCKS_ITERATION_THREADS_H

#include <stdint.h>

struct lc_loop;

/* Brings loop->threads up to the visit at `now` (ticks); but for `outside_omp` nothing where a
 * thread is alone, or where clocks lag behind the program. */
void lc_clk_iteration_visit(struct lc_loop *loop, uint64_t now);

#endif
