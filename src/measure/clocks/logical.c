#include "measure/clocks/logical.h"

#include <string.h>

void lc_logical_begin(struct lc_logical *l, uint32_t interval, uint64_t now) {
    l->useful = l->own = l->phase_useful = l->phase_own = l->in_mpi = 0;
    l->origin = l->last = l->begin = now;
    l->skipped = 0;
    l->interval = interval;
    l->phase = 0;
    l->stale = true;
    l->version = 0;
    l->published = 0;
    memset(l->own_whatif, 0, sizeof l->own_whatif);
    lc_cpvec_clear(&l->vec);
}

void lc_logical_rewind(struct lc_logical *l, struct lc_logical_since *since) {
    since->own = l->own - since->own;
    since->phase_own = l->phase_own - since->phase_own;
    l->useful -= since->own;
    l->phase_useful -= since->phase_own;
    for (uint32_t s = 0; s < l->vec.n_whatif; s++) {
        since->whatif[s] = l->own_whatif[s] - since->whatif[s];
        l->vec.whatif[s] -= since->whatif[s];
    }
}

void lc_logical_forward(struct lc_logical *l, const struct lc_logical_since *since, bool won) {
    l->useful += since->own;
    l->phase_useful += since->phase_own;
    if (won)
        lc_cpvec_add(&l->vec, (uint64_t)l->rank << 32 | l->node, since->own);
    for (uint32_t s = 0; s < l->vec.n_whatif; s++)
        l->vec.whatif[s] += since->whatif[s];
}
