/* Samples by a timer on the thread's CPU clock, where the kernel's performance events are not
 * allowed: the handler of its signal writes what the kernel would have written, in the same form
 * and into memory of the same form, so that everything else is the same (perf_ring.h).
 *
 * The kernel looks at the clock 100 to 1000 times a second, so no more samples come than that. Time
 * off the processor is the difference of two clocks from tick to tick; why, and where, is not
 * known.
 *
 * Invariant: the handler takes no lock and no memory, reads the stack by a system call that cannot
 * fault, and leaves errno as it was. A late signal, or one from elsewhere, writes nothing. */
#ifndef LC_MEASURE_SAMPLES_TIMER_RING_H
#define LC_MEASURE_SAMPLES_TIMER_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "measure/samples/perf_ring.h"

/* What an interpreter runs in the calling thread (callpath/python_stack.h, lc_python_note). */
typedef uint32_t lc_python_notes(uint64_t *words, uint32_t most);

/* Takes the highest real-time signal that the program left alone; once per process. of_python: what
 * the handler asks for what Python runs, NULL: nothing. false: there is no such signal. */
bool lc_timer_ring_init(lc_python_notes *of_python);

/* Is the signal still ours? The program may have given it a handler of its own since. */
bool lc_timer_ring_ours(void);

/* Ring and timer for the calling thread, which must close it (lc_perf_ring_close); 0, or an errno.
 * Before lc_timer_ring_init: EINVAL. */
int lc_timer_ring_open(struct lc_perf_ring *ring, const struct lc_perf_wanted *wanted,
                       uint64_t bytes);
/* Time off the processor since the last tick, or since this was last asked; 0: less than 0.1 ms, or
 * the ring is the kernel's. */
uint64_t lc_timer_ring_away_ns(const struct lc_perf_ring *ring);
/* Ends the timer of a ring; the memory stays. */
void lc_timer_ring_stop(struct lc_perf_ring *ring);

#endif
