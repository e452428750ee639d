#include "measure/path.h"

#include <stdlib.h>
#include <string.h>

#include "measure/hot.h"
#include "measure/pool.h"

/* The cold half of the look-up: unwind, cut, insert open regions, intern the nodes, make an entry.
 */

enum { HASH_START = 64 };

/* What is known of a call path while its entry is made. */
struct draft {
    struct lc_item items[LC_ITEMS_MAX + LC_REGION_DEPTH + 2];
    uint32_t n_items;
    struct lc_check checks[3 * LC_FRAMES_CACHED];
    uint32_t n_checks;
    bool cacheable;
};

static uint32_t hash_node(uint32_t node) {
    return node * 2654435761u >> 7;
}

/* --- rows
 * -------------------------------------------------------------------------------------------------------------------
 */

LC_COLD struct lc_state_row *lc_row_cold(struct lc_thread *t, struct lc_path *path, uint32_t key) {
    if (path->node == LC_NONE)
        return t->void_row;
    for (uint32_t i = 0; i < path->n_more; i++)
        if (path->more[i].key == key)
            return path->more[i].row;
    struct lc_state_row *row = key == LC_RAW_CLASS_TIME ? lc_time_row(t, path->node)
                                                        : lc_state_row_take(t, path->node, key);
    struct lc_row_ref ref = {row, key};
    if (row == t->spill_row)
        return row;
    if (path->n_rows < LC_PATH_ROWS) {
        path->rows[path->n_rows++] = ref;
        return row;
    }
    struct lc_row_ref *more = realloc(path->more, (path->n_more + 1) * sizeof *more);
    if (more == NULL)
        return t->spill_row;
    path->more = more;
    path->more[path->n_more++] = ref;
    return row;
}

struct lc_state_row *lc_time_row(struct lc_thread *t, uint32_t node) {
    if (node == 0 || node == LC_NONE || t->time_rows == NULL)
        return t->void_row;
    uint32_t i = hash_node(node) & t->times_mask;
    for (; t->time_rows[i] != NULL; i = (i + 1) & t->times_mask)
        if (t->time_rows[i]->node == node)
            return t->time_rows[i];
    struct lc_state_row *row = lc_state_row_take(t, node, LC_RAW_CLASS_TIME);
    if (row == t->spill_row)
        return t->void_row;
    t->time_rows[i] = row;
    if (++t->n_times * 2 <= t->times_mask)
        return row;
    uint32_t mask = t->times_mask * 2 + 1;
    struct lc_state_row **bigger = calloc(mask + 1u, sizeof(struct lc_state_row *));
    if (bigger == NULL)
        return row; /* slower until the table is full; n_times never reaches the mask, see below */
    for (uint32_t k = 0; k <= t->times_mask; k++) {
        if (t->time_rows[k] == NULL)
            continue;
        uint32_t at = hash_node(t->time_rows[k]->node) & mask;
        while (bigger[at] != NULL)
            at = (at + 1) & mask;
        bigger[at] = t->time_rows[k];
    }
    free(t->time_rows);
    t->time_rows = bigger;
    t->times_mask = mask;
    return row;
}

/* --- paths
 * ------------------------------------------------------------------------------------------------------------------
 */

static struct lc_path *path_get(struct lc_thread *t, uint32_t node, uint32_t fn) {
    uint32_t i = hash_node(node) & t->paths_mask;
    for (struct lc_path *p = t->paths[i]; p != NULL; p = p->next)
        if (p->node == node)
            return p;
    struct lc_path *path = calloc(1, sizeof *path);
    if (path == NULL)
        return t->off_entry->path;
    path->node = node;
    path->fn = fn;
    path->next = t->paths[i];
    t->paths[i] = path;
    if (++t->n_paths <= t->paths_mask)
        return path;
    uint32_t mask = t->paths_mask * 2 + 1;
    struct lc_path **bigger = calloc(mask + 1u, sizeof(struct lc_path *));
    if (bigger == NULL)
        return path;
    for (uint32_t k = 0; k <= t->paths_mask; k++)
        for (struct lc_path *p = t->paths[k], *next; p != NULL; p = next) {
            next = p->next;
            uint32_t at = hash_node(p->node) & mask;
            p->next = bigger[at];
            bigger[at] = p;
        }
    free(t->paths);
    t->paths = bigger;
    t->paths_mask = mask;
    return path;
}

