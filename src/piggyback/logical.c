#include "piggyback/logical.h"

#include <string.h>

void lc_logical_begin(struct lc_logical *l, uint32_t interval, uint64_t now) {
    LC_SHOW(l->useful, 0);
    l->own = l->process = l->phase_useful = l->phase_own = l->phase_process = 0;
    l->in_mpi = l->in_omp = 0;
    LC_SHOW(l->origin, now);
    l->last = l->begin = now;
    l->skipped = l->own_in_calls = 0;
    LC_SHOW(l->interval, interval);
    l->phase = 0;
    l->stale = true;
    LC_SHOW(l->version, 0);
    l->published = 0;
    memset(l->own_whatif, 0, sizeof l->own_whatif);
    memset(l->own_counts, 0, sizeof l->own_counts);
    lc_cpvec_clear(&l->vec);
}

void lc_logical_rewind(struct lc_logical *l, struct lc_logical_since *since) {
    since->own = l->own - since->own;
    since->phase_own = l->phase_own - since->phase_own;
    LC_SHOW(l->useful, l->useful - since->own);
    l->phase_useful -= since->phase_own;
    for (uint32_t s = 0; s < l->vec.n_whatif; s++) {
        since->whatif[s] = l->own_whatif[s] - since->whatif[s];
        LC_SHOW(l->vec.whatif[s], l->vec.whatif[s] - since->whatif[s]);
    }
    for (int i = 0; l->vec.counting && i < LC_CP_COUNTS; i++)
        since->counts[i] = l->own_counts[i] - since->counts[i];
}

void lc_logical_forward(struct lc_logical *l, const struct lc_logical_since *since, bool won,
                        const struct lc_logical_done *done, uint32_t n) {
    uint64_t then = l->own - since->own, rank = (uint64_t)l->rank << 32;
    LC_SHOW(l->useful, l->useful + since->own);
    l->phase_useful += since->phase_own;
    for (uint32_t s = 0; s < l->vec.n_whatif; s++)
        LC_SHOW(l->vec.whatif[s], l->vec.whatif[s] + since->whatif[s]);
    if (!won)
        return;
    for (uint32_t i = 0; i < n; i++)
        if (done[i].own > then) {
            lc_cpvec_add(&l->vec, rank | done[i].node, done[i].own - then);
            then = done[i].own;
        }
    lc_cpvec_add(&l->vec, rank | l->node, l->own - then);
    for (int i = 0; l->vec.counting && i < LC_CP_COUNTS; i++)
        l->vec.counts[i] += since->counts[i];
}
