/* With whom a process has to do: for whom it waits, and to whom it sends. A bounded table of ranks:
 * exact while these are at most LC_PAIR_ROWS. Beyond, what belongs to a rank without a row is left
 * out, and every LC_PAIR_TURN-th time the rank takes the row of the one that was seen least
 * (space-saving, Metwally 2005, of a sample: looking for that row takes long), whose sums are left
 * out, too.
 *
 * Invariant: sums of all rows + left_out = all that was added. The caller holds a lock where there
 * are several threads. */
#ifndef LC_PIGGYBACK_PAIRS_H
#define LC_PIGGYBACK_PAIRS_H

#include <stdint.h>

enum { LC_PAIR_ROWS = 256, LC_PAIR_HASH_BITS = 10, LC_PAIR_HASH = 1 << LC_PAIR_HASH_BITS };
enum { LC_PAIR_TURN = 256 };

struct lc_pair_sums {
    uint64_t ticks; /* waiting for that rank */
    uint64_t messages, bytes;
};

struct lc_pair_row {
    uint32_t rank;
    uint64_t seen; /* times, and those of the row that had to go for it */
    struct lc_pair_sums sums;
};

struct lc_pairs {
    struct lc_pair_row rows[LC_PAIR_ROWS];
    uint32_t n, n_left_out; /* n_left_out: ranks that had no row to the end, at least */
    uint32_t turn;          /* of ranks that have no row */
    struct lc_pair_sums left_out;
    uint16_t hash[LC_PAIR_HASH]; /* index + 1 of a row, at its slot or after it; 0: none */
};

static inline uint32_t lc_pairs_slot(uint32_t rank) {
    return rank * 2654435769u >> (32 - LC_PAIR_HASH_BITS);
}

/* Where to add for a rank that is not at its slot: its row, or what is left out. */
struct lc_pair_sums *lc_pairs_find(struct lc_pairs *pairs, uint32_t rank);

static inline struct lc_pair_sums *lc_pairs_sums(struct lc_pairs *pairs, uint32_t rank) {
    uint32_t at = pairs->hash[lc_pairs_slot(rank)];
    if (__builtin_expect(at == 0 || pairs->rows[at - 1].rank != rank, 0))
        return lc_pairs_find(pairs, rank);
    pairs->rows[at - 1].seen++;
    return &pairs->rows[at - 1].sums;
}

/* Waiting for a rank. */
static inline void lc_pairs_waited(struct lc_pairs *pairs, uint32_t rank, uint64_t ticks) {
    lc_pairs_sums(pairs, rank)->ticks += ticks;
}

/* A message to a rank. */
static inline void lc_pairs_sent(struct lc_pairs *pairs, uint32_t rank, uint64_t bytes) {
    struct lc_pair_sums *sums = lc_pairs_sums(pairs, rank);
    sums->messages++;
    sums->bytes += bytes;
}

/* What was taken for waiting for a rank was waiting for another one. */
void lc_pairs_not_waited(struct lc_pairs *pairs, uint32_t rank, uint64_t ticks);

/* A message that was not sent after all. */
void lc_pairs_not_sent(struct lc_pairs *pairs, uint32_t rank, uint64_t bytes);

/* Rows in descending order of waiting, then bytes, then messages (nothing can be added after). */
void lc_pairs_sort(struct lc_pairs *pairs);

#endif