/* --- from frames to items
 * ---------------------------------------------------------------------------------------------------
 */

static bool same_item(const struct lc_item *a, const struct lc_item *b) {
    return a->node == b->node && a->slot == b->slot && a->value == b->value &&
           a->region == b->region;
}

/* [*low, *high]: the frames that are shown: below main (or a thread's start function) and above it
 * the MPI library are cut off. */
static void cut_frames(const struct lc_frame *frames, int n, int *low, int *high, bool *is_main) {
    int hi = n - 1, lo = 0, libc = 0;
    const struct lc_module *m;
    bool start = false;
    if (hi >= 1) {
        m = lc_module_find(frames[hi].ip - 1);
        enum lc_module_kind outer = m != NULL ? m->kind : LC_MODULE_OTHER;
        m = lc_module_find(frames[hi - 1].ip - 1);
        start = outer == LC_MODULE_PROGRAM && m != NULL && m->kind == LC_MODULE_LIBC;
        hi -= start;
    }
    while (hi >= 0 && (m = lc_module_find(frames[hi].ip - 1)) != NULL &&
           m->kind == LC_MODULE_LIBC) {
        hi--;
        libc++;
    }
    /* _start, __libc_start_main, __libc_start_call_main, main; clone3, start_thread, start function
     */
    *is_main = libc == 2 || (libc > 0 && !start);
    while (lo < hi && (m = lc_module_find(frames[lo].ip - 1)) != NULL && m->kind == LC_MODULE_MPI)
        lo++;
    *low = lo;
    *high = hi;
}

/* A call inside a callback: what lies between the callback and the program's call of MPI is left
 * out. The new index of the outermost frame. */
static int leave_mpi_out(struct lc_frame *frames, int low, int high) {
    int first = -1, last = -1;
    for (int i = low; i <= high; i++) {
        const struct lc_module *m = lc_module_find(frames[i].ip - 1);
        if (m == NULL || m->kind != LC_MODULE_MPI)
            continue;
        first = first < 0 ? i : first;
        last = i;
    }
    if (first < 0)
        return high;
    memmove(&frames[first], &frames[last + 1], (size_t)(high - last) * sizeof *frames);
    return high - (last + 1 - first);
}

static uint32_t child_of(const struct draft *d, uint32_t n) {
    return n == 0 ? 0 : d->items[n - 1].node;
}

static uint32_t module_id(const struct lc_module *m) {
    return m != NULL ? m->id : lc_state_add_module("?", "", 0); /* generated code */
}

static void add_frame(struct draft *d, const struct lc_frame *f, const struct lc_frame *outer,
                      uint32_t flags) {
    uint64_t start = f->start != 0 ? f->start : f->ip - 1;
    const struct lc_module *m = lc_module_find(start);
    uint64_t bias = m != NULL ? m->bias : 0;
    uint64_t site = f->signal ? f->ip : f->ip - 1;
    struct lc_item *item = &d->items[d->n_items];
    item->node = lc_state_child(child_of(d, d->n_items), LC_RAW_FRAME, module_id(m), flags,
                                start - bias, site - bias);
    if (item->node == LC_NONE)
        return;
    item->slot = outer != NULL ? outer->ip_slot : 0;
    item->value = outer != NULL ? outer->ip : 0;
    item->site = site;
    item->region = 0;
    d->n_items++;
}

static void add_special(struct draft *d, uint32_t kind, uint32_t ref, uint64_t slot, uint64_t value,
                        uint32_t region) {
    struct lc_item *item = &d->items[d->n_items];
    uint32_t node = lc_state_child(child_of(d, d->n_items), kind, ref, 0, 0, 0);
    if (node == LC_NONE)
        return;
    *item = (struct lc_item){.slot = slot, .value = value, .node = node, .region = region};
    d->n_items++;
}

/* The regions that are open on this thread are put where they were begun: behind the activation
 * that began them, or as deep as that path and this one agree. Gives the items of frames [low,
 * high] with regions in between. */
