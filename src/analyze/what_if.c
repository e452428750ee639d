#include "analyze/what_if.h"

#include <stdlib.h>

#include "analyze/replay.h"
#include "base/mem.h"
#include "base/what_if_spec.h"

static bool apply(const struct lc_trace *trace, const struct lc_what_if_term *term, double *gain) {
    bool found = false;
    for (uint32_t c = 0; c < trace->n_cnodes; c++) {
        const struct lc_an_region *region = &trace->regions[trace->cnodes[c].region];
        if (term->mpi || !lc_what_if_means(term, region->name, region->mangled))
            continue;
        found = true;
        for (uint32_t i = c; i <= trace->cnodes[c].last;
             i++) /* outer ones come first: inner ones replace them */
            if (!trace->regions[trace->cnodes[i].region].mpi)
                gain[i] = 1 - term->factor;
    }
    return found;
}

/* A network that takes no time: of MPI calls only their waiting is left, which the replay finds
 * anew. */
static void apply_mpi(const struct lc_trace *trace, double *gain) {
    for (uint32_t c = 0; c < trace->n_cnodes; c++)
        if (trace->regions[trace->cnodes[c].region].mpi)
            gain[c] = 1;
}

/* gain[cnode]: the share of its time that goes. */
static enum lc_err parse(const struct lc_trace *trace, const char *spec, double *gain) {
    struct lc_what_if_term term;
    unsigned scenario = 0;
    bool found = true;
    for (const char *at = spec; found;) {
        LC_TRY(lc_what_if_next(&at, &scenario, &term, &found));
        if (found && term.scenario > 0)
            return lc_fail(LC_ERR_USAGE, "--what-if=%s: several scenarios: give one at a time",
                           spec);
        if (found && term.mpi)
            apply_mpi(trace, gain);
        else if (found && !apply(trace, &term, gain))
            return lc_fail(LC_ERR_USAGE,
                           "--what-if=%s: the trace has no region %s: use a name that `latecomer "
                           "show` prints",
                           spec, term.name);
    }
    return LC_OK;
}

struct shares {
    const double *gain; /* per call path */
};

static void set_shares(const void *what, const struct lc_loc *loc, double *share) {
    const struct shares *shares = what;
    for (uint32_t i = 0; i + 1 < loc->n_transitions; i++)
        if (loc->cnode[i] != LC_NONE)
            share[i] = shares->gain[loc->cnode[i]];
}

static enum lc_err replay(const struct lc_timelines *lines, const double *gain, double *length) {
    struct lc_replay *replay = NULL;
    struct shares shares = {gain};
    struct lc_replay_change change = {set_shares, &shares, LC_NONE};
    size_t skipped;
    LC_TRY(lc_replay_new(&replay, lines));
    enum lc_err err = lc_replay_run(replay, &change, length, &skipped);
    lc_replay_free(replay);
    return err;
}

enum lc_err lc_what_if_run(const struct lc_timelines *lines, const char *spec, json_t *object,
                           struct lc_strbuf *text) {
    const struct lc_trace *trace = lines->trace;
    double *gain = NULL, length = 0, now = (double)(trace->t1 - trace->t0),
           tps = (double)trace->ticks_per_second;
    enum lc_err err = lc_alloc(&gain, trace->n_cnodes + 1, sizeof *gain);
    if (err == LC_OK)
        err = parse(trace, spec, gain);
    err = lc_transport_agree(trace->comm, err);
    if (err == LC_OK)
        err = replay(lines, gain, &length);
    if (err == LC_OK && trace->comm->rank == 0) {
        json_t *result = json_object();
        json_object_set_new(result, "spec", json_string(spec));
        json_object_set_new(result, "now_s", json_real(now / tps));
        json_object_set_new(result, "then_s", json_real(length / tps));
        json_object_set_new(object, "what_if", result);
        lc_strbuf_printf(text, "what if %s: %.6g s instead of %.6g s (%+.1f %%)\n", spec,
                         length / tps, now / tps, now > 0 ? 100 * (length - now) / now : 0);
    }
    free(gain);
    return err;
}
