#include "measure/paths/pool.h"

#include <stdlib.h>

enum { BLOCK_BYTES = 32 << 10 };

struct block {
    struct block *next;
    size_t used, bytes;
    _Alignas(16) char memory[];
};

struct lc_pool {
    struct block *newest;
    size_t total_bytes;
};

struct lc_pool *lc_pool_new(void) {
    return calloc(1, sizeof(struct lc_pool));
}

void *lc_pool_take(struct lc_pool *pool, size_t bytes) {
    bytes = (bytes + 15) & ~(size_t)15;
    struct block *b = pool->newest;
    if (b == NULL || b->bytes - b->used < bytes) {
        size_t room = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
        if (pool->total_bytes + room > LC_POOL_BYTES)
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
