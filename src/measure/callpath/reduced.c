#include "measure/callpath/reduced.h"
#include "measure/callpath/python_stack.h"
#include "measure/core/core.h"
#include "measure/callpath/entry_find.h"
#include "measure/callpath/draft.h"
#include "measure/callpath/entry.h"
#include "measure/core/state_write.h"
#include "measure/core/thread.h"

#include <stdlib.h>
#include <string.h>

enum { SUFFIX_MOST = 4, MERGED_MOST = 16, WORTH_MERGING = 3 };

struct lc_merged { /* an entry, and what it is known by */
    struct lc_merged *next;
    uint64_t fn_ctx;
    uint64_t slots[2], values[2]; /* words of the stack; slot 0: none to compare */
    struct lc_entry *entry;       /* after it, and its items */
};

struct lc_site *lc_site_get(struct lc_sites_reduced *all, uint32_t fn, uint64_t ra) {
    struct lc_site *known = lc_site_find(all, fn, ra);
    if (known != NULL || all->n_sites >= LC_SITES_MOST * 3 / 4)
        return known;
    uint32_t i = (uint32_t)(lc_hash_key(ra) >> 56) % LC_SITES_MOST;
    while (all->sites[i].ra != 0)
        i = (i + 1) % LC_SITES_MOST;
    all->sites[i] = (struct lc_site){.ra = ra, .fn = fn};
    all->n_sites++;
    return &all->sites[i];
}

/* The stack is the program's: what its frames hold need not be what they were compiled to hold. */
__attribute__((no_sanitize("address", "thread"))) static bool holds(const struct lc_merged *m,
                                                                    uint64_t frame) {
    for (int i = 0; i < 2; i++)
        if (m->slots[i] != 0 &&
            (m->slots[i] <= frame || *(const uint64_t *)m->slots[i] != m->values[i]))
            return false;
    return true;
}

struct lc_entry *lc_site_entry(struct lc_thread *t, struct lc_site *site, uint64_t frame) {
    uint64_t fn_ctx = site->fn | (uint64_t)lc_context(t) << 32;
    if (site->detail == LC_DETAIL_FULL)
        return lc_entry_find(t, site->fn, site->ra, frame);
    for (struct lc_merged *m = site->merged; m != NULL; m = m->next)
        if (m->fn_ctx == fn_ctx && holds(m, frame))
            return m->entry;
    return lc_entry_cold(t, fn_ctx, site->ra, frame, site);
}

/* --- what all paths of a site have in common */

static bool same_function(uint32_t a, uint32_t b) {
    const struct lc_state_node *nodes = lc_state_nodes(), *x = &nodes[a], *y = &nodes[b];
    return x->kind == y->kind && x->ref == y->ref && x->offset == y->offset;
}

/* Leading items of both. */
static uint32_t common_prefix(const struct lc_item *a, const struct lc_item *b, uint32_t n) {
    uint32_t i = 0;
    while (i < n && a[i].node == b[i].node)
        i++;
    return i;
}

/* Compares with the items of the first one. */
static void keep_common(struct lc_site *site, const struct lc_entry *first,
                        const struct lc_entry *e) {
    uint32_t n = first->n_items < e->n_items ? first->n_items : e->n_items, i = 0;
    while (
        i < n && i < site->n_suffix &&
        same_function(first->items[first->n_items - 1 - i].node, e->items[e->n_items - 1 - i].node))
        i++;
    site->n_suffix = i;
    i = common_prefix(first->items, e->items, n);
    site->n_prefix = i < site->n_prefix ? i : site->n_prefix;
}

/* Entries of this site, and how many different paths they stand for. */
static uint32_t find_common(const struct lc_thread *t, struct lc_site *site,
                            const struct lc_entry *first, uint32_t *n_paths) {
    uint32_t n = 0, pass = ++t->sites_known->passes;
    *n_paths = 0;
    site->n_prefix = first->n_items;
    site->n_suffix = SUFFIX_MOST < first->n_items ? SUFFIX_MOST : first->n_items;
    for (int i = 0; i < LC_BUCKETS; i++)
        for (const struct lc_entry *e = t->buckets[i]; e != NULL; e = e->next) {
            if (e->ra != site->ra || (uint32_t)e->fn_ctx != site->fn || e->pass)
                continue;
            keep_common(site, first, e);
            *n_paths += e->path->pass != pass;
            e->path->pass = pass;
            n++;
        }
    if (site->n_prefix == first->n_items) /* all alike */
        site->n_prefix--;
    return n;
}

/* --- reducing */

/* They are used no more, but may be the thread's last event. */
static void retire_all(struct lc_sites_reduced *all, struct lc_site *site) {
    while (site->merged != NULL) {
        struct lc_merged *m = site->merged;
        site->merged = m->next;
        m->next = all->retired;
        all->retired = m;
    }
    site->n_merged = 0;
}

static bool keep_prefix(struct lc_site *site, const struct lc_entry *first) {
    struct lc_item *prefix = calloc(site->n_prefix + 1, sizeof *prefix);
    if (prefix == NULL)
        return false;
    memcpy(prefix, first->items, site->n_prefix * sizeof *prefix);
    free(site->prefix);
    site->prefix = prefix;
    return true;
}

