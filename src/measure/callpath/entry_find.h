/* The validated cache (the look-up of the call path): an entry holds, besides its key, the places
 * on the stack where return addresses lie (and frame pointers that other frames are found by), and
 * their contents. Equal return address, stack pointer and frame pointer of a frame mean that the
 * next return address lies at the same place; it is compared; so by induction, equal words mean the
 * same call path. The first difference ends the comparison: no place is read that is not proven. */
#ifndef LC_MEASURE_CALLPATH_ENTRY_FIND_H
#define LC_MEASURE_CALLPATH_ENTRY_FIND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "format/state.h"
#include "measure/callpath/entry.h"
#include "measure/callpath/python_stack.h"
#include "measure/core/core.h"
#include "measure/core/thread.h"

static inline uint32_t lc_bucket(uint64_t ra, uint64_t frame) {
    uint64_t mix = lc_hash_key(ra ^ (frame << 7));
    return (uint32_t)(mix >> 54); /* LC_BUCKETS = 2^10 */
}

static inline bool lc_differs(const struct lc_check *check, uint64_t frame) {
    return *(const uint64_t *)(frame + (uint64_t)check->offset) != check->expected;
}

static inline bool lc_entry_holds(const struct lc_entry *entry, uint64_t frame) {
    const struct lc_check *check = entry->checks, *end = check + entry->n_checks;
    for (; check < end; check += LC_CHECKS_AT_ONCE)
        if (lc_differs(check, frame) || lc_differs(check + 1, frame) ||
            lc_differs(check + 2, frame) || lc_differs(check + 3, frame))
            return false;
    return true;
}

static inline bool lc_entry_is(const struct lc_entry *entry, uint64_t fn_ctx, uint64_t ra,
                               uint64_t frame) {
    return entry->ra == ra && entry->frame == frame && entry->fn_ctx == fn_ctx &&
           lc_entry_holds(entry, frame);
}

__attribute__((no_sanitize("address", "thread"))) static inline struct lc_entry *
lc_entry_find(struct lc_thread *t, uint32_t fn, uint64_t ra, uint64_t frame) {
    uint64_t fn_ctx = fn | (uint64_t)lc_context(t) << 32;
    struct lc_entry *e = t->last->follower; /* programs go in circles: mostly the same again */
    if (e != NULL && lc_entry_is(e, fn_ctx, ra, frame))
        return e;
    for (e = t->buckets[lc_bucket(ra, frame)]; e != NULL; e = e->next)
        if (lc_entry_is(e, fn_ctx, ra, frame))
            return t->last->follower = e;
    return lc_entry_cold(t, fn_ctx, ra, frame);
}

static inline struct lc_state_row *lc_row(struct lc_thread *t, struct lc_path *path, uint32_t key) {
    for (uint32_t i = 0; i < path->n_rows; i++)
        if (path->rows[i].key == key)
            return path->rows[i].row;
    return lc_row_cold(t, path, key);
}

#endif
