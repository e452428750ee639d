#include "analyze/what_if.h"

#include <stdlib.h>

#include "analyze/region_class.h"
#include "analyze/replay.h"
#include "base/mem.h"
#include "base/what_if_spec.h"

/* Once for each call path, however often the name stands in it. */
static bool apply(const struct lc_trace *trace, const struct lc_what_if_term *term, double *gain) {
    bool found = false;
    for (uint32_t c = 0; c < trace->n_cnodes; c++) {
        const struct lc_an_region *region = &trace->regions[trace->cnodes[c].region];
        if (!lc_what_if_means(term, region->name, region->mangled))
            continue;
        found = true;
        for (uint32_t last = trace->cnodes[c].last;; c++) {
            if (!trace->regions[trace->cnodes[c].region].mpi)
                gain[c] = 1 - (1 - gain[c]) * term->factor;
            if (c == last)
                break;
        }
    }
    return found;
}

static bool is_mpi(const struct lc_an_region *region) {
    return region->mpi;
}

/* Constructs that hold the program's code are not. */
static bool is_omp(const struct lc_an_region *region) {
    return lc_region_omp_synchronises(region->fn);
}

/* A network or an OpenMP runtime that takes no time: of these calls only their waiting is left,
 * which the replay finds anew. */
static void make_free(const struct lc_trace *trace, bool (*is)(const struct lc_an_region *region),
                      double *gain) {
    for (uint32_t c = 0; c < trace->n_cnodes; c++)
        if (is(&trace->regions[trace->cnodes[c].region]))
            gain[c] = 1;
}

static enum lc_err apply_term(const struct lc_trace *trace, const char *spec,
                              const struct lc_what_if_term *term, double *gain) {
    switch (term->part) {
    case LC_WHAT_IF_MPI:
        make_free(trace, is_mpi, gain);
        return LC_OK;
    case LC_WHAT_IF_OMP:
        make_free(trace, is_omp, gain);
        return LC_OK;
    case LC_WHAT_IF_TASKS:
        return lc_fail(LC_ERR_USAGE,
                       "--what-if=%s: a trace does not hold what tasks depend on: measure with "
                       "`latecomer run --what-if tasks=infinite`",
                       spec);
    default:
        return apply(trace, term, gain)
                   ? LC_OK
                   : lc_fail(LC_ERR_USAGE,
                             "--what-if=%s: the trace has no region %s: use a name that "
                             "`latecomer show` prints",
                             spec, term->name);
    }
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
        if (found)
            LC_TRY(apply_term(trace, spec, &term, gain));
    }
    return LC_OK;
}

struct shares {
    const double *gain; /* per call path */
};

static bool set_shares(const void *what, const struct lc_loc *loc, double *share) {
    const struct shares *shares = what;
    for (uint32_t i = 0; i + 1 < loc->n_transitions; i++)
        if (loc->cnode[i] != LC_NONE)
            share[i] = shares->gain[loc->cnode[i]];
    return true;
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
