/* A hash map from 64-bit ids (of definitions, requests) to 32-bit indices: open addressing, linear
 * probing, no tombstones. Zero-initialise with {0}. */
#ifndef LC_BASE_IDMAP_H
#define LC_BASE_IDMAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/none.h"

struct lc_idslot {
    uint64_t key;
    uint32_t value; /* LC_NONE: free */
    uint32_t reserved;
};

struct lc_idmap {
    struct lc_idslot *slots;
    size_t capacity; /* power of two */
    size_t count;
};

/* Sets the value of a key (value != LC_NONE); replaces. Errors: LC_ERR_NOMEM. */
enum lc_err lc_idmap_put(struct lc_idmap *map, uint64_t key, uint32_t value);
uint32_t lc_idmap_get(const struct lc_idmap *map, uint64_t key); /* LC_NONE if absent */
/* The value of the key, which is removed; LC_NONE if absent. */
uint32_t lc_idmap_take(struct lc_idmap *map, uint64_t key);
void lc_idmap_clear(struct lc_idmap *map); /* keeps the memory */
/* Frees the table, not the struct; empty afterwards. */
void lc_idmap_free(struct lc_idmap *map);

#endif
