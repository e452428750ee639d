/* Edges that come in. */
#include <string.h>

#include "measure/clocks/call_state.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/edges.h"
#include "measure/clocks/record_format.h"
#include "measure/clocks/work_since.h"
#include "piggyback/cpvec.h"
#include "piggyback/logical.h"

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
