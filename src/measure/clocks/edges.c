/* Edges that come in. */
#include <string.h>
#include <stdbool.h>
#include <stdlib.h>
#include <stddef.h>

#include "measure/clocks/call_state.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/edges.h"
#include "measure/clocks/records.h"
#include "piggyback/cpvec.h"
#include "piggyback/logical.h"
#include "measure/clocks/collectives.h"
#include "measure/clocks/wait_states.h"
#include "piggyback/match.h"
#include "piggyback/pending_entries.h"
#include "measure/clocks/what_if_factors.h"

bool lc_work_add(struct lc_work_since *w, uint64_t ticks, uint32_t node, bool part) {
    if (part && ticks > 0 && ticks >= w->longest) {
        w->longest = ticks;
        w->longest_node = node;
    }
    w->node = !part && w->longest > ticks ? w->longest_node : node;
    if (!part)
        w->longest = 0;
    if (ticks == 0)
        return true;
    uint64_t key = (uint64_t)lc_clk.rank << 32 | node;
    uint32_t i = 0;
    while (i < w->n_items && w->items[i].key != key)
        i++;
    if (i == LC_STEP_ITEMS)
        return false;
    if (i == w->n_items)
        w->items[w->n_items++] = (struct lc_cp_item){key, 0};
    w->items[i].ticks += ticks;
    w->ticks += ticks;
    const float *factors = lc_clk.n_whatif > 0 ? lc_clk_whatif_of(node) : NULL;
    for (uint32_t s = 0; factors != NULL && s < lc_clk.n_whatif; s++)
        w->whatif[s] += (uint64_t)((double)ticks * (double)factors[s]);
    return true;
}

uint32_t lc_work_items(const struct lc_work_since *w, struct lc_cp_item *items) {
    for (uint32_t i = 0; i < w->n_items; i++)
        items[i] = (struct lc_cp_item){w->items[i].key, lc_clk_ns_of(w->items[i].ticks)};
    return w->n_items;
}

/* extra: number of items, of scenarios, what-if clocks, items (key, ns) */
void lc_clk_whatif_words(const struct lc_clk_thread *k, const struct lc_stamp *then,
                         uint64_t *words) {
    uint64_t old[LC_WHATIF_MAX];
    const uint64_t *clocks = k->l.vec.whatif;
    if (lc_clk.n_whatif > 0 && then != NULL && lc_cpvec_whatif_then(&k->l.vec, then->vector, old))
        clocks = old;
    for (uint32_t s = 0; s < LC_WHATIF_MAX; s++)
        words[s] = s < lc_clk.n_whatif ? lc_clk_ns_of(clocks[s]) : 0;
}

uint32_t lc_clk_extra(struct lc_clk_thread *k, const struct lc_stamp *then, uint32_t room,
                      uint64_t *extra) {
    struct lc_cp_item items[LC_CP_ITEMS];
    uint32_t n = lc_cpvec_pack(&k->l.vec, items, room);
    extra[0] = n;
    extra[1] = lc_clk.n_whatif; /* | LC_RECORD_WAITS, LC_RECORD_SYNCHRONOUS */
    lc_clk_whatif_words(k, then, extra + 2);
    for (uint32_t i = 0; i < n; i++)
        items[i].ticks = lc_clk_ns_of(items[i].ticks);
    memcpy(extra + 2 + LC_WHATIF_MAX, items, n * sizeof *items);
    return 2 + LC_WHATIF_MAX + 2 * n;
}

void lc_clk_extra_add(uint64_t *extra, const struct lc_cp_item *items, uint32_t n) {
    struct lc_cp_item *all = (struct lc_cp_item *)(extra + 2 + LC_WHATIF_MAX);
    for (uint32_t k = 0; k < n && k < LC_STEP_ITEMS; k++) {
        uint32_t has = (uint32_t)extra[0], i = 0, smallest = 0;
        for (; i < has && all[i].key != items[k].key; i++)
            smallest = all[i].ticks < all[smallest].ticks ? i : smallest;
        if (i < has) {
            all[i].ticks += items[k].ticks;
        } else if (has < LC_RECORD_ITEMS) {
            all[has] = items[k];
            extra[0]++;
        } else if (all[smallest].ticks < items[k].ticks) {
            all[smallest] = items[k];
        }
    }
}

