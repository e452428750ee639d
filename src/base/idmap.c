#include "base/idmap.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/hash.h"

static inline size_t home_of(const struct lc_idmap *map, uint64_t key) {
    uint64_t h = lc_hash_key(key);
    return (size_t)(h ^ (h >> 32)) & (map->capacity - 1);
}

static size_t slot_of(const struct lc_idmap *map, uint64_t key) {
    size_t i = home_of(map, key);
    while (map->slots[i].value != LC_NONE && map->slots[i].key != key)
        i = (i + 1) & (map->capacity - 1);
    return i;
}

static enum lc_err resize(struct lc_idmap *map, size_t capacity) {
    struct lc_idmap old = *map;
    struct lc_idslot *slots = malloc(capacity * sizeof *slots);
    if (!slots)
        return lc_fail(LC_ERR_NOMEM, "identifiers: no memory for %zu entries", capacity);
    for (size_t i = 0; i < capacity; i++)
        slots[i].value = LC_NONE;
    map->slots = slots;
    map->capacity = capacity;
    for (size_t i = 0; i < old.capacity; i++)
        if (old.slots[i].value != LC_NONE)
            map->slots[slot_of(map, old.slots[i].key)] = old.slots[i];
    free(old.slots);
    return LC_OK;
}

enum lc_err lc_idmap_put(struct lc_idmap *map, uint64_t key, uint32_t value) {
    if (2 * (map->count + 1) > map->capacity)
        LC_TRY(resize(map, map->capacity ? 2 * map->capacity : 16));
    struct lc_idslot *slot = &map->slots[slot_of(map, key)];
    map->count += slot->value == LC_NONE;
    slot->key = key;
    slot->value = value;
    return LC_OK;
}

uint32_t lc_idmap_get(const struct lc_idmap *map, uint64_t key) {
    return map->count ? map->slots[slot_of(map, key)].value : LC_NONE;
}

uint32_t lc_idmap_take(struct lc_idmap *map, uint64_t key) {
    if (!map->count)
        return LC_NONE;
    size_t hole = slot_of(map, key), mask = map->capacity - 1;
    uint32_t value = map->slots[hole].value;
    if (value == LC_NONE)
        return LC_NONE;
    /* Moves back whatever could not be found any more with a hole before it. */
    for (size_t i = (hole + 1) & mask; map->slots[i].value != LC_NONE; i = (i + 1) & mask)
        if (((i - home_of(map, map->slots[i].key)) & mask) >= ((i - hole) & mask)) {
            map->slots[hole] = map->slots[i];
            hole = i;
        }
    map->slots[hole].value = LC_NONE;
    map->count--;
    return value;
}

void lc_idmap_clear(struct lc_idmap *map) {
    for (size_t i = 0; map->count && i < map->capacity; i++)
        map->slots[i].value = LC_NONE;
    map->count = 0;
}

void lc_idmap_free(struct lc_idmap *map) {
    free(map->slots);
    memset(map, 0, sizeof *map);
}
