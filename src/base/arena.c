#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

struct lc_arena_block {
    struct lc_arena_block *older;
    size_t used, size;
    _Alignas(16) unsigned char bytes[];
};

enum { BLOCK_BYTES = 64 * 1024 };

void *lc_arena_take(struct lc_arena *arena, size_t bytes) {
    if (bytes > SIZE_MAX / 2) {
        lc_fail(LC_ERR_NOMEM, "memory: a block of %zu bytes is too large", bytes);
        return NULL;
    }
    size_t rounded = (bytes + 15) & ~(size_t)15;
    struct lc_arena_block *block = arena->newest;
    if (block == NULL || block->size - block->used < rounded) {
        size_t size = rounded > BLOCK_BYTES ? rounded : BLOCK_BYTES;
        block = calloc(1, sizeof *block + size);
        if (block == NULL) {
            lc_fail(LC_ERR_NOMEM, "memory: cannot allocate %zu bytes", size);
            return NULL;
        }
        block->size = size;
        block->older = arena->newest;
        arena->newest = block;
        arena->total_bytes += sizeof *block + size;
    }
    void *result = block->bytes + block->used;
    block->used += rounded;
    return result;
}

char *lc_arena_strdup(struct lc_arena *arena, const char *text) {
    size_t bytes = strlen(text) + 1;
    char *copy = lc_arena_take(arena, bytes);
    if (copy != NULL)
        memcpy(copy, text, bytes);
    return copy;
}

void lc_arena_free(struct lc_arena *arena) {
    while (arena->newest != NULL) {
        struct lc_arena_block *older = arena->newest->older;
        free(arena->newest);
        arena->newest = older;
    }
    arena->total_bytes = 0;
}