static void build_items(struct lc_thread *t, struct draft *d, const struct lc_frame *frames, int n,
                        int low, int high, uint32_t top) {
    const struct lc_item *old = NULL;
    uint32_t n_old = 0, k = 0;
    if (t->n_regions > 0) {
        old = t->regions[t->n_regions - 1].entry->items;
        n_old = t->regions[t->n_regions - 1].entry->n_items;
    }
    bool agree = true;
    int next = high, shown = 0;
    while (k < n_old && d->n_items < LC_ITEMS_MAX + LC_REGION_DEPTH) {
        if (agree && next >= low) {
            const struct lc_frame *outer = next + 1 < n ? &frames[next + 1] : NULL;
            uint64_t slot = outer != NULL ? outer->ip_slot : 0;
            uint64_t value = outer != NULL ? outer->ip : 0;
            /* A function that is its own region (-finstrument-functions) is both: the frame
             * decides. */
            if (old[k].slot == slot && old[k].value == value) {
                uint32_t before = d->n_items;
                add_frame(d, &frames[next], outer, next == high ? top : 0);
                if (d->n_items > before)
                    d->items[before].region = old[k].region;
                if (d->n_items > before && d->items[before].node == old[k].node) {
                    next--;
                    shown++;
                    k++;
                    continue;
                }
                d->n_items = before;
            }
        }
        if (old[k].region != 0)
            add_special(d, LC_RAW_REGION, lc_region_get(old[k].region - 1).name, old[k].slot,
                        old[k].value, old[k].region);
        else
            agree = false;
        k++;
    }
    for (; next >= low && shown < LC_ITEMS_MAX; next--, shown++)
        add_frame(d, &frames[next], next + 1 < n ? &frames[next + 1] : NULL,
                  next == high ? top : 0);
    if (next >= low)
        add_special(d, LC_RAW_CUT, 0, 1, frames[low].sp, 0);
}

static void draft_unwind(struct lc_thread *t, struct draft *d, uint64_t frame) {
    struct lc_frame *frames = malloc(LC_FRAMES_MAX * sizeof *frames);
    d->n_items = d->n_checks = 0;
    d->cacheable = false;
    if (frames == NULL)
        return;
    bool complete;
    int n = lc_unwind(frame, frames, LC_FRAMES_MAX, &complete);
    t->n_unwinds++;
    int n_checked = n, low = 0, high = 0;
    bool is_main = false;
    pthread_mutex_lock(&lc_core.lock);
    if (n > 0 && n < LC_FRAMES_MAX) {
        cut_frames(frames, n, &low, &high, &is_main);
        /* what starts a program or a thread is the same behind every return from main */
        if (complete && high + 2 < n)
            n_checked = high + 2;
    }
    d->cacheable = n <= LC_FRAMES_CACHED &&
                   lc_unwind_checks(frame, frames, n_checked, d->checks, &d->n_checks);
    for (; d->n_checks % LC_CHECKS_AT_ONCE; d->n_checks++)
        d->checks[d->n_checks] = d->checks[d->n_checks - 1];
    if (n == LC_FRAMES_MAX) {
        add_special(d, LC_RAW_CUT, 0, 1, 0, 0);
    } else if (n > 0) {
        if (t->in_callback)
            high = leave_mpi_out(frames, low, high);
        /* the start function of a thread lies where main does */
        uint32_t top = !is_main || !complete                               ? 0
                       : t->state->tid == atomic_load(&lc_core.state->pid) ? LC_RAW_NODE_MAIN
                                                                           : LC_RAW_NODE_START;
        build_items(t, d, frames, n, low, high, top);
    }
    pthread_mutex_unlock(&lc_core.lock);
    free(frames);
}

static void draft_caller(struct lc_thread *t, struct draft *d, uint64_t ra, uint64_t frame) {
    d->n_items = d->n_checks = 0;
    d->cacheable = true;
    struct lc_frame f = {.ip = ra, .sp = frame + 16, .start = lc_function_begin(ra)};
    struct lc_frame outer = {.ip_slot = frame, .ip = f.start};
    pthread_mutex_lock(&lc_core.lock);
    for (uint32_t i = 0; i < t->n_regions; i++) {
        const struct lc_entry *e = t->regions[i].entry;
        const struct lc_item *last = &e->items[e->n_items - 1];
        if (e->n_items > 0 && last->region != 0)
            add_special(d, LC_RAW_REGION, lc_region_get(last->region - 1).name, last->slot,
                        last->value, last->region);
    }
    struct lc_frame both[2] = {f, outer};
    add_frame(d, &both[0], &both[1], 0);
    pthread_mutex_unlock(&lc_core.lock);
}