static void adopt_extra(struct lc_clk_thread *k, const uint64_t *extra, uint32_t n_extra, bool won,
                        uint64_t useful) {
    if (n_extra < 2 + LC_WHATIF_MAX || extra[0] > LC_RECORD_ITEMS ||
        n_extra < 2 + LC_WHATIF_MAX + 2 * extra[0])
        return;
    for (uint32_t s = 0; s < lc_clk.n_whatif && s < (uint32_t)extra[1]; s++) {
        uint64_t theirs = lc_clk_ticks_of(extra[2 + s]);
        if (theirs > k->l.vec.whatif[s])
            LC_SHOW(k->l.vec.whatif[s], theirs);
    }
    if (!won)
        return;
    struct lc_cp_item items[LC_RECORD_ITEMS];
    memcpy(items, extra + 2 + LC_WHATIF_MAX, extra[0] * sizeof *items);
    for (uint32_t i = 0; i < extra[0]; i++)
        items[i].ticks = lc_clk_ticks_of(items[i].ticks);
    lc_cpvec_adopt_items(&k->l.vec, items, (uint32_t)extra[0], useful);
    k->l.stale = true;
}

void lc_clk_edge_far(struct lc_clk_thread *k, uint32_t source, const struct lc_stamp *stamp,
                     uint64_t now, const uint64_t *extra, uint32_t n_extra) {
    uint64_t before = k->l.useful;
    bool won = lc_logical_edge(&k->l, stamp, now);
    if (won && n_extra == 0) { /* a small step that was published without a vector */
        lc_cpvec_add(&k->l.vec, (uint64_t)source << 32 | stamp->node, stamp->useful - before);
        k->l.stale = true;
    } else if (stamp->interval == k->l.interval) {
        adopt_extra(k, extra, n_extra, won, stamp->useful);
    }
}

void lc_clk_count_unseen(uint64_t *kind) {
    if (!lc_clk.ready)
        return;
    lc_clk_lock();
    ++*kind;
    lc_clk.counts.unseen++;
    lc_clk_unlock();
}

/* Edges whose record arrives after their call's clocks were published. */

enum { LC_LATE_MOST = 255 }; /* of a thread */

struct late {
    struct late *next;
    struct lc_clk_thread *k;
    struct lc_stashed *item;  /* of a message; */
    struct lc_shadow *shadow; /* or of a collective operation */
    uint32_t source;
    enum lc_measured_wait kind;
    struct lc_call_end at;
    struct lc_booked *instead; /* NULL: nothing can be booked */
};
static struct late *all; /* the latest first */

static struct late *add(struct lc_clk_thread *k) {
    struct late *l = k->n_late < LC_LATE_MOST ? malloc(sizeof *l) : NULL;
    if (l == NULL)
        return NULL;
    *l = (struct late){.next = all, .k = k};
    all = l;
    k->n_late++;
    k->todo = true;
    return l;
}

/* What it waits for, in the call that ends now. */
static void set_end(struct late *l, const struct lc_call *call, enum lc_measured_wait kind) {
    lc_clk_call_end(l->k, call, &l->at);
    l->kind = kind;
    lc_clk_booked_drop(&l->instead);
    if (kind != LC_MEASURED_KINDS)
        l->instead = lc_clk_booked_hold(l->k, call);
}

/* The edge is not made. No clock is larger than the time since the interval began. */
static void count_unknown(const struct lc_clk_thread *k, const struct lc_call *call) {
    uint64_t most = call->end > k->l.origin ? call->end - k->l.origin : 0;
    if (k->l.interval)
        lc_clk_count_missing(most > k->l.useful ? most - k->l.useful : 0);
}

