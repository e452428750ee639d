#include "measure/clocks/work_since.h"

#include <stddef.h>

#include "measure/clocks/clocks.h"
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
