/* Looking things up in arrays: where they are sorted, and by a hash where they are not.
 *
 * A look-up table holds indices into an array of the caller's, each under the hash of what it is
 * found by; the caller says which of those with the same hash is the one. Open addressing, linear
 * probing, at most half full, nothing is removed. Zero-initialise with {0}.
 * Keys of 64 bits that stand for themselves: base/idmap.h. */
#ifndef LC_BASE_LOOKUP_H
#define LC_BASE_LOOKUP_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/none.h"

/* The first index from `low` on, below `high`, for which the condition holds; `high` if there is
 * none. The condition names the index `i`, and holds for every index after one for which it
 * holds. */
/* NOLINTBEGIN(bugprone-macro-parentheses): the macros declare `i` */
#define LC_FIRST_WHERE(i, low, high, condition)                                                    \
    __extension__({                                                                                \
        size_t lc_low = (low), lc_high = (high);                                                   \
        while (lc_low < lc_high) {                                                                 \
            size_t i = lc_low + (lc_high - lc_low) / 2;                                            \
            if (condition)                                                                         \
                lc_high = i;                                                                       \
            else                                                                                   \
                lc_low = i + 1;                                                                    \
        }                                                                                          \
        lc_low;                                                                                    \
    })
/* Does it hold for this index? */
#define LC_HOLDS_FOR(i, index, condition)                                                          \
    __extension__({                                                                                \
        const size_t i = (index);                                                                  \
        condition;                                                                                 \
    })
/* The same from 0 on, where it is near the index `near`: looks at few others. */
#define LC_FIRST_WHERE_NEAR(i, near, high, condition)                                              \
    __extension__({                                                                                \
        size_t lc_first = 0, lc_end = (high), lc_near = (near), lc_step = 1, lc_at;                \
        if (lc_near < lc_end && !LC_HOLDS_FOR(i, lc_near, condition)) {                            \
            lc_first = lc_near + 1;                                                                \
            for (; (lc_at = lc_first + lc_step - 1) < lc_end; lc_step *= 2)                        \
                if (LC_HOLDS_FOR(i, lc_at, condition))                                             \
                    lc_end = lc_at;                                                                \
                else                                                                               \
                    lc_first = lc_at + 1;                                                          \
        } else {                                                                                   \
            lc_end = lc_near < lc_end ? lc_near : lc_end;                                          \
            for (; lc_first + lc_step <= lc_end; lc_step *= 2)                                     \
                if (LC_HOLDS_FOR(i, lc_at = lc_end - lc_step, condition))                          \
                    lc_end = lc_at;                                                                \
                else                                                                               \
                    lc_first = lc_at + 1;                                                          \
        }                                                                                          \
        LC_FIRST_WHERE(i, lc_first, lc_end, condition);                                            \
    })
/* NOLINTEND(bugprone-macro-parentheses) */

struct lc_lookup_slot {
    uint32_t index; /* + 1; 0: free */
    uint32_t hash;
};

struct lc_lookup {
    struct lc_lookup_slot *slots;
    size_t n_slots; /* power of two */
    size_t n;
};

/* The upper bits of the product are the good ones, whatever the hash is. */
static inline uint32_t lc_lookup_fold(uint64_t hash) {
    return (uint32_t)(lc_hash_key(hash) >> 32);
}

/* The next index under this hash, from slot *at on, which is set after it; LC_NONE: no more. */
static inline uint32_t lc_lookup_next(const struct lc_lookup *table, uint32_t fold, size_t *at) {
    while (table->n_slots != 0) {
        const struct lc_lookup_slot *slot = &table->slots[*at & (table->n_slots - 1)];
        if (slot->index == 0)
            break;
        ++*at;
        if (slot->hash == fold)
            return slot->index - 1;
    }
    return LC_NONE;
}

/* The index under this hash for which `same`, a condition that names it `i`, holds; LC_NONE: not in
 * the table. */
/* NOLINTBEGIN(bugprone-macro-parentheses) */
#define LC_LOOKUP(table, hash, i, same)                                                            \
    __extension__({                                                                                \
        uint32_t lc_fold = lc_lookup_fold(hash), i;                                                \
        size_t lc_at = lc_fold;                                                                    \
        while ((i = lc_lookup_next((table), lc_fold, &lc_at)) != LC_NONE && !(same))               \
            ;                                                                                      \
        i;                                                                                         \
    })
/* NOLINTEND(bugprone-macro-parentheses) */

/* Room for n indices in all. On errors the table is as before: LC_ERR_NOMEM; LC_ERR_RANGE: indices
 * have 32 bits. */
enum lc_err lc_lookup_reserve(struct lc_lookup *table, size_t n);

/* Puts an index (not LC_NONE) under its hash; it must not be there yet. Cannot fail after
 * lc_lookup_reserve; else the errors of lc_lookup_reserve. */
enum lc_err lc_lookup_add(struct lc_lookup *table, uint64_t hash, uint32_t index);

/* The table is empty afterwards, and can be used again. */
void lc_lookup_free(struct lc_lookup *table);

#endif