bool lc_site_reduce(struct lc_thread *t, struct lc_site *site, const struct lc_entry *e,
                    enum lc_detail detail, uint32_t *n_paths) {
    *n_paths = 0;
    if (e->path->node == LC_NONE || e->n_items == 0)
        return false;
    if (detail == LC_DETAIL_COUNTED) {
        struct lc_state_row *row = lc_row(t, e->path, 0);
        if (row == t->void_row || row == t->spill_row)
            return false;
        site->row = row;
        site->detail = LC_DETAIL_COUNTED;
        return true;
    }
    if (site->detail == LC_DETAIL_FULL) {
        uint32_t n = find_common(t, site, e, n_paths);
        if (detail == LC_DETAIL_MERGED && (n < WORTH_MERGING || site->n_suffix == 0))
            return false;
    }
    if (detail == LC_DETAIL_CALLER) {
        site->n_prefix = 0;
        site->n_suffix = 1;
        retire_all(t->sites_known, site);
    }
    if (!keep_prefix(site, e))
        return false;
    site->detail = (uint8_t)detail;
    return true;
}

static void add_again(struct lc_draft *d, const struct lc_item *item) {
    struct lc_state_node node = lc_state_nodes()[item->node];
    uint32_t parent = lc_draft_node(d, d->n_items);
    uint32_t child =
        lc_state_child(parent, node.kind, node.ref, node.flags, node.offset, node.call_site);
    if (child == LC_NONE)
        return;
    d->items[d->n_items] = *item;
    d->items[d->n_items].node = child;
    d->items[d->n_items].activation = LC_ACTIVATION_UNKNOWN;
    d->n_items++;
}

void lc_site_merge(const struct lc_site *site, struct lc_draft *d) {
    struct lc_item suffix[SUFFIX_MOST];
    uint32_t n = d->n_items, n_suffix = site->n_suffix < n ? site->n_suffix : n;
    uint32_t most = n - n_suffix < site->n_prefix ? n - n_suffix : site->n_prefix;
    uint32_t n_prefix = common_prefix(site->prefix, d->items, most);
    d->n_marks = 0;
    for (uint32_t i = n_prefix; i-- > 0 && d->n_marks < 2;)
        if (d->places[i].value != 0)
            d->marks[d->n_marks++] = d->places[i];
    if (n_prefix + n_suffix >= n)
        return;
    memcpy(suffix, &d->items[n - n_suffix], n_suffix * sizeof *suffix);
    d->n_items = n_prefix;
    uint32_t cut = lc_state_child(lc_draft_node(d, n_prefix), LC_RAW_CUT, 0, 0, 0, 0);
    if (cut != LC_NONE)
        d->items[d->n_items++] = (struct lc_item){.node = cut};
    for (uint32_t i = 0; i < n_suffix; i++)
        add_again(d, &suffix[i]);
}

struct lc_entry *lc_site_entry_new(struct lc_thread *t, struct lc_site *site,
                                   const struct lc_draft *d, uint64_t fn_ctx, uint64_t frame) {
    if (site->n_merged == MERGED_MOST) {
        if (site->n_prefix == 0)
            return NULL;
        site->n_prefix /= 2; /* of what is made from now on */
        retire_all(t->sites_known, site);
    }
    struct lc_merged *m =
        calloc(1, sizeof *m + sizeof(struct lc_entry) + d->n_items * sizeof(struct lc_item));
    if (m == NULL)
        return NULL;
    m->fn_ctx = fn_ctx;
    for (uint32_t i = 0; i < d->n_marks; i++)
        if (d->marks[i].slot > frame && (d->marks[i].slot & 7) == 0) {
            m->slots[i] = d->marks[i].slot;
            m->values[i] = d->marks[i].value;
        }
    m->entry = (struct lc_entry *)(m + 1);
    m->entry->items = (struct lc_item *)(m->entry + 1);
    memcpy(m->entry->items, d->items, d->n_items * sizeof(struct lc_item));
    m->entry->n_items = (uint16_t)d->n_items;
    m->entry->ra = site->ra;
    m->entry->frame = frame;
    m->entry->fn_ctx = fn_ctx;
    m->entry->merged = true;
    m->next = site->merged;
    site->merged = m;
    site->n_merged++;
    return m->entry;
}

/* --- life */

static void forget(struct lc_merged *m) {
    for (; m != NULL; m = m->next)
        lc_entry_forget_others(m->entry);
}

void lc_sites_reduced_forget_others(struct lc_thread *t) {
    struct lc_sites_reduced *all = t->sites_known;
    for (uint32_t i = 0; all != NULL && i < LC_SITES_MOST; i++)
        forget(all->sites[i].merged);
    if (all != NULL)
        forget(all->retired);
}

uint64_t lc_sites_counted(const struct lc_thread *t) {
    uint64_t n = 0;
    for (uint32_t i = 0; t->sites_known != NULL && i < LC_SITES_MOST; i++)
        n += t->sites_known->sites[i].n_counted;
    return n;
}

void lc_sites_reduced_forget(struct lc_thread *t) {
    struct lc_sites_reduced *all = t->sites_known;
    t->counts.counted += lc_sites_counted(t);
    for (uint32_t i = 0; all != NULL && i < LC_SITES_MOST; i++) {
        struct lc_site *site = &all->sites[i];
        retire_all(all, site);
        free(site->prefix);
        *site = (struct lc_site){0};
    }
    if (all != NULL)
        all->n_sites = 0;
    t->reduced = NULL;
}

void lc_sites_reduced_free(struct lc_thread *t) {
    lc_sites_reduced_forget(t);
    struct lc_sites_reduced *all = t->sites_known;
    while (all != NULL && all->retired != NULL) {
        struct lc_merged *m = all->retired;
        all->retired = m->next;
        free(m);
    }
    free(all);
    t->sites_known = NULL;
}