/* --- entries
 * ----------------------------------------------------------------------------------------------------------------
 */

/* The words of a region's begin: one item more, the region itself. Its address decides whether the
 * innermost frame is the region. */
static void add_region(struct lc_thread *t, struct draft *d, uint32_t region, uint32_t serial) {
    struct lc_region_name name = lc_region_get(region);
    (void)t;
    if (name.address != 0 && d->n_items > 0) {
        struct lc_item *inner = &d->items[d->n_items - 1];
        const struct lc_state_node *nodes =
            (const struct lc_state_node *)(lc_core.base + lc_core.state->nodes.offset);
        const struct lc_module *m = lc_module_find(name.address);
        if (m != NULL && nodes[inner->node].kind == LC_RAW_FRAME &&
            nodes[inner->node].ref == m->id &&
            nodes[inner->node].offset == name.address - m->bias) {
            inner->region = region + 1;
            return;
        }
    }
    if (name.address !=
        0) { /* an inlined function: a frame of its own that the stack does not show */
        const struct lc_module *m = lc_module_find(name.address);
        uint64_t bias = m != NULL ? m->bias : 0;
        struct lc_item *item = &d->items[d->n_items];
        uint32_t node = lc_state_child(child_of(d, d->n_items), LC_RAW_FRAME, module_id(m), 0,
                                       name.address - bias, 0);
        if (node == LC_NONE)
            return;
        *item = (struct lc_item){.slot = serial, .node = node, .region = region + 1};
        d->n_items++;
        return;
    }
    add_special(d, LC_RAW_REGION, name.name, serial, 0, region + 1);
}

static struct lc_entry *entry_make(struct lc_thread *t, const struct draft *d) {
    size_t bytes = sizeof(struct lc_entry) + d->n_checks * sizeof(struct lc_check) +
                   d->n_items * sizeof(struct lc_item);
    struct lc_entry *e = d->cacheable ? lc_pool_take(t->pool, bytes) : t->scratch_entry;
    if (e == NULL && !t->in_callback) { /* else the call that MPI is in still needs its entry */
        lc_thread_paths_flush(t);
        e = lc_pool_take(t->pool, bytes);
    }
    if (e == NULL)
        e = t->scratch_entry;
    if (e == t->scratch_entry) {
        t->n_uncacheable++;
        if (t->last == e)
            t->last = t->start_entry; /* what it stood for is overwritten now */
        memset(e, 0, sizeof *e);
        e->items = (struct lc_item *)(e + 1);
    } else {
        memset(e, 0, sizeof *e);
        e->n_checks = d->n_checks;
        memcpy(e->checks, d->checks, d->n_checks * sizeof(struct lc_check));
        e->items = (struct lc_item *)(e->checks + d->n_checks);
    }
    e->n_items = d->n_items;
    memcpy(e->items, d->items, d->n_items * sizeof(struct lc_item));
    return e;
}

static void entry_link(struct lc_thread *t, struct lc_entry *e) {
    struct lc_entry **bucket = &t->buckets[lc_bucket(e->ra, e->frame)];
    e->next = *bucket;
    *bucket = e;
}

