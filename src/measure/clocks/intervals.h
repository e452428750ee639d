/* Measured intervals of the process: between two of them measurement was off. */
#ifndef LC_MEASURE_CLOCKS_INTERVALS_H
#define LC_MEASURE_CLOCKS_INTERVALS_H

#include <stdbool.h>
#include <stdint.h>

#include "piggyback/cpvec.h"

struct lc_clk_thread;

void lc_clk_interval_begin(uint64_t now, uint32_t region); /* named, open now (phases.h) */
/* The interval that is open ends now (ticks). */
void lc_clk_interval_end(uint64_t now);
/* Of the program, where the clocks lag behind it: its measurement was switched, now (ticks). */
void lc_clk_interval_seen(bool on, uint64_t now);
/* The number of the interval that the program is in, 0: none. */
uint32_t lc_clk_interval_now(void);
/* The same of a thread of it, which asks, and when it began for the thread (ticks). */
uint32_t lc_clk_interval_of(const struct lc_clk_thread *k, uint64_t *begin);
/* Is the thread between two calls, where the clocks are? */
bool lc_clk_is_between(const struct lc_clk_thread *k);
/* The thread sees what intervals began and ended since its last event. */
void lc_clk_catch_up(struct lc_clk_thread *k, uint64_t now);

#endif
