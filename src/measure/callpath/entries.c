#include <stdlib.h>
#include <string.h>

#include "measure/callpath/entry.h"
#include "measure/callpath/budget.h"
#include "measure/unwind/walk.h"
#include "measure/core/thread.h"
#include "measure/core/core.h"
#include "measure/core/state_write.h"
#include "base/hash.h"

/* Open hashing of fixed size; what finds no room within a few steps is left out: the pairs that
 * matter come often, so they were there early. Pairs lie in the order in which they came: few of
 * them take few pages, and the end looks at no more. */
enum { LC_SITES = 4096, LC_SITE_STEPS = 16 };

struct lc_site_pair {
    uint64_t ticks;
    uint32_t from, to, node;
};

struct lc_sites {
    uint32_t n;
    uint16_t slots[LC_SITES]; /* by hash: 1 + index; 0: free */
    struct lc_site_pair pairs[LC_SITES];
};

static void add(struct lc_sites *sites, uint32_t node, uint32_t from, uint32_t to, uint64_t ticks) {
    uint64_t hash = lc_hash_key(node ^ (uint64_t)from << 20 ^ (uint64_t)to << 32) >> 40;
    for (uint32_t i = 0; i < LC_SITE_STEPS; i++) {
        uint16_t *slot = &sites->slots[(hash + i) % LC_SITES];
        if (*slot == 0) {
            sites->pairs[sites->n] = (struct lc_site_pair){.from = from, .to = to, .node = node};
            *slot = (uint16_t)++sites->n;
        }
        struct lc_site_pair *p = &sites->pairs[*slot - 1];
        if (p->node == node && p->from == from && p->to == to) {
            p->ticks += ticks;
            return;
        }
    }
}

uint32_t lc_item_place(const struct lc_item *item) {
    bool is_line = item->site != 0 && item->site != LC_SITE_UNKNOWN && item->node != LC_NONE &&
                   lc_state_nodes()[item->node].kind == LC_RAW_SCRIPT;
    return is_line ? item->site & ((1u << LC_LINE_BITS) - 1) : item->site;
}

void lc_sites_take(struct lc_thread *t, struct lc_entry *e, int slot) {
    const struct lc_entry *last = e->previous[slot];
    uint64_t ticks = e->gap_ticks[slot];
    uint32_t at = e->gap_common[slot];
    e->gap_ticks[slot] = 0;
    if (ticks == 0 || last == NULL || e->cut || last->cut)
        return;
    while (at > 0 && e->items[at - 1].site == 0) /* a region: the function around it */
        at--;
    if (at == 0)
        return;
    uint32_t from = lc_item_place(&last->items[at - 1]), to = lc_item_place(&e->items[at - 1]);
    if (from == LC_SITE_UNKNOWN || to == LC_SITE_UNKNOWN)
        return;
    if (t->sites == NULL)
        t->sites = calloc(1, sizeof *t->sites);
    if (t->sites != NULL)
        add(t->sites, e->gap_node[slot], from, to, ticks);
}

void lc_sites_take_all(struct lc_thread *t) {
    for (int i = 0; i < LC_BUCKETS; i++)
        for (struct lc_entry *e = t->buckets[i]; e != NULL; e = e->next)
            for (int slot = 0; slot < 2; slot++)
                lc_sites_take(t, e, slot);
}

bool lc_sites_most(uint32_t node, uint64_t *from, uint64_t *to) {
    uint64_t most = 0;
    for (struct lc_thread *t = lc_core.threads; t != NULL; t = t->next)
        for (uint32_t i = 0; t->sites != NULL && i < t->sites->n; i++) {
            const struct lc_site_pair *p = &t->sites->pairs[i];
            if (p->node == node && p->ticks > most) {
                most = p->ticks;
                *from = p->from;
                *to = p->to;
            }
        }
    return most > 0;
}

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

/* The most bytes that the pool may take. */
static size_t lc_pool_capacity(const struct lc_pool *pool) {
    return pool->capacity_bytes;
}

/* A new limit, bytes; what is taken already stays. */
static void lc_pool_set_capacity(struct lc_pool *pool, size_t bytes) {
    pool->capacity_bytes = bytes;
}

