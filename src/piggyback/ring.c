#include "piggyback/ring.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(struct lc_ring_entry) == 64, "an entry is one cache line");
_Static_assert(sizeof(struct lc_ring_segment) == 2048, "segments tile pages");

void lc_ring_out_init(struct lc_ring_out *out, struct lc_area *mine, uint32_t to) {
    memset(out, 0, sizeof *out);
    out->area = mine;
    out->fill = LC_RING_ENTRIES;
    uint64_t *rings = lc_area_at(mine, mine->head->rings);
    uint64_t at = lc_area_take(mine, sizeof(struct lc_ring_header));
    if (!at) {
        out->off = true;
        return;
    }
    out->header = lc_area_at(mine, at);
    /* release: the receiver that finds the header finds it zeroed (lc_ring_turn) */
    __atomic_store_n(&rings[to], at, __ATOMIC_RELEASE);
}

void lc_ring_out_free(struct lc_ring_out *out) {
    free(out->queue);
    out->queue = NULL;
}

static bool enqueue(struct lc_ring_out *out, uint64_t offset) {
    if (out->queue_count == out->queue_cap) {
        uint32_t cap = out->queue_cap ? 2 * out->queue_cap : 8;
        uint64_t *queue = malloc(cap * sizeof *queue);
        if (!queue)
            return false;
        for (uint32_t i = 0; i < out->queue_count; i++)
            queue[i] = out->queue[(out->queue_first + i) % out->queue_cap];
        free(out->queue);
        out->queue = queue;
        out->queue_first = 0;
        out->queue_cap = cap;
    }
    out->queue[(out->queue_first + out->queue_count++) % out->queue_cap] = offset;
    return true;
}

/* A segment that the receiver has left, else a new one. */
static uint64_t next_segment(struct lc_ring_out *out) {
    /* acquire: the receiver's reads of what it left are over (lc_ring_turn) */
    uint64_t left = atomic_load_explicit(&out->header->left, memory_order_acquire);
    if (out->recycled < left && out->queue_count > 1) {
        uint64_t offset = out->queue[out->queue_first];
        out->queue_first = (out->queue_first + 1) % out->queue_cap;
        out->queue_count--;
        out->recycled++;
        return offset;
    }
    return lc_area_take(out->area, sizeof(struct lc_ring_segment));
}

bool lc_ring_grow(struct lc_ring_out *out) {
    if (out->off)
        return false;
    uint64_t offset = next_segment(out);
    if (!offset || !enqueue(out, offset)) {
        out->off = true;
        atomic_store_explicit(&out->header->off, 1, memory_order_release);
        return false;
    }
    struct lc_ring_segment *segment = lc_area_at(out->area, offset);
    /* Old sequence numbers stay: they are smaller than what the receiver will expect here. */
    atomic_store_explicit(&segment->next, 0, memory_order_relaxed);
    /* release: the receiver finds the segment with next = 0 */
    if (out->segment)
        atomic_store_explicit(&out->segment->next, offset, memory_order_release);
    else
        atomic_store_explicit(&out->header->first, offset, memory_order_release);
    out->segment = segment;
    out->fill = 0;
    return true;
}

const struct lc_ring_entry *lc_ring_sent(const struct lc_ring_out *out, uint32_t seq) {
    uint32_t back = out->seq - seq; /* entries written since */
    if (!out->segment || back >= out->seq)
        return NULL;
    uint32_t at = LC_RING_ENTRIES - out->fill + back, segments = at / LC_RING_ENTRIES;
    if (segments >= out->queue_count)
        return NULL;
    uint32_t i = (out->queue_first + out->queue_count - 1 - segments) % out->queue_cap;
    const struct lc_ring_entry *entry = lc_ring_entry_at(
        lc_area_at(out->area, out->queue[i]), LC_RING_ENTRIES - 1 - at % LC_RING_ENTRIES);
    return atomic_load_explicit(&entry->seq, memory_order_relaxed) == seq ? entry : NULL;
}

void lc_ring_in_init(struct lc_ring_in *in, const struct lc_area *theirs, uint32_t me) {
    memset(in, 0, sizeof *in);
    in->area = theirs;
    in->reader = me;
    in->seq = 1;
}

struct lc_ring_entry *lc_ring_turn(struct lc_ring_in *in) {
    if (!in->area)
        return NULL;
    if (!in->header) {
        uint64_t *rings = lc_area_at(in->area, in->area->head->rings);
        uint64_t at = __atomic_load_n(&rings[in->reader], __ATOMIC_ACQUIRE);
        if (!at)
            return NULL;
        in->header = lc_area_at(in->area, at);
    }
    uint64_t offset = in->segment ? atomic_load_explicit(&in->segment->next, memory_order_acquire)
                                  : atomic_load_explicit(&in->header->first, memory_order_acquire);
    if (!offset)
        return NULL;
    if (in->segment) /* release: my reads of the old segment come before (next_segment) */
        atomic_store_explicit(&in->header->left, ++in->left, memory_order_release);
    in->segment = lc_area_at(in->area, offset);
    in->at = 0;
    return lc_ring_peek(in);
}

void lc_ring_make_void(struct lc_ring_out *out, struct lc_ring_entry *entry, uint32_t seq) {
    if (!entry || atomic_load_explicit(&entry->seq, memory_order_relaxed) != seq)
        return;
    atomic_store_explicit(&entry->context, LC_CONTEXT_VOID, memory_order_relaxed);
    /* release: who sees the count finds the void entry (lc_ring_voids) */
    atomic_fetch_add_explicit(&out->header->voids, 1, memory_order_release);
}

uint32_t lc_ring_voids(const struct lc_ring_in *in) {
    return in->header ? atomic_load_explicit(&in->header->voids, memory_order_acquire) : 0;
}

bool lc_ring_is_off(const struct lc_ring_in *in) {
    return !in->header || atomic_load_explicit(&in->header->off, memory_order_acquire);
}