LC_COLD struct lc_entry *lc_entry_cold(struct lc_thread *t, uint64_t fn_ctx, uint64_t ra,
                                       uint64_t frame) {
    if (t->draft == NULL && (t->draft = malloc(sizeof(struct draft))) == NULL)
        return t->off_entry;
    struct draft *d = t->draft;
    t->cold = true;
    uint32_t fn = (uint32_t)fn_ctx;
    uint32_t serial = ++t->next_serial;
    if (t->callpath == LC_CALLPATH_UNWIND)
        draft_unwind(t, d, frame);
    else if (t->callpath == LC_CALLPATH_CALLER)
        draft_caller(t, d, ra, frame);
    else {
        d->n_items = d->n_checks = 0;
        d->cacheable = true;
    }
    uint32_t n_before = d->n_items;
    bool region = fn >= LC_FN_COUNT + 2, end = region && (fn & 1) != (LC_FN_COUNT & 1);
    pthread_mutex_lock(&lc_core.lock);
    if (region && !end)
        add_region(t, d, (fn - LC_FN_COUNT - 2) / 2, serial);
    uint32_t node = child_of(d, d->n_items);
    if (fn < LC_FN_COUNT)
        node = lc_state_child(node, LC_RAW_MPI, lc_state_add_name(lc_fn_names[fn]), 0, 0, 0);
    pthread_mutex_unlock(&lc_core.lock);
    struct lc_entry *e = entry_make(t, d);
    e->ra = ra;
    e->frame = frame;
    e->fn_ctx = fn_ctx;
    e->serial = serial;
    e->pass = fn < LC_FN_COUNT && lc_binding_own_call(ra, lc_fn_names[fn]);
    e->path = node != LC_NONE ? path_get(t, node, fn < LC_FN_COUNT ? fn : LC_FN_COUNT)
                              : t->off_entry->path;
    e->n_current = e->n_previous = e->n_items;
    if (region && !end)
        e->n_current = n_before < e->n_items ? n_before : e->n_items - (e->n_items > 0);
    if (end) /* the innermost item that is this region, and what is inside of it, is gone afterwards
              */
        for (uint32_t i = e->n_items; i-- > 0;)
            if (e->items[i].region == (fn - LC_FN_COUNT - 2) / 2 + 1) {
                e->n_previous = i;
                break;
            }
    if (e != t->scratch_entry)
        entry_link(t, e);
    else if (t->callpath == LC_CALLPATH_UNWIND && t->n_uncacheable > 10000 &&
             t->n_uncacheable * 2 > t->n_unwinds)
        t->callpath = LC_CALLPATH_CALLER; /* too dear */
    lc_trace_sites(e);
    return e;
}

/* The judge: is the path of this entry what full unwinding finds? The region that a begin opens is
 * not compared. */
LC_COLD void lc_entry_check(struct lc_thread *t, const struct lc_entry *e, uint64_t frame) {
    struct draft *d = t->draft;
    if (t->callpath != LC_CALLPATH_UNWIND || e == t->off_entry || d == NULL)
        return;
    draft_unwind(t, d, frame);
    t->n_unwinds--;
    t->n_checked++;
    uint32_t n = d->n_items < e->n_items ? d->n_items : e->n_items;
    bool equal = d->n_items == e->n_items || d->n_items + 1 == e->n_items;
    for (uint32_t i = 0; i < n && equal; i++)
        equal = d->items[i].node == e->items[i].node && d->items[i].slot == e->items[i].slot &&
                d->items[i].value == e->items[i].value;
    t->n_wrong += !equal;
}

LC_COLD void lc_entry_transition(struct lc_thread *t, struct lc_entry *e) {
    struct lc_entry *last = t->last;
    struct lc_state_row *row = e->gap_row[1];
    uint32_t common = e->gap_common[1], node = e->gap_node[1];
    if (e->previous[1] != last || last == t->scratch_entry) {
        uint32_t most = last->n_previous < e->n_current ? last->n_previous : e->n_current;
        for (common = 0; common < most; common++)
            if (!same_item(&last->items[common], &e->items[common]))
                break;
        node = common == 0 ? 0 : e->items[common - 1].node;
        row = lc_time_row(t, node);
        lc_sites_take(t, e, 1);
    }
    uint64_t ticks = e->gap_ticks[1];
    e->gap_ticks[1] = e->gap_ticks[0];
    e->gap_ticks[0] = ticks;
    e->previous[1] = e->previous[0];
    e->gap_row[1] = e->gap_row[0];
    e->gap_common[1] = e->gap_common[0];
    e->gap_node[1] = e->gap_node[0];
    e->previous[0] = last != t->scratch_entry ? last : NULL;
    e->gap_row[0] = row;
    e->gap_common[0] = common;
    e->gap_node[0] = node;
}

/* --- life
 * -------------------------------------------------------------------------------------------------------------------
 */

struct lc_entry *lc_plain_entry(void) {
    struct lc_entry *e =
        calloc(1, sizeof *e + (LC_ITEMS_MAX + LC_REGION_DEPTH + 2) * sizeof(struct lc_item));
    if (e != NULL)
        e->items = (struct lc_item *)(e + 1);
    return e;
}

