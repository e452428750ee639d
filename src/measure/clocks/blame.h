/* Who makes whom wait: a bounded table of (waiting call path, late rank, call path of the late
 * rank) by the space-saving algorithm (Metwally 2005): a new row takes the place of the smallest
 * and inherits its ticks as error.
 *
 * Invariant: the ticks of all rows = all waiting that was added; ticks - error of a row is certain.
 * One table per process; the caller holds a lock where there are several threads. */
#ifndef LC_CLOCKS_BLAME_H
#define LC_CLOCKS_BLAME_H

#include <stdint.h>

enum { LC_BLAME_ROWS = 256, LC_BLAME_HASH = 1024 };

struct lc_blame_row {
    uint64_t wait_key; /* waiting call path: node, or a hash that is equal on all ranks when tables
                          are merged */
    uint32_t late_rank, late_node;
    uint32_t rank,
        node; /* one who waited, and its node for the waiting call path (merged tables) */
    uint64_t ticks;
    uint64_t error; /* at most this much of ticks belongs to rows that had to go */
};

struct lc_blame {
    struct lc_blame_row rows[LC_BLAME_ROWS];
    uint32_t n;
    uint16_t hash[LC_BLAME_HASH]; /* index + 1 of a row that may be it */
};

/* A row without ticks changes nothing (and costs no branch that cannot be foreseen). */
void lc_blame_add_slow(struct lc_blame *blame, const struct lc_blame_row *row);
static inline void lc_blame_add(struct lc_blame *blame, const struct lc_blame_row *row) {
    uint32_t h =
        (uint32_t)((row->wait_key * 31 + row->late_rank) * 31 + row->late_node) % LC_BLAME_HASH;
    uint32_t i = blame->hash[h];
    if (__builtin_expect(i > 0, 1)) {
        struct lc_blame_row *is = &blame->rows[i - 1];
        if (is->wait_key == row->wait_key && is->late_rank == row->late_rank &&
            is->late_node == row->late_node) {
            is->ticks += row->ticks;
            is->error += row->error;
            return;
        }
    }
    lc_blame_add_slow(blame, row);
}

void lc_blame_merge(struct lc_blame *into, const struct lc_blame *from);
/* Rows in descending order of what is certain (the table can then no longer be added to). */
void lc_blame_sort(struct lc_blame *blame);

#endif
