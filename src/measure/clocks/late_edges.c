/* Edges whose record arrives after their call's clocks were published. */
#include <stdbool.h>
#include <stdlib.h>

#include "measure/clocks/clocks.h"
#include "measure/clocks/late_edges.h"
#include "measure/clocks/record_format.h"
#include "measure/clocks/shadow_collectives.h"
#include "measure/clocks/shadow_record.h"
#include "measure/clocks/wait_states.h"
#include "piggyback/match.h"
#include "piggyback/pending_entries.h"

enum { LC_LATE_MOST = 255 }; /* of a thread */

struct late {
    struct late *next;
    struct lc_clk_thread *k;
    struct lc_stashed *item;  /* of a message; */
    struct lc_shadow *shadow; /* or of a collective operation */
    uint32_t source;
    enum lc_measured_wait kind;
    struct lc_call_end at;
    struct lc_booked instead; /* wait NULL: nothing can be booked */
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
    if (kind == LC_MEASURED_KINDS || !lc_clk_booked(l->k, call, &l->instead))
        l->instead.wait = NULL;
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
    if (l->instead.wait == NULL || enter <= l->at.begin || rank == lc_clk.rank)
        return;
    struct lc_candidate c = {.ticks = lc_min(enter, l->at.end) - l->at.begin,
                             .kind = l->kind,
                             .late_rank = rank,
                             .late_node = node,
                             .begin = l->at.begin};
    lc_clk_book_later(&l->instead, &c);
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
        free(l);
    }
    lc_clk_unlock();
}
