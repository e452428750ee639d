#include "measure/clocks/logical.h"

void lc_logical_begin(struct lc_logical *l, uint32_t interval, uint64_t now) {
    l->useful = l->own = l->phase_useful = l->phase_own = l->in_mpi = 0;
    l->origin = l->last = now;
    l->interval = interval;
    l->phase = 0;
    l->stale = true;
    l->version = 0;
    l->published = 0;
    lc_cpvec_clear(&l->vec);
}
