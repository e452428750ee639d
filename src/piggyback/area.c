#include "piggyback/area.h"

#include <string.h>

#include "base/hash.h"

enum { LC_AREA_LINE = 64 };

size_t lc_area_size(uint32_t n_ranks) {
    size_t rings = (size_t)n_ranks * (64u << 10);
    return sizeof(struct lc_area_head) + (48u << 20) + (rings < (64u << 20) ? rings : (64u << 20));
}

static uint64_t line_up(uint64_t bytes) {
    return (bytes + LC_AREA_LINE - 1) & ~(uint64_t)(LC_AREA_LINE - 1);
}

void lc_area_init(struct lc_area *area, void *memory, size_t bytes, uint32_t rank,
                  uint32_t n_ranks) {
    struct lc_area_head *head = memory;
    area->head = head;
    area->bytes = bytes;
    head->bytes = bytes;
    head->rank = rank;
    head->n_ranks = n_ranks;
    atomic_store_explicit(&head->used, line_up(sizeof *head), memory_order_relaxed);
    head->rings = lc_area_take(area, n_ranks * sizeof(uint64_t));
    head->posts = lc_area_take(area, n_ranks * sizeof(uint64_t));
    head->outer = lc_area_take(area, LC_AREA_NODES * sizeof(uint32_t));
    /* release: partners that see the magic number see the head (lc_area_attach) */
    atomic_store_explicit(&head->magic, LC_AREA_MAGIC, memory_order_release);
}

int lc_area_attach(struct lc_area *area, void *memory, size_t bytes, uint32_t n_ranks) {
    struct lc_area_head *head = memory;
    if (bytes < sizeof *head ||
        atomic_load_explicit(&head->magic, memory_order_acquire) != LC_AREA_MAGIC ||
        head->bytes != bytes || head->n_ranks != n_ranks)
        return 0;
    area->head = head;
    area->bytes = bytes;
    return 1;
}

uint64_t lc_area_take(struct lc_area *area, size_t bytes) {
    uint64_t need = line_up(bytes);
    uint64_t at = atomic_fetch_add_explicit(&area->head->used, need, memory_order_relaxed);
    if (at + need <= area->bytes)
        return at;
    atomic_fetch_sub_explicit(&area->head->used, need, memory_order_relaxed);
    return 0;
}

void lc_area_set_outer(struct lc_area *area, uint32_t node, uint32_t outer) {
    if (area->head == NULL || area->head->outer == 0 || node >= LC_AREA_NODES)
        return;
    /* relaxed: who reads the old word takes an item out of the profile that could have stayed */
    atomic_store_explicit((_Atomic uint32_t *)lc_area_at(area, area->head->outer) + node, outer,
                          memory_order_relaxed);
}

static uint32_t slot_of(uint64_t id) {
    return (uint32_t)(lc_hash_key(id) >> 40) % LC_AREA_LOGS;
}

int lc_area_set_log(struct lc_area *area, uint64_t id, uint64_t offset) {
    uint32_t at = slot_of(id);
    for (uint32_t i = 0; i < LC_AREA_LOGS; i++, at = (at + 1) % LC_AREA_LOGS) {
        struct lc_area_log *slot = &area->head->logs[at];
        uint64_t is = atomic_load_explicit(&slot->id, memory_order_relaxed);
        if (!offset) {
            if (is == id) {
                atomic_store_explicit(&slot->id, 1, memory_order_release);
                return 1;
            }
            if (!is)
                return 0;
        } else if (is <= 1) {
            atomic_store_explicit(&slot->offset, offset, memory_order_relaxed);
            /* release: who finds the id finds the offset (lc_area_find_log) */
            atomic_store_explicit(&slot->id, id, memory_order_release);
            return 1;
        }
    }
    return 0;
}

uint64_t lc_area_find_log(const struct lc_area *area, uint64_t id) {
    uint32_t at = slot_of(id);
    for (uint32_t i = 0; i < LC_AREA_LOGS; i++, at = (at + 1) % LC_AREA_LOGS) {
        struct lc_area_log *slot = &area->head->logs[at];
        uint64_t is = atomic_load_explicit(&slot->id, memory_order_acquire);
        if (is == id)
            return atomic_load_explicit(&slot->offset, memory_order_relaxed);
        if (!is)
            return 0;
    }
    return 0;
}
