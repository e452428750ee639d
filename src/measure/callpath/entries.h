/* Memory of the remembered call paths of a thread. When it is full, entries that were not used
 * since the last time go, and their memory is used again; where paths that went come back, or most
 * are in use, the memory grows instead, up to LC_ENTRIES_MOST per thread and LC_ENTRIES_PROCESS in
 * all.
 *
 * Whether an entry was used costs the hot path nothing: each use adds to gap_ticks, which is
 * emptied when the entry is made and when it is looked at here.
 *
 * Invariant: the thread's last entry and those of its open regions stay (at another place: nobody
 * else keeps pointers to entries beyond an event). */
#ifndef LC_MEASURE_CALLPATH_ENTRIES_H
#define LC_MEASURE_CALLPATH_ENTRIES_H

#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>

#include "measure/callpath/entry.h"
#include "measure/unwind/walk.h"
#include "measure/core/thread.h"

struct lc_draft;
struct lc_entry;
struct lc_pool;
struct lc_thread;

enum {
    LC_ENTRIES_FIRST = 8 << 20,
    LC_ENTRIES_MOST = 64 << 20,
    LC_ENTRIES_PROCESS = 256 << 20 /* what threads take beyond their first part */
};

/* The entry of a draft, linked into its bucket; one that cannot be kept is overwritten by the one
 * after the next such. */
struct lc_entry *lc_entry_new(struct lc_thread *t, const struct lc_draft *d, uint64_t fn_ctx,
                              uint64_t ra, uint64_t frame);
/* Another thread goes on with what this one remembers: it has a stack of its own. */
void lc_entries_other_stack(struct lc_thread *t);
/* Frees all entries of a thread, when it ends. */
void lc_entries_free(struct lc_thread *t);

/* Memory of the entries of one thread's call-path cache: taken in blocks, given back as a whole; at
 * most its capacity. */

/* An empty pool, for good. NULL: no memory. */
struct lc_pool *lc_pool_new(size_t capacity_bytes);

/* Between which two call sites the time of a node was spent, per thread: sums over the transitions
 * (previous event, event) of entries. Takes the sum of one slot of an entry, before that is used
 * again. */
void lc_sites_take(struct lc_thread *t, struct lc_entry *e, int slot);
/* The same of all slots of all entries. */
void lc_sites_take_all(struct lc_thread *t);

/* The pair that took most of the node's time in all threads, as addresses in its file;
 * false: none. */
bool lc_sites_most(uint32_t node, uint64_t *from, uint64_t *to);

/* A call path while its entry is made: the stack is unwound, what is not shown is cut off, open
 * regions are put where they were begun, and nodes are interned. Used by entry.c. */

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
