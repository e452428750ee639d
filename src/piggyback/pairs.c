#include "piggyback/pairs.h"

#include <stdlib.h>

static struct lc_pair_row *least(struct lc_pairs *pairs) {
    struct lc_pair_row *row = pairs->rows;
    for (uint32_t i = 1; i < pairs->n; i++)
        if (pairs->rows[i].seen < row->seen)
            row = &pairs->rows[i];
    return row;
}

static uint32_t after(uint32_t slot) {
    return (slot + 1) % LC_PAIR_HASH;
}

/* The slot of a row. */
static uint32_t slot_of(const struct lc_pairs *pairs, const struct lc_pair_row *row) {
    uint32_t slot = lc_pairs_slot(row->rank);
    while (pairs->hash[slot] != row - pairs->rows + 1)
        slot = after(slot);
    return slot;
}

/* Frees a slot; what was put after it because it was taken moves up. */
static void free_slot(struct lc_pairs *pairs, uint32_t slot) {
    pairs->hash[slot] = 0;
    for (uint32_t at = after(slot); pairs->hash[at] != 0; at = after(at)) {
        uint32_t home = lc_pairs_slot(pairs->rows[pairs->hash[at] - 1].rank);
        if ((at - home) % LC_PAIR_HASH < (at - slot) % LC_PAIR_HASH)
            continue;
        pairs->hash[slot] = pairs->hash[at];
        pairs->hash[at] = 0;
        slot = at;
    }
}

/* The row of the rank that was seen least, left out and free. */
static struct lc_pair_row *give_up_least(struct lc_pairs *pairs) {
    struct lc_pair_row *row = least(pairs);
    pairs->left_out.ticks += row->sums.ticks;
    pairs->left_out.messages += row->sums.messages;
    pairs->left_out.bytes += row->sums.bytes;
    pairs->n_left_out++;
    free_slot(pairs, slot_of(pairs, row));
    return row;
}

/* The slot that has the rank, else the free one where it belongs. */
static uint32_t look_up(const struct lc_pairs *pairs, uint32_t rank) {
    uint32_t slot = lc_pairs_slot(rank);
    while (pairs->hash[slot] != 0 && pairs->rows[pairs->hash[slot] - 1].rank != rank)
        slot = after(slot);
    return slot;
}

struct lc_pair_sums *lc_pairs_find(struct lc_pairs *pairs, uint32_t rank) {
    uint32_t slot = look_up(pairs, rank);
    struct lc_pair_row *row;
    uint64_t seen = 0;
    if (pairs->hash[slot] != 0) {
        row = &pairs->rows[pairs->hash[slot] - 1];
        row->seen++;
        return &row->sums;
    }
    if (pairs->n < LC_PAIR_ROWS) {
        row = &pairs->rows[pairs->n++];
    } else if (++pairs->turn % LC_PAIR_TURN == 0) {
        row = give_up_least(pairs);
        seen = row->seen;
        slot = look_up(pairs, rank);
    } else {
        pairs->n_left_out += pairs->n_left_out == 0;
        return &pairs->left_out;
    }
    *row = (struct lc_pair_row){.rank = rank, .seen = seen + 1};
    pairs->hash[slot] = (uint16_t)(row - pairs->rows + 1);
    return &row->sums;
}

void lc_pairs_not_sent(struct lc_pairs *pairs, uint32_t rank, uint64_t bytes) {
    uint32_t at = pairs->hash[look_up(pairs, rank)];
    struct lc_pair_sums *from = at != 0 && pairs->rows[at - 1].sums.messages > 0
                                    ? &pairs->rows[at - 1].sums
                                    : &pairs->left_out;
    from->messages -= from->messages > 0;
    from->bytes -= bytes < from->bytes ? bytes : from->bytes;
}

void lc_pairs_not_waited(struct lc_pairs *pairs, uint32_t rank, uint64_t ticks) {
    uint32_t at = pairs->hash[look_up(pairs, rank)];
    struct lc_pair_sums *from = at != 0 && pairs->rows[at - 1].sums.ticks >= ticks
                                    ? &pairs->rows[at - 1].sums
                                    : &pairs->left_out;
    from->ticks -= ticks < from->ticks ? ticks : from->ticks;
}

static int compare(const void *a, const void *b) {
    const struct lc_pair_sums *x = &((const struct lc_pair_row *)a)->sums,
                              *y = &((const struct lc_pair_row *)b)->sums;
    if (x->ticks != y->ticks)
        return x->ticks < y->ticks ? 1 : -1;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return (x->messages < y->messages) - (x->messages > y->messages);
}

void lc_pairs_sort(struct lc_pairs *pairs) {
    qsort(pairs->rows, pairs->n, sizeof *pairs->rows, compare);
}
