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

struct lc_draft;
struct lc_entry;
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
/* Frees all entries of a thread, when it ends. */
void lc_entries_free(struct lc_thread *t);

/* Memory of the entries of one thread's call-path cache: taken in blocks, given back as a whole; at
 * most its capacity. */

struct lc_pool;

/* An empty pool, for good. NULL: no memory. */
struct lc_pool *lc_pool_new(size_t capacity_bytes);

#endif
