/* Who makes whom wait: a bounded table of (waiting call path, late rank and thread, call path of
 * the late one) by the space-saving algorithm (Metwally 2005): a new row takes the place of the
 * smallest and inherits its ticks as error.
 *
 * Invariant: the ticks of all rows = all waiting that was added; of a row, ticks - error is certain
 * and ticks + missed is the most that it can have had.
 * One table per process; the caller holds a lock where there are several threads. */
#ifndef LC_PIGGYBACK_BLAME_H
#define LC_PIGGYBACK_BLAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LC_BLAME_ROWS = 256, LC_BLAME_HASH = 1024 };

struct lc_blame_row {
    /* waiting call path: node, or a hash that is equal on all ranks when tables are merged */
    uint64_t wait_key;
    uint32_t late_rank, late_node;
    uint32_t late_thread; /* 1 + its location of the rank; 0: the rank as a whole */
    uint32_t rank,
        node; /* one who waited, and its node for the waiting call path (merged tables) */
    uint64_t ticks;
    uint64_t error;    /* at most this much of ticks belongs to rows that had to go */
    uint64_t missed;   /* at most this much more was in tables that had no place for the row */
    uint64_t indirect; /* of ticks, in tables of costs (past.h) */
    uint64_t indirect_error; /* of error, what was indirect */
    uint64_t traced; /* of ticks: booked as costs already, of those to whom they were traced back */
    /* Sum of the squares of what was added to the row itself; of several processes, as if they had
     * all waited for the same work: the standard error of rows that samples found. */
    double squares, traced_squares; /* of all, and of those that were traced back */
};

struct lc_blame {
    struct lc_blame_row rows[LC_BLAME_ROWS];
    uint32_t n;
    uint64_t gone;                /* a row that is not here has had this much at most */
    uint16_t hash[LC_BLAME_HASH]; /* index + 1 of a row that may be it */
};

/* A row without ticks makes no new one. */
void lc_blame_add(struct lc_blame *blame, const struct lc_blame_row *row);

/* Takes back ticks that were added to a row; *traced: so many of them were booked as costs, and are
 * no longer of this row. False: the row has not got so many that are certain, and is as it was. */
bool lc_blame_take(struct lc_blame *blame, uint64_t wait_key, uint32_t late_rank,
                   uint32_t late_node, uint64_t ticks, uint64_t *traced);

/* The row that the hash names, if it is the one; NULL: not known without a search. */
static inline struct lc_blame_row *lc_blame_at(struct lc_blame *blame, uint64_t wait_key,
                                               uint32_t late_rank, uint32_t late_node,
                                               uint32_t late_thread, uint16_t **hash) {
    *hash = &blame->hash[(uint32_t)(wait_key * 961 + late_rank * 31 + late_thread * 7 + late_node) %
                         LC_BLAME_HASH];
    if (__builtin_expect(!**hash, 0))
        return NULL;
    struct lc_blame_row *row = &blame->rows[**hash - 1];
    bool is = row->wait_key == wait_key && row->late_rank == late_rank &&
              row->late_node == late_node && row->late_thread == late_thread;
    return __builtin_expect(is, 1) ? row : NULL;
}

/* Waiting of this process itself, in `node`. */
static inline void lc_blame_add_own(struct lc_blame *blame, uint32_t rank, uint32_t node,
                                    uint32_t late_rank, uint32_t late_node, uint64_t ticks) {
    uint16_t *hash;
    struct lc_blame_row *row = lc_blame_at(blame, node, late_rank, late_node, 0, &hash);
    double square = (double)ticks * (double)ticks;
    if (__builtin_expect(row != NULL, 1)) {
        row->ticks += ticks;
        row->squares += square;
    } else {
        lc_blame_add(blame, &(struct lc_blame_row){.wait_key = node,
                                                   .late_rank = late_rank,
                                                   .late_node = late_node,
                                                   .rank = rank,
                                                   .node = node,
                                                   .ticks = ticks,
                                                   .squares = square});
    }
}

/* Adds all rows of another process' table, and says of rows that one of the two does not have what
 * it may have had of them. */
void lc_blame_merge(struct lc_blame *into, const struct lc_blame *from);
/* Rows in descending order of what is certain, equal ones by what tells them apart (the table can
 * then no longer be added to). */
void lc_blame_sort(struct lc_blame *blame);

#endif
