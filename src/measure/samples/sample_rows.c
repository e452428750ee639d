#include "measure/samples/sample_rows.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/hash.h"
#include "measure/core/state_write.h"
#include "measure/core/thread.h"

static uint64_t address_of(const struct lc_state_row *row) {
    return row->size_class == LC_RAW_CLASS_ADDRESS ? row->min : 0;
}

/* Its place, or the free one where it belongs. */
static struct lc_state_row **place_of(struct lc_state_row **rows, uint32_t mask, uint32_t node,
                                      uint64_t address) {
    uint32_t at = (uint32_t)(lc_hash_key(address ^ (uint64_t)node << 40) >> 32) & mask;
    while (rows[at] != NULL && (rows[at]->node != node || address_of(rows[at]) != address))
        at = (at + 1) & mask;
    return &rows[at];
}

static bool grow(struct lc_sample_rows *all) {
    uint32_t mask = all->rows == NULL ? 63 : all->mask * 2 + 1;
    struct lc_state_row **rows = calloc(mask + 1u, sizeof(struct lc_state_row *));
    if (rows == NULL)
        return false;
    for (uint32_t i = 0; all->rows != NULL && i <= all->mask; i++)
        if (all->rows[i] != NULL)
            *place_of(rows, mask, all->rows[i]->node, address_of(all->rows[i])) = all->rows[i];
    free(all->rows);
    all->rows = rows;
    all->mask = mask;
    return true;
}

struct lc_state_row *lc_sample_row(struct lc_thread *t, struct lc_sample_rows *all, uint32_t class,
                                   uint32_t node, uint64_t address) {
    if ((all->rows == NULL || all->n * 2 > all->mask) && !grow(all))
        return NULL;
    struct lc_state_row **place = place_of(all->rows, all->mask, node, address);
    if (*place != NULL)
        return *place;
    if (class == LC_RAW_CLASS_ADDRESS && all->n >= LC_SAMPLE_ADDRESSES)
        return NULL;
    struct lc_state_row *row = lc_state_row_take(t, node, class);
    if (row == t->spill_row)
        return NULL;
    if (class == LC_RAW_CLASS_ADDRESS)
        row->min = address;
    all->n++;
    return *place = row;
}
