#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/hash.h"
#include "measure/core/core.h"
#include "measure/unwind/modules.h"
#include "measure/callpath/budget.h"
#include "measure/callpath/entry.h"
#include "measure/callpath/loops.h"
#include "measure/callpath/python_stack.h"
#include "measure/core/state_write.h"
#include "measure/core/thread.h"

/* The cold half of the look-up: rows of nodes, paths, entries made of drafts. */

enum { HASH_START = 64 };

static uint32_t hash_node(uint32_t node) {
    return lc_hash_key32(node) >> 7;
}

/* --- rows --- */

LC_COLD struct lc_state_row *lc_row_cold(struct lc_thread *t, struct lc_path *path, uint32_t key) {
    if (path->node == LC_NONE)
        return path == t->lost_entry->path ? t->spill_row : t->void_row;
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

static uint64_t address_of(const struct lc_state_row *row) {
    return row->size_class == LC_RAW_CLASS_ADDRESS ? row->min : 0;
}

/* Its place, or the free one where it belongs. */
static struct lc_state_row **place_of(const struct lc_row_table *table, uint32_t node,
                                      uint64_t address) {
    uint32_t at = (uint32_t)(lc_hash_key(address ^ (uint64_t)node << 40) >> 32) & table->mask;
    while (table->rows[at] != NULL &&
           (table->rows[at]->node != node || address_of(table->rows[at]) != address))
        at = (at + 1) & table->mask;
    return &table->rows[at];
}

static void grow(struct lc_row_table *table) {
    struct lc_row_table more = {.n = table->n, .mask = table->mask * 2 + 1};
    if (table->rows == NULL)
        more.mask = HASH_START - 1;
    more.rows = calloc(more.mask + 1u, sizeof(struct lc_state_row *));
    if (more.rows == NULL)
        return;
    for (uint32_t i = 0; table->rows != NULL && i <= table->mask; i++)
        if (table->rows[i] != NULL)
            *place_of(&more, table->rows[i]->node, address_of(table->rows[i])) = table->rows[i];
    free(table->rows);
    *table = more;
}

struct lc_state_row *lc_row_of(struct lc_thread *t, struct lc_row_table *table, uint32_t class,
                               uint32_t node, uint64_t address) {
    struct lc_state_row **place = table->rows != NULL ? place_of(table, node, address) : NULL;
    if (place != NULL && *place != NULL)
        return *place;
    if (class == LC_RAW_CLASS_ADDRESS && table->n >= LC_ROWS_ADDRESSES)
        return NULL;
    if (table->rows == NULL || table->n * 2 > table->mask) {
        grow(table);
        place = table->rows != NULL ? place_of(table, node, address) : NULL;
    }
    /* where it could not grow, one place stays empty, where searches end */
    if (place == NULL || table->n == table->mask)
        return NULL;
    struct lc_state_row *row = lc_state_row_take(t, node, class);
    if (row == t->spill_row)
        return NULL;
    if (class == LC_RAW_CLASS_ADDRESS)
        row->min = address;
    table->n++;
    return *place = row;
}

struct lc_state_row *lc_time_row(struct lc_thread *t, uint32_t node) {
    struct lc_state_row *row =
        node != 0 && node != LC_NONE ? lc_row_of(t, &t->times, LC_RAW_CLASS_TIME, node, 0) : NULL;
    return row != NULL ? row : t->void_row;
}

/* --- paths --- */

static struct lc_path *path_get(struct lc_thread *t, uint32_t node, uint32_t fn) {
    uint32_t i = hash_node(node) & t->paths_mask;
    for (struct lc_path *p = t->paths[i]; p != NULL; p = p->next)
        if (p->node == node)
            return p;
    struct lc_path *path = calloc(1, sizeof *path);
    if (path == NULL)
        return t->lost_entry->path;
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

struct lc_path_watch lc_path_watch;

/* --- entries */

/* With lc_core.lock held. */
static uint32_t name_of(uint32_t fn) {
    static uint32_t names[LC_FN_COUNT]; /* + 1 */
    if (names[fn] == 0)
        names[fn] = lc_state_add_name(lc_fn_names[fn]) + 1; /* LC_NONE: again the next time */
    return names[fn] - 1;
}

/* The node of a call of `fn` at the end of the draft's items. With lc_core.lock held. */
static uint32_t node_of_draft(const struct lc_draft *d, uint32_t fn) {
    uint32_t node = lc_draft_node(d, d->n_items);
    if (fn < LC_FN_COUNT)
        node = lc_state_child(node, LC_RAW_MPI, name_of(fn), 0, 0, 0);
    if (lc_path_watch.node != NULL)
        lc_path_watch.node(node);
    return node;
}

static struct lc_path *path_of_node(struct lc_thread *t, uint32_t node, uint32_t fn) {
    return node != LC_NONE ? path_get(t, node, fn < LC_FN_COUNT ? fn : LC_FN_COUNT)
                           : t->lost_entry->path;
}

LC_COLD struct lc_path *lc_path_of_caller(struct lc_thread *t, const struct lc_entry *e) {
    struct lc_draft *d = t->draft; /* which made the entry */
    uint32_t fn = (uint32_t)e->fn_ctx;
    lc_draft_caller(t, d, e->ra, e->frame);
    pthread_mutex_lock(&lc_core.lock);
    if (fn >= LC_FN_COUNT + 2)
        lc_draft_region(d, (fn - LC_FN_COUNT - 2) / 2, e->serial);
    uint32_t node = node_of_draft(d, fn);
    pthread_mutex_unlock(&lc_core.lock);
    return path_of_node(t, node, fn);
}

/* The begin of the innermost region, if that ends here in the frame in which it began, from where
 * the stack is still the same; else NULL. */
static const struct lc_entry *begun_here(const struct lc_thread *t, uint32_t region, uint64_t ra,
                                         uint64_t frame) {
    const struct lc_region_open *open = t->n_regions > 0 ? &t->regions[t->n_regions - 1] : NULL;
    if (open == NULL || open->name != region || t->python != NULL)
        return NULL;
    const struct lc_entry *e = open->entry;
    bool same = e->ra == ra && e->frame == frame && !e->transient && !e->cut && e->n_checks > 0;
    return same && lc_entry_holds(e, frame) ? e : NULL;
}

LC_COLD struct lc_entry *lc_entry_cold(struct lc_thread *t, uint64_t fn_ctx, uint64_t ra,
                                       uint64_t frame) {
    if (t->draft == NULL && (t->draft = calloc(1, sizeof(struct lc_draft))) == NULL)
        return t->lost_entry;
    struct lc_draft *d = t->draft;
    t->cold = true;
    uint32_t fn = (uint32_t)fn_ctx;
    uint32_t serial = ++t->next_serial;
    bool region = fn >= LC_FN_COUNT + 2, end = region && (fn & 1) != (LC_FN_COUNT & 1);
    bool cut = t->callpath == LC_CALLPATH_UNWIND && lc_budget_caller_only(t, fn, ra);
    const struct lc_entry *begun =
        end ? begun_here(t, (fn - LC_FN_COUNT - 2) / 2, ra, frame) : NULL;
    if (t->callpath == LC_CALLPATH_UNWIND && begun != NULL)
        lc_draft_copy(d, begun);
    else if (t->callpath == LC_CALLPATH_UNWIND && !cut)
        lc_draft_unwind(t, d, frame);
    else if (t->callpath != LC_CALLPATH_NONE)
        lc_draft_caller(t, d, ra, frame);
    else {
        d->n_items = d->n_checks = 0;
        d->cacheable = true;
    }
    uint32_t n_before = d->n_items;
    pthread_mutex_lock(&lc_core.lock);
    if (region && !end)
        lc_draft_region(d, (fn - LC_FN_COUNT - 2) / 2, serial);
    uint32_t node = node_of_draft(d, fn);
    lc_module_find(ra - 1); /* notes a binding that is seen for the first time */
    pthread_mutex_unlock(&lc_core.lock);
    struct lc_entry *e = lc_entry_new(t, d, fn_ctx, ra, frame);
    e->cut = cut;
    e->serial = serial;
    e->pass = fn < LC_FN_COUNT && lc_binding_call(ra, lc_fn_names[fn]);
    e->path = path_of_node(t, node, fn);
    e->n_current = e->n_previous = e->n_items;
    if (region && !end)
        e->n_current =
            (uint16_t)(n_before < e->n_items ? n_before : e->n_items - 1u * (e->n_items > 0));
    if (end) /* the innermost item that is this region, and what is inside of it, is gone afterwards
              */
        for (uint16_t i = e->n_items; i-- > 0;)
            if (e->items[i].region == (fn - LC_FN_COUNT - 2) / 2 + 1) {
                e->n_previous = i;
                break;
            }
    if (t->callpath == LC_CALLPATH_UNWIND && e->transient && t->counts.uncacheable > 10000 &&
        t->counts.uncacheable * 2 > t->counts.unwinds)
        t->callpath = LC_CALLPATH_CALLER; /* unwinding costs too much here */
    lc_budget_path_made(t, e);
    if (lc_path_watch.made != NULL)
        lc_path_watch.made(e);
    return e;
}

/* Is the path of this entry what full unwinding finds? The region that a begin opens is
 * not compared. */
LC_COLD void lc_entry_check(struct lc_thread *t, const struct lc_entry *e, uint64_t frame) {
    struct lc_draft *d = t->draft;
    if (t->callpath != LC_CALLPATH_UNWIND || e == t->off_entry || d == NULL || e->cut)
        return;
    lc_draft_check(t, d, frame);
    t->counts.checked++;
    uint32_t n = d->n_items < e->n_items ? d->n_items : e->n_items;
    bool equal = d->n_items == e->n_items || d->n_items + 1 == e->n_items;
    for (uint32_t i = 0; i < n && equal; i++)
        equal = d->items[i].node == e->items[i].node &&
                d->items[i].activation == e->items[i].activation;
    t->counts.wrong += !equal;
}

static bool same_item(const struct lc_item *a, const struct lc_item *b) {
    return a->node == b->node && a->activation == b->activation && a->region == b->region &&
           a->activation != LC_ACTIVATION_UNKNOWN;
}

LC_COLD void lc_entry_transition(struct lc_thread *t, struct lc_entry *e) {
    struct lc_entry *last = t->last;
    struct lc_state_row *row = e->gap_row[1];
    struct lc_loop *loop = e->gap_loop[1];
    uint32_t common = e->gap_common[1], node = e->gap_node[1];
    if (e->previous[1] != last || last->transient) {
        uint32_t most = last->n_previous < e->n_current ? last->n_previous : e->n_current;
        for (common = 0; common < most; common++)
            if (!same_item(&last->items[common], &e->items[common]))
                break;
        node = common == 0 ? 0 : e->items[common - 1].node;
        row = lc_time_row(t, node);
        loop = lc_loop_of(t, e, common);
        lc_sites_take(t, e, 1);
    }
    uint64_t ticks = e->gap_ticks[1];
    e->gap_ticks[1] = e->gap_ticks[0];
    e->gap_ticks[0] = ticks;
    e->previous[1] = e->previous[0];
    e->gap_row[1] = e->gap_row[0];
    e->gap_common[1] = e->gap_common[0];
    e->gap_node[1] = e->gap_node[0];
    e->gap_loop[1] = e->gap_loop[0];
    e->previous[0] = last->transient ? NULL : last;
    e->gap_row[0] = row;
    e->gap_common[0] = common;
    e->gap_node[0] = node;
    e->gap_loop[0] = loop;
}

bool lc_gap_leave(struct lc_call *call, uint32_t node) {
    struct lc_thread *t = call->thread;
    struct lc_entry *e = call->entry;
    uint32_t common = e->gap_common[0];
    while (common > 0 && e->items[common - 1].node != node)
        if (e->items[--common].site == 0)
            return false;
    if (common == 0)
        return false;
    uint64_t gap = call->begin > t->last_ticks ? call->begin - t->last_ticks : 0;
    e->gap_row[0]->sum -= gap;
    e->gap_ticks[0] -= gap;
    lc_sites_take(t, e, 0);
    e->gap_row[0] = lc_time_row(t, node);
    e->gap_common[0] = call->common = common;
    e->gap_node[0] = node;
    e->gap_row[0]->sum += gap;
    e->gap_ticks[0] = gap;
    return true;
}

/* --- life --- */

struct lc_entry *lc_plain_entry(void) {
    struct lc_entry *e = calloc(1, sizeof *e + LC_DRAFT_ITEMS * sizeof(struct lc_item));
    if (e != NULL)
        e->items = (struct lc_item *)(e + 1);
    return e;
}

static void free_paths(struct lc_thread *t) {
    for (uint32_t k = 0; t->paths != NULL && k <= t->paths_mask; k++)
        for (struct lc_path *p = t->paths[k], *next; p != NULL; p = next) {
            next = p->next;
            free(p->more);
            free(p);
        }
    if (t->off_entry != NULL)
        free(t->off_entry->path);
    if (t->lost_entry != NULL)
        free(t->lost_entry->path);
    free(t->buckets);
    free(t->paths);
    free(t->times.rows);
    free(t->regions);
    free(t->draft);
    free(t->off_entry);
    free(t->start_entry);
    free(t->lost_entry);
    free(t->scratch_entries[0]);
    free(t->scratch_entries[1]);
    free(t->callback_entry);
    free(t->void_row);
    free(t->spill_row);
    free(t->sites);
    t->sites = NULL;
    lc_budget_free(t);
    lc_entries_free(t);
    lc_python_thread_free(t);
    t->buckets = NULL;
    t->paths = NULL;
    t->times = (struct lc_row_table){0};
    t->regions = NULL;
    t->draft = NULL;
    t->off_entry = t->start_entry = t->lost_entry = t->callback_entry = NULL;
    t->scratch_entries[0] = t->scratch_entries[1] = NULL;
    t->void_row = t->spill_row = NULL;
}

static enum lc_err make(struct lc_thread *t) {
    t->buckets = calloc(LC_BUCKETS, sizeof(struct lc_entry *));
    t->paths = calloc(HASH_START, sizeof(struct lc_path *));
    t->regions = calloc(LC_REGION_DEPTH, sizeof(struct lc_region_open));
    t->paths_mask = HASH_START - 1;
    t->off_entry = lc_plain_entry();
    t->start_entry = lc_plain_entry();
    t->lost_entry = lc_plain_entry();
    t->scratch_entries[0] = lc_plain_entry();
    t->scratch_entries[1] = lc_plain_entry();
    t->void_row = calloc(1, sizeof(struct lc_state_row));
    t->spill_row = calloc(1, sizeof(struct lc_state_row));
    t->pool = lc_pool_new(LC_ENTRIES_FIRST);
    struct lc_path *off = calloc(1, sizeof *off), *lost = calloc(1, sizeof *lost);
    if (t->buckets == NULL || t->paths == NULL || t->regions == NULL || t->off_entry == NULL ||
        t->start_entry == NULL || t->lost_entry == NULL || t->scratch_entries[0] == NULL ||
        t->scratch_entries[1] == NULL || t->void_row == NULL || t->spill_row == NULL ||
        t->pool == NULL || off == NULL || lost == NULL) {
        free(off);
        free(lost);
        free_paths(t);
        return lc_fail(LC_ERR_NOMEM, "measurement: no memory for a thread");
    }
    off->node = lost->node = LC_NONE;
    t->off_entry->path = t->start_entry->path = off;
    t->lost_entry->path = lost;
    t->lost_entry->transient = true; /* the next call of the site tries again */
    t->last = t->start_entry;
    t->until_sample = LC_SAMPLE_FIRST;
    t->sample_calls = LC_SAMPLE_FIRST;
    t->callpath = lc_core.callpath;
    lc_python_thread_init(t);
    return LC_OK;
}

const struct lc_part lc_paths_part = {.thread_make = make, .thread_free = free_paths};
