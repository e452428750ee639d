#include "measure/openmp/omp_pool.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES = 64 << 10 };

static void put(struct lc_omp_pools *pools, struct lc_omp_item *item) {
    item->next = pools->free[item->kind];
    pools->free[item->kind] = item;
}

/* What other threads have given back. Acquire: partner is lc_omp_give. */
static void collect(struct lc_omp_pools *pools) {
    struct lc_omp_item *item = atomic_exchange_explicit(&pools->back, NULL, memory_order_acquire);
    for (struct lc_omp_item *next; item != NULL; item = next) {
        next = item->next;
        put(pools, item);
    }
}

static struct lc_omp_item *cut(struct lc_omp_pools *pools, size_t size) {
    size_t bytes = (size + LC_OMP_LINE - 1) & ~(size_t)(LC_OMP_LINE - 1);
    if (pools->chunk == NULL || (size_t)(pools->chunk_end - pools->chunk) < bytes) {
        pools->chunk = aligned_alloc(LC_OMP_LINE, CHUNK_BYTES);
        if (pools->chunk == NULL)
            return NULL;
        pools->chunk_end = pools->chunk + CHUNK_BYTES;
    }
    struct lc_omp_item *item = (struct lc_omp_item *)pools->chunk;
    pools->chunk += bytes;
    return item;
}

void *lc_omp_take_part(struct lc_omp_pools *pools, enum lc_omp_kind kind, size_t size,
                       size_t clear) {
    struct lc_omp_item *item = pools->free[kind];
    if (item == NULL && atomic_load_explicit(&pools->back, memory_order_relaxed) != NULL) {
        collect(pools);
        item = pools->free[kind];
    }
    if (item != NULL)
        pools->free[kind] = item->next;
    else if ((item = cut(pools, size)) == NULL)
        return NULL;
    memset(item, 0, clear);
    item->owner = pools;
    item->kind = kind;
    atomic_store_explicit(&item->references, 1, memory_order_relaxed);
    return item;
}

void lc_omp_give(struct lc_omp_pools *mine, struct lc_omp_item *item) {
    struct lc_omp_pools *owner = item->owner;
    if (owner == mine) {
        put(mine, item);
        return;
    }
    item->next = atomic_load_explicit(&owner->back, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&owner->back, &item->next, item,
                                                  memory_order_release, memory_order_relaxed))
        ;
}

static _Atomic(lc_omp_end_fn) at_end[LC_OMP_KINDS];

void lc_omp_at_end(enum lc_omp_kind kind, lc_omp_end_fn does) {
    atomic_store_explicit(&at_end[kind], does, memory_order_relaxed);
}

void lc_omp_unkeep(struct lc_omp_pools *mine, void *record) {
    struct lc_omp_item *item = record;
    if (item == NULL || atomic_fetch_sub_explicit(&item->references, 1, memory_order_acq_rel) != 1)
        return;
    lc_omp_end_fn does = atomic_load_explicit(&at_end[item->kind], memory_order_relaxed);
    if (does != NULL)
        does(mine, item);
    else
        lc_omp_give(mine, item);
}
