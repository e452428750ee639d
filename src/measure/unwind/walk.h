/* The stack as frames, from remembered rules: how the caller's frame is found from each return
 * address (cfi.h) is looked up once, then a frame costs a few loads, no system call. Where a rule
 * is missing the caller falls back to libunwind.
 *
 * Invariant: reads only aligned words between the given frame and the end of the thread's stack,
 * and each step moves outwards, so it ends whatever the stack holds. */
#ifndef LC_MEASURE_UNWIND_WALK_H
#define LC_MEASURE_UNWIND_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "measure/unwind/cfi.h"

struct lc_frame;

enum { LC_RULES = 8192 };

/* Of one thread; zeroed at first. */
struct lc_walk {
    uint64_t stack_low, stack_high; /* of the thread; high 0: not asked yet, 1: unknown */
    struct lc_rule rules[LC_RULES];
};

/* As lc_unwind. -1: not by rules: another stack than the thread's own, a frame without a rule. */
int lc_walk_stack(struct lc_walk *w, uint64_t frame, struct lc_frame *frames, int max,
                  bool *complete);
/* The rule of a return address; it stays until another one needs its place. */
const struct lc_rule *lc_walk_rule(struct lc_walk *w, uint64_t ip);
/* Begin of the function around a return address; 0: unknown. */
uint64_t lc_walk_start(struct lc_walk *w, uint64_t ip);
/* A library was unloaded: the rules remembered for its code are forgotten. */
void lc_walk_forget(struct lc_walk *w);

#endif
