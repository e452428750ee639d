/* The call chain of a sample from the copy of the stack that came with it, by remembered rules
 * (unwind/walk.h): also where functions keep no frame pointer.
 *
 * Invariant: nothing outside of the copy is read, and each step moves outwards, so it ends whatever
 * the copy holds. */
#ifndef LC_MEASURE_SAMPLES_STACK_COPY_H
#define LC_MEASURE_SAMPLES_STACK_COPY_H

#include <stdbool.h>
#include <stdint.h>

struct lc_perf_record;
struct lc_walk;

/* Innermost first: where the sample was, then return addresses; at most `max`. How many of them are
 * certain; 0: there is no copy. *cut: the copy was too small for the next one. */
uint32_t lc_stack_copy_walk(struct lc_walk *w, const struct lc_perf_record *sample,
                            uint64_t *addresses, uint32_t max, bool *cut);

#endif
