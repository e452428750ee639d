#include "piggyback/combine.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

_Static_assert(sizeof(struct lc_combine_slot) == 192, "whole lines");

/* Logs in the areas are found by number; those of the groups have numbers of their own. */
static uint64_t id_of(const struct lc_colllog *log, uint32_t level) {
    return log->id ^ lc_hash_key(level + 1);
}

static uint32_t first_member(uint32_t level, uint32_t group) {
    for (uint32_t l = 0; l <= level; l++)
        group *= LC_COMBINE_GROUP;
    return group;
}

void lc_combine_init(struct lc_combine *combine, struct lc_colllog *log, struct lc_area *mine) {
    memset(combine, 0, sizeof *combine);
    if (log->mine == NULL || log->me >= log->n || log->n <= LC_COMBINE_GROUP)
        return;
    uint32_t n = combine->n[0] = log->n, level = 0;
    while (n > 1 && level < LC_COMBINE_LEVELS) {
        n = (n + LC_COMBINE_GROUP - 1) / LC_COMBINE_GROUP;
        if (lc_alloc(&combine->groups[level], n, sizeof(struct lc_combine_slot *)) != LC_OK)
            return;
        combine->n[++level] = n;
    }
    for (uint32_t l = 0; l < level && log->me % LC_COMBINE_GROUP == 0; l++) {
        uint32_t group = log->me;
        for (uint32_t i = 0; i <= l; i++)
            group /= LC_COMBINE_GROUP;
        if (first_member(l, group) != log->me)
            continue;
        uint64_t at = lc_area_take(mine, LC_COMBINE_SLOTS * sizeof(struct lc_combine_slot));
        if (at && lc_area_set_log(mine, id_of(log, l), at))
            combine->groups[l][group] = lc_area_at(mine, at);
    }
    combine->n_levels = n == 1 ? level : 0;
}

void lc_combine_free(struct lc_combine *combine, struct lc_colllog *log, struct lc_area *mine) {
    for (uint32_t l = 0; l < LC_COMBINE_LEVELS; l++) {
        if (combine->groups[l] != NULL && log->mine != NULL)
            lc_area_set_log(mine, id_of(log, l), 0);
        free(combine->groups[l]);
    }
    memset(combine, 0, sizeof *combine);
}

static struct lc_combine_slot *slot_of(struct lc_combine *combine, struct lc_colllog *log,
                                       uint32_t level, uint32_t group, uint64_t op) {
    struct lc_combine_slot **at = &combine->groups[level][group];
    if (__builtin_expect(*at == NULL, 0)) {
        const struct lc_area *area = log->areas[first_member(level, group)];
        uint64_t offset = area != NULL ? lc_area_find_log(area, id_of(log, level)) : 0;
        if (offset == 0)
            return NULL;
        *at = lc_area_at(area, offset);
    }
    return *at + op % LC_COMBINE_SLOTS;
}

/* True for the last of `size`. Slots are used again only after all have arrived (or one skipped the
 * operation: then a newer one takes the slot over). */
static bool arrive(struct lc_combine_slot *slot, uint64_t op, uint32_t size) {
    uint64_t is = atomic_load_explicit(&slot->arrived, memory_order_relaxed), next;
    do {
        if (op < is >> 8)
            return false; /* late: the slot serves a newer operation */
        next = is >> 8 == op ? is + 1 : op << 8 | 1;
        /* release: my entry; acquire: those of the others, before the last one combines */
    } while (!atomic_compare_exchange_weak_explicit(&slot->arrived, &is, next, memory_order_acq_rel,
                                                    memory_order_relaxed));
    return (next & UINT8_MAX) == size;
}

