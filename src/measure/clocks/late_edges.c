/* Edges whose record arrives after their call's clocks were published. */
#include <stdbool.h>
#include <stdlib.h>

#include "measure/clocks/clocks.h"
#include "measure/clocks/late_edges.h"
#include "measure/clocks/wait_states.h"
#include "piggyback/match.h"
#include "piggyback/pending_entries.h"

enum { LC_LATE_MOST = 255 }; /* of a thread; those beyond are missing */

struct late {
    struct late *next;
    struct lc_clk_thread *k;
    struct lc_stashed *item;
    uint32_t source;
    struct lc_call_end at;
    struct lc_booked instead; /* wait NULL: nothing can be booked */
};
static struct late *all;

void lc_clk_late_edge_add(struct lc_clk_thread *k, const struct lc_call *call, uint32_t source,
                          struct lc_stashed *item) {
    struct late *l = k->n_late < LC_LATE_MOST && k->l.interval ? malloc(sizeof *l) : NULL;
    if (l == NULL) {
        lc_match_release(&lc_clk.match, item);
        return;
    }
    *l = (struct late){.next = all, .k = k, .item = item, .source = source};
    lc_clk_call_end(k, call, &l->at);
    if (lc_clk.fn_class[call->fn] == LC_FN_OTHER || !lc_clk_booked(k, call, &l->instead))
        l->instead.wait = NULL;
    all = l;
    k->n_late++;
    k->todo = true;
}

static void book(const struct late *l, const struct lc_stamp *stamp) {
    if (l->instead.wait == NULL || stamp->enter <= l->at.begin || l->source == lc_clk.rank)
        return;
    struct lc_candidate c = {.ticks = lc_min(stamp->enter, l->at.end) - l->at.begin,
                             .kind = LC_MEASURED_LATESENDER,
                             .late_rank = l->source,
                             .late_node = stamp->node,
                             .begin = l->at.begin};
    lc_clk_book_later(&l->instead, &c);
}

void lc_clk_late_edges_take(struct lc_clk_thread *k) {
    lc_clk_lock();
    for (struct late **at = &all, *l; (l = *at) != NULL;) {
        l->at.calls += l->k == k;
        if (l->k != k || l->item->pending) {
            at = &l->next;
            continue;
        }
        struct lc_stamp stamp = l->item->entry.stamp;
        lc_clk_edge_later(k, &l->at, l->source, &stamp, l->item->extra, l->item->n_extra);
        book(l, &stamp);
        lc_match_release(&lc_clk.match, l->item);
        *at = l->next;
        k->n_late--;
        free(l);
    }
    lc_clk_unlock();
}
