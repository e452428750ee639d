#include "piggyback/colllog.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

_Static_assert(sizeof(struct lc_log_entry) == 64, "an entry is one cache line");

/* Entries of the communicator that had it before have the same numbers. */
static void clear(const struct lc_area *mine, struct lc_log_head *head, uint32_t entries) {
    atomic_store_explicit(&head->done, 0, memory_order_relaxed);
    atomic_store_explicit(&head->left, 0, memory_order_relaxed);
    memset(head->entries, 0, entries * sizeof *head->entries);
    uint64_t at = atomic_load_explicit(&head->spill, memory_order_relaxed);
    const struct lc_log_spill *spill = at ? lc_area_at(mine, at) : NULL;
    for (uint32_t i = 0; spill && i < LC_SPILL_SEGMENTS; i++) {
        at = atomic_load_explicit(&spill->segments[i], memory_order_relaxed);
        if (at)
            memset(lc_area_at(mine, at), 0, LC_SPILL_ENTRIES * sizeof(struct lc_log_entry));
    }
}

enum lc_err lc_colllog_init(struct lc_colllog *log, struct lc_area *mine, uint64_t id, uint32_t n,
                            uint32_t me, uint32_t entries, uint64_t reuse) {
    memset(log, 0, sizeof *log);
    log->id = id;
    log->n = n;
    log->me = me;
    log->entries = entries;
    log->next = 1;
    log->area = mine;
    LC_TRY(lc_alloc(&log->theirs, n, sizeof(struct lc_log_head *)));
    enum lc_err err = lc_alloc(&log->areas, n, sizeof(struct lc_area *));
    if (err != LC_OK) {
        free(log->theirs);
        return err;
    }
    uint64_t at = reuse;
    if (at) {
        clear(mine, lc_area_at(mine, at), entries);
    } else if (mine) {
        at = lc_area_take(mine, sizeof(struct lc_log_head) + entries * sizeof(struct lc_log_entry));
    }
    if (at && lc_area_set_log(mine, id, at))
        log->mine = lc_area_at(mine, at);
    return LC_OK;
}

void lc_colllog_free(struct lc_colllog *log, struct lc_area *mine, struct lc_freed_log *freed) {
    *freed = (struct lc_freed_log){.id = log->id};
    bool used = log->next > 1; /* on all members, or on none */
    for (uint32_t i = 0; used && i < log->n; i++) {
        if (i == log->me || !log->areas[i])
            continue;
        struct lc_log_head *head = log->theirs[i] ? log->theirs[i] : lc_colllog_find(log, i);
        if (head) /* release: my reads come before (lc_colllog_reusable) */
            atomic_fetch_add_explicit(&head->left, 1, memory_order_release);
        freed->readers++;
    }
    if (log->mine)
        freed->offset = (uint64_t)((char *)log->mine - (char *)mine->head);
    free(log->theirs);
    free(log->areas);
    free(log->spilled);
    memset(log, 0, sizeof *log);
}

bool lc_colllog_reusable(struct lc_area *mine, const struct lc_freed_log *freed) {
    struct lc_log_head *head = lc_area_at(mine, freed->offset);
    if (atomic_load_explicit(&head->left, memory_order_acquire) < freed->readers)
        return false;
    lc_area_set_log(mine, freed->id, 0);
    return true;
}

struct lc_log_head *lc_colllog_find(struct lc_colllog *log, uint32_t member) {
    const struct lc_area *area = log->areas[member];
    if (!area)
        return NULL;
    uint64_t at = lc_area_find_log(area, log->id);
    if (at)
        log->theirs[member] = lc_area_at(area, at);
    return log->theirs[member];
}

static void look_at_members(struct lc_colllog *log) {
    uint64_t safe = log->done;
    for (uint32_t i = 0; i < log->n; i++) {
        if (i == log->me || !log->areas[i])
            continue;
        struct lc_log_head *head = log->theirs[i] ? log->theirs[i] : lc_colllog_find(log, i);
        /* acquire: the member's reads below its done are over (lc_colllog_end) */
        uint64_t done = head ? atomic_load_explicit(&head->done, memory_order_acquire) : 0;
        if (done < safe)
            safe = done;
    }
    if (safe > log->safe)
        log->safe = safe;
}

