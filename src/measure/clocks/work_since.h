/* What a thread worked since a moment, as far as it can be told in few words:
 * composed_collectives.c and turns.c send it in place of clocks that are not known yet. */
#ifndef LC_MEASURE_CLOCKS_WORK_SINCE_H
#define LC_MEASURE_CLOCKS_WORK_SINCE_H

#include <stdbool.h>
#include <stdint.h>

#include "piggyback/cpvec.h"

enum { LC_STEP_ITEMS = 3 };

struct lc_work_since {
    uint64_t ticks, whatif[LC_WHATIF_MAX];
    struct lc_cp_item items[LC_STEP_ITEMS]; /* ticks by call path */
    uint32_t n_items;
    uint32_t node, longest_node; /* as struct lc_logical has them */
    uint64_t longest;
};

/* It has worked so many ticks in this node; `part`: of the time until the next call. False: in more
 * call paths than LC_STEP_ITEMS. */
bool lc_work_add(struct lc_work_since *w, uint64_t ticks, uint32_t node, bool part);

/* The work by call path in nanoseconds; returns the number of items. */
uint32_t lc_work_items(const struct lc_work_since *w, struct lc_cp_item *items);

#endif
