#include "measure/callpath/pool.h"

#include <stdlib.h>

enum { BLOCK_BYTES = 32 << 10 };

struct block {
    struct block *next;
    size_t used, bytes;
    _Alignas(16) char memory[];
};

struct lc_pool {
    struct block *newest;
    size_t total_bytes, capacity_bytes;
};

struct lc_pool *lc_pool_new(size_t capacity_bytes) {
    struct lc_pool *pool = calloc(1, sizeof *pool);
    if (pool != NULL)
        pool->capacity_bytes = capacity_bytes;
    return pool;
}

size_t lc_pool_capacity(const struct lc_pool *pool) {
    return pool->capacity_bytes;
}

void lc_pool_set_capacity(struct lc_pool *pool, size_t bytes) {
    pool->capacity_bytes = bytes;
}

void *lc_pool_take(struct lc_pool *pool, size_t bytes) {
    bytes = (bytes + 15) & ~(size_t)15;
    struct block *b = pool->newest;
    if (b == NULL || b->bytes - b->used < bytes) {
        size_t room = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
        if (pool->total_bytes + room > pool->capacity_bytes)
            return NULL;
        b = malloc(sizeof *b + room);
        if (b == NULL)
            return NULL;
        *b = (struct block){.next = pool->newest, .bytes = room};
        pool->newest = b;
        pool->total_bytes += room;
    }
    void *out = b->memory + b->used;
    b->used += bytes;
    return out;
}

void lc_pool_free(struct lc_pool *pool) {
    if (pool == NULL)
        return;
    for (struct block *b = pool->newest, *next; b != NULL; b = next) {
        next = b->next;
        free(b);
    }
    free(pool);
}