/* The message shares the record of a later one from the same source: the edge is made there, with
 * the later clock. Until then this thread's clocks were too low by what that clock is ahead of them
 * now, at most. */
static bool share(struct lc_clk_thread *k, const struct lc_call *call, uint32_t source,
                  struct lc_stashed *item, enum lc_measured_wait kind) {
    struct late *l = all;
    while (l != NULL &&
           (l->k != k || l->item == NULL || l->source != source || l->at.interval != k->l.interval))
        l = l->next;
    if (l == NULL)
        return false;
    uint64_t useful = l->at.useful;
    lc_match_release(&lc_clk.match, l->item);
    l->item = item;
    set_end(l, call, kind);
    l->at.useful = lc_min(useful, l->at.useful);
    l->at.calls = 1;
    return true;
}

void lc_clk_late_edge_add(struct lc_clk_thread *k, const struct lc_call *call, uint32_t source,
                          struct lc_stashed *item) {
    enum lc_measured_wait kind =
        lc_clk.fn_class[call->fn] == LC_FN_OTHER ? LC_MEASURED_KINDS : LC_MEASURED_LATESENDER;
    struct late *l = k->l.interval ? add(k) : NULL;
    if (l != NULL) {
        l->item = item;
        l->source = source;
        set_end(l, call, kind);
    } else if (!k->l.interval || !share(k, call, source, item, kind)) {
        count_unknown(k, call);
        lc_match_release(&lc_clk.match, item);
    }
}

bool lc_clk_late_collective_add(struct lc_clk_thread *k, const struct lc_call *call,
                                struct lc_shadow *shadow, enum lc_measured_wait kind) {
    struct late *l = k->l.interval ? add(k) : NULL;
    if (l == NULL) {
        count_unknown(k, call);
        return false;
    }
    l->shadow = shadow;
    set_end(l, call, kind);
    return true;
}

/* The call waited for what entered at `enter`. */
static void book(const struct late *l, uint32_t rank, uint32_t node, uint64_t enter) {
    if (l->instead == NULL || enter <= l->at.begin || rank == lc_clk.rank)
        return;
    struct lc_candidate c = {.ticks = lc_min(enter, l->at.end) - l->at.begin,
                             .kind = l->kind,
                             .late_rank = rank,
                             .late_node = node,
                             .begin = l->at.begin};
    lc_clk_book_later(l->instead, &c);
}

static void take_message(struct late *l) {
    struct lc_stamp stamp = l->item->entry.stamp;
    lc_clk_edge_later(l->k, &l->at, l->source, &stamp, l->item->extra, l->item->n_extra);
    book(l, l->source, stamp.node, stamp.enter);
    lc_match_release(&lc_clk.match, l->item);
}

static void take_collective(struct late *l) {
    struct lc_shadow_edge e;
    if (lc_clk_shadow_edge(l->shadow, l->at.end, &e)) {
        lc_clk_edge_later(l->k, &l->at, lc_clk.rank, &e.stamp, e.extra, LC_RECORD_EXTRA);
        book(l, e.rank, e.node, e.release);
    }
    lc_clk_shadow_release(l->shadow);
}

void lc_clk_late_edges_take(struct lc_clk_thread *k) {
    lc_clk_lock();
    for (struct late **at = &all, *l; (l = *at) != NULL;) {
        l->at.calls += l->k == k;
        if (l->k != k || (l->item != NULL ? l->item->pending : !lc_clk_shadow_arrived(l->shadow))) {
            at = &l->next;
            continue;
        }
        *at = l->next;
        k->n_late--;
        if (l->item != NULL)
            take_message(l);
        else
            take_collective(l);
        lc_clk_booked_drop(&l->instead);
        free(l);
    }
    lc_clk_unlock();
}