/* The spill in the own area, made if it is not there; NULL: no memory. */
static struct lc_log_spill *own_spill(struct lc_colllog *log) {
    uint64_t at = atomic_load_explicit(&log->mine->spill, memory_order_relaxed);
    if (!log->spilled && lc_alloc(&log->spilled, LC_SPILL_SEGMENTS, sizeof *log->spilled) != LC_OK)
        return NULL;
    if (!at) {
        at = lc_area_take(log->area, sizeof(struct lc_log_spill));
        if (!at)
            return NULL;
        /* release: who finds it finds it zeroed (lc_colllog_find_spilled) */
        atomic_store_explicit(&log->mine->spill, at, memory_order_release);
    }
    return lc_area_at(log->area, at);
}

/* A segment is used again once everybody has read its newest entry. */
static struct lc_log_entry *place_in_spill(struct lc_colllog *log, uint64_t op) {
    struct lc_log_spill *spill = own_spill(log);
    uint64_t number = op / LC_SPILL_ENTRIES, i = number % LC_SPILL_SEGMENTS;
    if (!spill || (log->spilled[i] / LC_SPILL_ENTRIES != number && log->spilled[i] > log->safe))
        return NULL;
    uint64_t at = atomic_load_explicit(&spill->segments[i], memory_order_relaxed);
    if (!at) {
        at = lc_area_take(log->area, LC_SPILL_ENTRIES * sizeof(struct lc_log_entry));
        if (!at)
            return NULL;
        /* release: as above */
        atomic_store_explicit(&spill->segments[i], at, memory_order_release);
    }
    log->spilled[i] = op;
    log->n_spilled++;
    return (struct lc_log_entry *)lc_area_at(log->area, at) + op % LC_SPILL_ENTRIES;
}

struct lc_log_entry *lc_colllog_place_slow(struct lc_colllog *log, uint64_t op) {
    enum { LOOK_AGAIN = 16 };
    if (!log->mine)
        return NULL;
    if (op >= log->look_again) { /* a line of every member: not for every operation */
        look_at_members(log);
        log->look_again = op + LOOK_AGAIN;
    }
    if (op - log->safe <= log->entries)
        return &log->mine->entries[op & (log->entries - 1)];
    struct lc_log_entry *entry = place_in_spill(log, op);
    log->n_skipped += !entry;
    return entry;
}

const struct lc_log_entry *lc_colllog_find_spilled(const struct lc_area *area,
                                                   const struct lc_log_head *head, uint64_t op) {
    uint64_t at = atomic_load_explicit(&head->spill, memory_order_acquire);
    if (!at)
        return NULL;
    const struct lc_log_spill *spill = lc_area_at(area, at);
    at = atomic_load_explicit(&spill->segments[op / LC_SPILL_ENTRIES % LC_SPILL_SEGMENTS],
                              memory_order_acquire);
    if (!at)
        return NULL;
    const struct lc_log_entry *entry =
        (const struct lc_log_entry *)lc_area_at(area, at) + op % LC_SPILL_ENTRIES;
    if (atomic_load_explicit(&entry->number, memory_order_acquire) != op)
        return NULL;
    return entry;
}

void lc_colllog_publish(struct lc_colllog *log) {
    log->published = log->done;
    /* release: my reads below come before (lc_colllog_room_slow) */
    if (log->mine)
        atomic_store_explicit(&log->mine->done, log->done, memory_order_release);
}

void lc_colllog_keep_open(struct lc_colllog *log, uint64_t op) {
    if (log->n_open < LC_LOG_OPEN)
        log->open[log->n_open++] = op;
    else
        log->n_unlisted++;
}

static void advance(struct lc_colllog *log) {
    uint64_t oldest = log->next;
    if (log->n_unlisted)
        return;
    for (uint32_t i = 0; i < log->n_open; i++)
        if (log->open[i] < oldest)
            oldest = log->open[i];
    if (oldest - 1 > log->done)
        log->done = oldest - 1;
    if (log->done - log->published >= log->entries / 4)
        lc_colllog_publish(log);
}

void lc_colllog_close(struct lc_colllog *log, uint64_t op) {
    uint32_t i = 0;
    while (i < log->n_open && log->open[i] != op)
        i++;
    if (i < log->n_open)
        log->open[i] = log->open[--log->n_open];
    else if (log->n_unlisted)
        log->n_unlisted--;
    advance(log);
}