/* Bytes for one entry, not zeroed, which the pool owns; NULL: full, or no memory. */
static void *lc_pool_take(struct lc_pool *pool, size_t bytes) {
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

static void pool_free(struct lc_pool *pool) {
    if (pool == NULL)
        return;
    for (struct block *b = pool->newest, *next; b != NULL; b = next) {
        next = b->next;
        free(b);
    }
    free(pool);
}

/* Fingerprints of entries that went, to see whether they come back. */
enum { GONE = 65536 };

static _Atomic size_t process_bytes; /* of all threads, beyond the first part of each */

static size_t bytes_of(const struct lc_entry *e) {
    return sizeof *e + e->n_checks * sizeof(struct lc_check) + e->n_items * sizeof(struct lc_item);
}

/* The path, whatever regions it was in: their numbers change when they are begun again. */
static uint64_t fingerprint(const struct lc_entry *e) {
    uint64_t hash = lc_hash_key(e->ra ^ e->frame << 16 ^ (uint32_t)e->fn_ctx);
    for (uint32_t i = 0; i < e->n_checks; i++)
        hash = lc_hash_mix(hash ^ (e->checks[i].expected + ((uint64_t)e->checks[i].offset << 40)));
    return hash | 1;
}

static void note_gone(struct lc_thread *t, const struct lc_entry *e) {
    uint64_t mark = fingerprint(e);
    t->counts.recycled++;
    if (t->gone != NULL)
        t->gone[mark >> 32 & (GONE - 1)] = (uint32_t)mark;
}

static bool came_back(const struct lc_thread *t, const struct lc_entry *e) {
    uint64_t mark = fingerprint(e);
    return t->gone != NULL && t->gone[mark >> 32 & (GONE - 1)] == (uint32_t)mark;
}

static void link_entry(struct lc_thread *t, struct lc_entry *e) {
    struct lc_entry **bucket = &t->buckets[lc_bucket(e->ra, e->frame)];
    e->next = *bucket;
    *bucket = e;
}

/* --- moving entries to a new pool */

/* Old entries that were copied have no path, and their copy in previous[0]. */
static struct lc_entry *moved(const struct lc_entry *old) {
    return old->path == NULL ? old->previous[0] : NULL;
}

static struct lc_entry *move(struct lc_pool *pool, struct lc_entry *old) {
    struct lc_entry *copy = moved(old);
    if (copy != NULL || (copy = lc_pool_take(pool, bytes_of(old))) == NULL)
        return copy;
    memcpy(copy, old, sizeof *old + old->n_checks * sizeof(struct lc_check));
    copy->items = (struct lc_item *)(copy->checks + copy->n_checks);
    memcpy(copy->items, old->items, old->n_items * sizeof(struct lc_item));
    lc_entry_forget_others(copy);
    old->path = NULL;
    old->previous[0] = copy;
    return copy;
}

static bool in_pool(const struct lc_thread *t, const struct lc_entry *e) {
    return e != t->off_entry && e != t->start_entry && !e->transient;
}

static void move_pinned(struct lc_thread *t, struct lc_pool *fresh) {
    if (in_pool(t, t->last)) {
        struct lc_entry *copy = move(fresh, t->last);
        t->last = copy != NULL ? copy : t->start_entry;
    }
    for (uint32_t i = 0; i < t->n_regions; i++) {
        if (!in_pool(t, t->regions[i].entry))
            continue;
        struct lc_entry *copy = move(fresh, t->regions[i].entry);
        t->regions[i].entry = copy != NULL ? copy : t->off_entry;
    }
}

/* Nothing outside of the pool may point to what was there. */
static void forget_others(struct lc_thread *t) {
    struct lc_entry *const plain[] = {t->off_entry,          t->start_entry,
                                      t->lost_entry,         t->scratch_entries[0],
                                      t->scratch_entries[1], t->callback_entry};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (plain[i] != NULL)
            lc_entry_forget_others(plain[i]);
}

enum { SHARE_ALL = 65536 };

/* Of those that were used, a part: chance chooses, so that paths which take turns do not throw each
 * other out. */
static bool chosen(const struct lc_entry *e, uint32_t share) {
    return e->used && lc_hash_key32(e->serial) >> 16 < share;
}

/* Moves what is pinned and what is chosen to a new pool; the rest goes. share 0: nothing else, the
 * code that the entries stand for has changed. */
static bool move_all(struct lc_thread *t, size_t capacity, uint32_t share) {
    struct lc_pool *fresh = lc_pool_new(capacity);
    if (fresh == NULL)
        return false;
    move_pinned(t, fresh);
    for (int i = 0; i < LC_BUCKETS; i++) {
        struct lc_entry *e = t->buckets[i], *next;
        t->buckets[i] = NULL;
        for (; e != NULL; e = next) {
            next = e->next;
            struct lc_entry *copy = moved(e);
            if (copy == NULL && chosen(e, share))
                copy = move(fresh, e);
            if (copy != NULL && share > 0)
                link_entry(t, copy);
            else if (share > 0)
                note_gone(t, e);
        }
    }
    forget_others(t);
    pool_free(t->pool);
    t->pool = fresh;
    return true;
}

/* Takes the sums out of all entries, and notes which were used since the last time. */
static size_t mark_used(struct lc_thread *t) {
    size_t bytes = 0;
    for (int i = 0; i < LC_BUCKETS; i++)
        for (struct lc_entry *e = t->buckets[i]; e != NULL; e = e->next) {
            e->used = (e->gap_ticks[0] | e->gap_ticks[1]) != 0;
            for (int slot = 0; slot < 2; slot++)
                lc_sites_take(t, e, slot);
            bytes += e->used ? bytes_of(e) : 0;
        }
    return bytes;
}

/* --- room for a new entry */

static bool grow(struct lc_thread *t) {
    size_t bytes = lc_pool_capacity(t->pool);
    if (bytes * 2 > LC_ENTRIES_MOST || !lc_limits_memory(bytes * 2))
        return false;
    size_t before = atomic_fetch_add_explicit(&process_bytes, bytes, memory_order_relaxed);
    if (before + bytes > LC_ENTRIES_PROCESS) {
        atomic_fetch_sub_explicit(&process_bytes, bytes, memory_order_relaxed);
        return false;
    }
    lc_pool_set_capacity(t->pool, bytes * 2);
    return true;
}

static void announce_move(struct lc_thread *t) {
    if (lc_path_watch.moving != NULL)
        lc_path_watch.moving(t);
}

static void make_room(struct lc_thread *t) {
    uint64_t made = t->counts.made - t->made_then, back = t->counts.remade - t->remade_then;
    t->made_then = t->counts.made;
    t->remade_then = t->counts.remade;
    if (back > made / 8 && grow(t))
        return;
    size_t used = mark_used(t), capacity = lc_pool_capacity(t->pool);
    if (used > capacity / 2 && grow(t))
        return;
    if (t->gone == NULL)
        t->gone = calloc(GONE, sizeof *t->gone);
    /* never more than half: moving must be rare */
    double share = used > capacity / 2 ? (double)capacity / 2 / (double)used : 1;
    announce_move(t);
    move_all(t, capacity, 1 + (uint32_t)(share * (SHARE_ALL - 1)));
}

void lc_thread_paths_flush(struct lc_thread *t) {
    if (t->draft != NULL)
        lc_walk_forget(&((struct lc_draft *)t->draft)->walk);
    lc_sites_take_all(t);
    lc_budget_forget(t);
    announce_move(t);
    move_all(t, lc_pool_capacity(t->pool), 0);
}

void lc_entries_other_stack(struct lc_thread *t) {
    if (t->draft != NULL)
        ((struct lc_draft *)t->draft)->walk.stack_high = 0;
}

void lc_entries_free(struct lc_thread *t) {
    if (t->pool != NULL)
        atomic_fetch_sub_explicit(&process_bytes, lc_pool_capacity(t->pool) - LC_ENTRIES_FIRST,
                                  memory_order_relaxed);
    pool_free(t->pool);
    free(t->gone);
    t->pool = NULL;
    t->gone = NULL;
}

/* What cannot be kept: the one that is not the last event's, which is still looked at. */
static struct lc_entry *take_scratch(struct lc_thread *t, const struct lc_draft *d) {
    struct lc_entry *e =
        t->in_callback ? t->callback_entry : t->scratch_entries[t->last == t->scratch_entries[0]];
    t->counts.uncacheable++;
    memset(e, 0, sizeof *e);
    e->items = (struct lc_item *)(e + 1);
    e->transient = true;
    memcpy(e->items, d->items, d->n_items * sizeof(struct lc_item));
    return e;
}

static struct lc_entry *take_kept(struct lc_thread *t, const struct lc_draft *d) {
    size_t bytes = sizeof(struct lc_entry) + d->n_checks * sizeof(struct lc_check) +
                   d->n_items * sizeof(struct lc_item);
    struct lc_entry *e = lc_pool_take(t->pool, bytes);
    if (e == NULL && !t->in_callback) { /* else the call that MPI is in still needs its entry */
        make_room(t);
        e = lc_pool_take(t->pool, bytes);
    }
    if (e == NULL)
        return NULL;
    memset(e, 0, sizeof *e);
    e->n_checks = (uint16_t)d->n_checks;
    memcpy(e->checks, d->checks, d->n_checks * sizeof(struct lc_check));
    e->items = (struct lc_item *)(e->checks + d->n_checks);
    memcpy(e->items, d->items, d->n_items * sizeof(struct lc_item));
    return e;
}

struct lc_entry *lc_entry_new(struct lc_thread *t, const struct lc_draft *d, uint64_t fn_ctx,
                              uint64_t ra, uint64_t frame) {
    struct lc_entry *kept = d->cacheable ? take_kept(t, d) : NULL;
    struct lc_entry *e = kept != NULL ? kept : take_scratch(t, d);
    e->n_items = (uint16_t)d->n_items;
    e->ra = ra;
    e->frame = frame;
    e->fn_ctx = fn_ctx;
    if (kept == NULL)
        return e;
    t->counts.made++;
    t->came_back = came_back(t, e);
    t->counts.remade += t->came_back;
    link_entry(t, e);
    return e;
}