enum lc_err lc_thread_paths_init(struct lc_thread *t) {
    t->buckets = calloc(LC_BUCKETS, sizeof(struct lc_entry *));
    t->paths = calloc(HASH_START, sizeof(struct lc_path *));
    t->time_rows = calloc(HASH_START, sizeof(struct lc_state_row *));
    t->regions = calloc(LC_REGION_DEPTH, sizeof(struct lc_region_open));
    t->paths_mask = t->times_mask = HASH_START - 1;
    t->off_entry = lc_plain_entry();
    t->start_entry = lc_plain_entry();
    t->scratch_entry = lc_plain_entry();
    t->void_row = calloc(1, sizeof(struct lc_state_row));
    t->spill_row = calloc(1, sizeof(struct lc_state_row));
    t->pool = lc_pool_new();
    struct lc_path *off = calloc(1, sizeof *off);
    if (t->buckets == NULL || t->paths == NULL || t->time_rows == NULL || t->regions == NULL ||
        t->off_entry == NULL || t->start_entry == NULL || t->scratch_entry == NULL ||
        t->void_row == NULL || t->spill_row == NULL || t->pool == NULL || off == NULL) {
        free(off);
        lc_thread_paths_free(t);
        return lc_fail(LC_ERR_NOMEM, "measurement: no memory for a thread");
    }
    off->node = LC_NONE;
    t->off_entry->path = t->start_entry->path = t->scratch_entry->path = off;
    t->last = t->start_entry;
    t->callpath = lc_core.callpath;
    return LC_OK;
}

void lc_thread_paths_free(struct lc_thread *t) {
    for (uint32_t k = 0; t->paths != NULL && k <= t->paths_mask; k++)
        for (struct lc_path *p = t->paths[k], *next; p != NULL; p = next) {
            next = p->next;
            free(p->more);
            free(p);
        }
    if (t->off_entry != NULL)
        free(t->off_entry->path);
    free(t->buckets);
    free(t->paths);
    free(t->time_rows);
    free(t->regions);
    free(t->draft);
    free(t->off_entry);
    free(t->start_entry);
    free(t->scratch_entry);
    free(t->callback_entry);
    free(t->void_row);
    free(t->spill_row);
    free(t->sites);
    t->sites = NULL;
    lc_pool_free(t->pool);
    t->buckets = NULL;
    t->paths = NULL;
    t->time_rows = NULL;
    t->regions = NULL;
    t->draft = NULL;
    t->off_entry = t->start_entry = t->scratch_entry = t->callback_entry = NULL;
    t->void_row = t->spill_row = NULL;
    t->pool = NULL;
}

/* Forgets all entries but those of open regions, which are copied into the new pool. */
void lc_thread_paths_flush(struct lc_thread *t) {
    t->n_recycled++;
    struct lc_pool *fresh = lc_pool_new();
    if (fresh == NULL)
        return;
    lc_sites_take_all(t);
    memset(t->buckets, 0, LC_BUCKETS * sizeof(struct lc_entry *));
    for (uint32_t i = 0; i < t->n_regions; i++) {
        const struct lc_entry *old = t->regions[i].entry;
        if (old == t->off_entry)
            continue;
        size_t bytes = sizeof *old + old->n_checks * sizeof(struct lc_check) +
                       old->n_items * sizeof(struct lc_item);
        struct lc_entry *copy = lc_pool_take(fresh, bytes);
        if (copy == NULL) {
            t->regions[i].entry = t->off_entry;
            continue;
        }
        *copy = *old;
        memcpy(copy->checks, old->checks, old->n_checks * sizeof(struct lc_check));
        copy->items = (struct lc_item *)(copy->checks + copy->n_checks);
        memcpy(copy->items, old->items, old->n_items * sizeof(struct lc_item));
        memset(copy->previous, 0, sizeof copy->previous);
        t->regions[i].entry = copy;
        entry_link(t, copy);
    }
    memset(t->off_entry->previous, 0, sizeof t->off_entry->previous);
    memset(t->scratch_entry->previous, 0, sizeof t->scratch_entry->previous);
    t->last = t->start_entry;
    lc_pool_free(t->pool);
    t->pool = fresh;
}
