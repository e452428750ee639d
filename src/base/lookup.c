#include "base/lookup.h"

#include <stdlib.h>

#include "base/mem.h"

enum { FIRST_SLOTS = 64 };

static void put(struct lc_lookup *table, struct lc_lookup_slot slot) {
    size_t at = slot.hash & (table->n_slots - 1);
    while (table->slots[at].index != 0)
        at = (at + 1) & (table->n_slots - 1);
    table->slots[at] = slot;
}

enum lc_err lc_lookup_reserve(struct lc_lookup *table, size_t n) {
    if (n >= LC_NONE)
        return lc_fail(LC_ERR_RANGE, "look-up table: %zu entries are too many", n);
    if (2 * n <= table->n_slots)
        return LC_OK;
    struct lc_lookup grown = {.n_slots = table->n_slots ? table->n_slots : FIRST_SLOTS};
    while (grown.n_slots < 2 * n)
        grown.n_slots *= 2;
    LC_TRY(lc_alloc(&grown.slots, grown.n_slots, sizeof *grown.slots));
    for (size_t i = 0; i < table->n_slots; i++)
        if (table->slots[i].index != 0)
            put(&grown, table->slots[i]);
    grown.n = table->n;
    free(table->slots);
    *table = grown;
    return LC_OK;
}

enum lc_err lc_lookup_add(struct lc_lookup *table, uint64_t hash, uint32_t index) {
    LC_TRY(lc_lookup_reserve(table, table->n + 1));
    put(table, (struct lc_lookup_slot){.index = index + 1, .hash = lc_lookup_fold(hash)});
    table->n++;
    return LC_OK;
}

void lc_lookup_free(struct lc_lookup *table) {
    free(table->slots);
    *table = (struct lc_lookup){0};
}
