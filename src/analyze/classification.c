#include "analyze/classification.h"

#include <stdlib.h>

#include "base/mem.h"

/* Waiting without a cause is neither direct nor indirect; it may propagate. */
static enum lc_err add_state(const struct lc_delay *delay, size_t loc, const struct lc_wait *wait,
                             const struct lc_state *state, uint32_t local_cnode) {
    enum lc_cost_kind kind = lc_cost_kind_of(wait->kind);
    const struct lc_state_blame *blame = &delay->blame[state - delay->lines->states];
    double ticks = (double)state->ticks;
    for (int model = 0; model < LC_MODELS; model++) {
        double to_code, to_wait,
            handed = blame->handed[model] < ticks ? blame->handed[model] : ticks;
        lc_delay_shares(model, state->ticks, blame->code, blame->waits, &to_code, &to_wait);
        const double parts[LC_COST_METRICS] = {[LC_DIRECT] = ticks * to_code,
                                               [LC_INDIRECT] = ticks * to_wait,
                                               [LC_PROPAGATING] = handed,
                                               [LC_TERMINAL] = ticks - handed};
        for (int metric = wait->cause != LC_NONE ? LC_DIRECT : LC_PROPAGATING;
             metric < LC_COST_METRICS; metric++)
            LC_TRY(
                lc_costs_add(delay->costs, loc, metric, model, kind, local_cnode, parts[metric]));
    }
    return LC_OK;
}

/* local: scratch, per call path of the trace. */
static enum lc_err classify_location(const struct lc_delay *delay, size_t loc, uint32_t *local) {
    const struct lc_timeline *line = &delay->lines->lines[loc];
    for (uint32_t k = 0; k < line->n_cnodes; k++)
        local[line->cnodes[k]] = k;
    for (uint32_t k = 0; k < line->n_states; k++) {
        const struct lc_state *s = &line->states[k];
        const struct lc_wait *w = &line->loc->waits[s->wait];
        delay->costs->n_caused += w->cause != LC_NONE;
        delay->costs->n_indirect += delay->blame[s - delay->lines->states].waits > 0;
        LC_TRY(add_state(delay, loc, w, s, local[s->cnode]));
    }
    return LC_OK;
}

enum lc_err lc_classify_and_publish(const struct lc_delay *delay, struct lc_results *results) {
    const struct lc_trace *trace = delay->lines->trace;
    uint32_t *local = NULL;
    enum lc_err err = lc_costs_declare(delay->costs, results);
    if (err == LC_OK)
        err = lc_alloc(&local, trace->n_cnodes + 1, sizeof *local);
    for (size_t i = 0; i < trace->n_locs && err == LC_OK; i++) {
        err = classify_location(delay, i, local);
        if (err == LC_OK)
            err = lc_costs_publish(delay->costs, i, results);
    }
    free(local);
    return err;
}