static bool take_member(struct lc_colllog *log, uint32_t member, uint64_t op,
                        struct lc_combined *out) {
    const struct lc_log_entry *entry = lc_colllog_read(log, member, op);
    if (entry == NULL)
        return false;
    out->stamp = entry->stamp;
    out->winner = out->latest = member;
    out->latest_node = entry->stamp.node;
    out->done = entry->done;
    uint32_t generation;
    bool carries = lc_cpvec_whatif_read(log->areas[member], entry->stamp.vector, LC_WHATIF_MAX,
                                        out->whatif, &generation);
    out->whatif_of = carries ? generation + 1 : 0;
    return true;
}

static bool merge(struct lc_combined *into, const struct lc_combined *from) {
    if (into->stamp.interval != from->stamp.interval || into->stamp.phase != from->stamp.phase ||
        into->whatif_of != from->whatif_of)
        return false;
    for (uint32_t i = 0; i < LC_WHATIF_MAX && into->whatif_of != 0; i++)
        if (from->whatif[i] > into->whatif[i])
            into->whatif[i] = from->whatif[i];
    struct lc_stamp *a = &into->stamp;
    const struct lc_stamp *b = &from->stamp;
    uint64_t enter = a->enter, outside = a->outside_omp, phase = a->phase_useful;
    if (b->enter > enter) {
        enter = b->enter;
        into->latest = from->latest;
        into->latest_node = from->latest_node;
    }
    outside = b->outside_omp > outside ? b->outside_omp : outside;
    phase = b->phase_useful > phase ? b->phase_useful : phase;
    if (b->useful > a->useful) {
        *a = *b;
        into->winner = from->winner;
    }
    a->enter = enter;
    a->outside_omp = outside;
    a->phase_useful = phase;
    into->done = from->done < into->done ? from->done : into->done;
    return true;
}

static bool read_slot(const struct lc_combine_slot *slot, uint64_t op, struct lc_combined *out) {
    if (atomic_load_explicit(&slot->number, memory_order_acquire) != op)
        return false;
    *out = slot->line;
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&slot->number, memory_order_relaxed) == op;
}

/* Combines the lines of a group; false: one is not there. */
static bool combine_group(struct lc_combine *combine, struct lc_colllog *log, uint32_t level,
                          uint32_t group, uint64_t op, struct lc_combined *out) {
    uint32_t first = group * LC_COMBINE_GROUP, end = first + LC_COMBINE_GROUP;
    for (uint32_t i = first; i < end && i < combine->n[level]; i++) {
        struct lc_combined one;
        if (level == 0) {
            if (!take_member(log, i, op, &one))
                return false;
        } else {
            const struct lc_combine_slot *slot = slot_of(combine, log, level - 1, i, op);
            if (slot == NULL || !read_slot(slot, op, &one))
                return false;
        }
        if (i == first)
            *out = one;
        else if (!merge(out, &one))
            return false;
    }
    return true;
}

void lc_combine_arrive(struct lc_combine *combine, struct lc_colllog *log, uint64_t op) {
    uint32_t group = log->me;
    for (uint32_t level = 0; level < combine->n_levels; level++) {
        group /= LC_COMBINE_GROUP;
        uint32_t first = group * LC_COMBINE_GROUP, left = combine->n[level] - first;
        struct lc_combine_slot *slot = slot_of(combine, log, level, group, op);
        struct lc_combined line;
        if (slot == NULL || !arrive(slot, op, left < LC_COMBINE_GROUP ? left : LC_COMBINE_GROUP) ||
            !combine_group(combine, log, level, group, op, &line))
            return;
        atomic_store_explicit(&slot->number, 0, memory_order_relaxed);
        atomic_thread_fence(
            memory_order_release); /* readers of the new line see 0 or the new number */
        slot->line = line;
        /* release: who sees the number sees the line (read_slot) */
        atomic_store_explicit(&slot->number, op, memory_order_release);
    }
}

bool lc_combine_read(struct lc_combine *combine, struct lc_colllog *log, uint64_t op,
                     struct lc_combined *out) {
    if (combine->n_levels == 0)
        return false;
    const struct lc_combine_slot *slot = slot_of(combine, log, combine->n_levels - 1, 0, op);
    return slot != NULL && read_slot(slot, op, out);
}
