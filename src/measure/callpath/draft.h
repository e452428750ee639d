/* A call path while its entry is made: the stack is unwound, what is not shown is cut off, open
 * regions are put where they were begun, and nodes are interned. Used by entry.c. */
#ifndef LC_MEASURE_CALLPATH_DRAFT_H
#define LC_MEASURE_CALLPATH_DRAFT_H

#include "measure/callpath/entry.h"
#include "measure/unwind/walk.h"
#include "measure/core/thread.h"

enum { LC_DRAFT_ITEMS = LC_ITEMS_MAX + LC_REGION_DEPTH + 2 };

/* What is known of the path. */
struct lc_draft {
    struct lc_item items[LC_DRAFT_ITEMS];
    uint32_t n_items;
    struct lc_check checks[3 * LC_FRAMES_CACHED];
    uint32_t n_checks;
    bool cacheable;
    struct lc_frame frames[LC_FRAMES_MAX];
    struct lc_walk walk; /* kept from draft to draft */
};

/* The stack outside of the wrapper with this frame address, by unwinding. */
void lc_draft_unwind(struct lc_thread *t, struct lc_draft *d, uint64_t frame);
/* The same by libunwind alone; counts the frames that remembered rules find otherwise. */
void lc_draft_check(struct lc_thread *t, struct lc_draft *d, uint64_t frame);
/* The function around the return address alone, inside of the open regions; after "..." where
 * other call paths are whole. */
void lc_draft_caller(struct lc_thread *t, struct lc_draft *d, uint64_t ra, uint64_t frame);
/* Adds the region that begins: one item more, or, where its address says so, the innermost frame.
 * With lc_core.lock held. */
void lc_draft_region(struct lc_draft *d, uint32_t region, uint32_t serial);
/* The node that the first n items lead to; 0: none. */
uint32_t lc_draft_node(const struct lc_draft *d, uint32_t n);

#endif
