#include "analyze/radix.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/none.h"

enum { DIGIT_BITS = 11, BUCKETS = 1 << DIGIT_BITS, MOST_BYTES = 256 };

struct keyed {
    uint64_t key;
    uint32_t index, reserved;
};

static void sort_digit(const struct keyed *from, struct keyed *to, size_t n, int shift) {
    size_t at[BUCKETS] = {0}, sum = 0;
    for (size_t i = 0; i < n; i++)
        at[from[i].key >> shift & (BUCKETS - 1)]++;
    for (size_t b = 0; b < BUCKETS; b++) {
        size_t count = at[b];
        at[b] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++)
        to[at[from[i].key >> shift & (BUCKETS - 1)]++] = from[i];
}

/* Sorts *items by key, with *scratch as room; the two may change places. */
static void sort_keys(struct keyed **items, struct keyed **scratch, size_t n) {
    uint64_t differ = 0;
    bool ascending = true;
    for (size_t i = 1; i < n; i++) {
        differ |= (*items)[i].key ^ (*items)[0].key;
        ascending = ascending && (*items)[i].key >= (*items)[i - 1].key;
    }
    for (int shift = 0; shift < 64 && !ascending; shift += DIGIT_BITS) {
        if (!(differ >> shift & (BUCKETS - 1)))
            continue;
        sort_digit(*items, *scratch, n, shift);
        struct keyed *swap = *items;
        *items = *scratch;
        *scratch = swap;
    }
}

enum lc_err lc_order_by(uint32_t **order, const void *records, size_t n, lc_key_fn *key,
                        int n_levels) {
    struct keyed *items = NULL, *scratch = NULL;
    if (n >= LC_NONE)
        return lc_fail(LC_ERR_RANGE, "sorting: %zu records on one rank: use more ranks (-n)", n);
    enum lc_err err = lc_alloc(&items, n + 1, sizeof *items);
    if (err == LC_OK)
        err = lc_alloc(&scratch, n + 1, sizeof *scratch);
    if (err == LC_OK)
        err = lc_alloc(order, n + 1, sizeof **order);
    if (err == LC_OK && items != NULL && scratch != NULL && *order != NULL) {
        for (size_t i = 0; i < n; i++)
            items[i].index = (uint32_t)i;
        for (int level = 0; level < n_levels; level++) {
            for (size_t i = 0; i < n; i++)
                items[i].key = key(records, items[i].index, level);
            sort_keys(&items, &scratch, n);
        }
        for (size_t i = 0; i < n; i++)
            (*order)[i] = items[i].index;
    }
    free(items);
    free(scratch);
    return err;
}

/* Puts record order[i] at place i, along the cycles of the permutation. */
static void permute(char *records, size_t n, size_t bytes, uint32_t *order) {
    char first[MOST_BYTES];
    for (size_t i = 0; i < n; i++) {
        if (order[i] == i)
            continue;
        memcpy(first, records + i * bytes, bytes);
        size_t to = i;
        for (; order[to] != i;) {
            size_t from = order[to];
            memcpy(records + to * bytes, records + from * bytes, bytes);
            order[to] = (uint32_t)to;
            to = from;
        }
        memcpy(records + to * bytes, first, bytes);
        order[to] = (uint32_t)to;
    }
}

enum lc_err lc_sort_by(void *records, size_t n, size_t record_bytes, lc_key_fn *key, int n_levels) {
    uint32_t *order = NULL;
    if (record_bytes > MOST_BYTES)
        return lc_fail(LC_ERR_RANGE, "sorting: records of %zu bytes are too long", record_bytes);
    if (n < 2)
        return LC_OK;
    LC_TRY(lc_order_by(&order, records, n, key, n_levels));
    if (order != NULL)
        permute(records, n, record_bytes, order);
    free(order);
    return LC_OK;
}
