#include "analyze/time_correct.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/collective.h"
#include "analyze/events.h"
#include "analyze/health.h"
#include "analyze/p2p.h"
#include "analyze/results.h"
#include "analyze/time_map.h"
#include "base/mem.h"

/* Rounds without fewer violations than ever: a correction travels from process to process, but
 * where messages contradict each other in a circle there is no end. */
enum { PATIENCE = 100, PATIENCE_PER_PROCESS = 2 };

struct corrector {
    struct lc_trace *trace;
    uint32_t **roots; /* per location: roots of its collectives, which the matching overwrites */
    struct lc_jump *jumps; /* of one process */
    size_t n_jumps, cap_jumps;
    int64_t latency; /* shortest transfer */
    int64_t violations, largest;
    int64_t finalize; /* when the last process enters MPI_Finalize; INT64_MIN: nobody does */
};

static enum lc_err save_roots(struct corrector *c) {
    LC_TRY(lc_alloc(&c->roots, c->trace->n_locs, sizeof *c->roots));
    for (size_t l = 0; l < c->trace->n_locs; l++) {
        const struct lc_loc *loc = &c->trace->locs[l];
        LC_TRY(lc_alloc(&c->roots[l], loc->n_colls, sizeof **c->roots));
        for (size_t i = 0; i < loc->n_colls; i++)
            c->roots[l][i] = loc->colls[i].root;
    }
    return LC_OK;
}

/* Back to the state before the matching. */
static void forget(struct corrector *c) {
    for (size_t l = 0; l < c->trace->n_locs; l++) {
        struct lc_loc *loc = &c->trace->locs[l];
        for (size_t i = 0; i < loc->n_p2p; i++)
            loc->p2p[i].flags &= (uint16_t) ~(LC_P2P_MATCHED | LC_P2P_LOST);
        for (size_t i = 0; i < loc->n_colls; i++) {
            loc->colls[i].root = c->roots[l][i];
            loc->colls[i].flags &= (uint8_t)~LC_COLL_COMPARED;
        }
        loc->n_syncs = 0;
        lc_loc_forget_matches(c->trace, loc);
    }
}

/* Matching books completion times and counts what does not match; here both go nowhere. */
static enum lc_err match(struct corrector *c) {
    struct lc_trace *trace = c->trace;
    struct lc_health *health = trace->health, scratch;
    struct lc_results *results = trace->results;
    lc_health_init(&scratch);
    trace->results = NULL;
    LC_TRY(lc_transport_agree(trace->comm, lc_results_new(&trace->results)));
    trace->health = &scratch;
    enum lc_err err = lc_p2p_match(trace);
    if (err == LC_OK)
        err = lc_collectives_match(trace);
    lc_results_free(trace->results);
    trace->results = results;
    trace->health = health;
    return err;
}

/* When the operation behind a completion record was released, and when the call had to end after
 * that. */
static bool release_of(const struct lc_loc *loc, const struct lc_mpi_call *call, uint32_t done,
                       int64_t *release, int64_t *end) {
    *end = loc->time[call->leave];
    if (!(done & 1)) {
        const struct lc_p2p *p2p = &loc->p2p[done >> 1];
        if (!(p2p->flags & LC_P2P_RECV) || !(p2p->flags & LC_P2P_MATCHED))
            return false;
        *release = loc->matches[p2p->link].enter;
        return true;
    }
    const struct lc_coll_part *coll = &loc->colls[done >> 1];
    if (!(coll->flags & LC_COLL_COMPARED) || !coll->root)
        return false;
    const struct lc_coll_cause *cause = &loc->causes[coll->root - 1];
    *release = cause[coll->kind == LC_KIND_N21].by.enter;
    if (coll->klass == LC_COLL_BLOCKING)
        *end = coll->end;
    return true;
}

typedef enum lc_err done_fn(struct corrector *c, const struct lc_loc *loc, size_t call,
                            int64_t release, int64_t end);

static enum lc_err for_releases(struct corrector *c, const struct lc_loc *loc, done_fn *fn) {
    for (size_t i = 0; i < loc->n_calls; i++) {
        size_t last = i + 1 < loc->n_calls ? loc->calls[i + 1].first_done : loc->n_done;
        for (size_t d = loc->calls[i].first_done; d < last; d++) {
            int64_t release, end;
            if (release_of(loc, &loc->calls[i], loc->done[d], &release, &end))
                LC_TRY(fn(c, loc, i, release, end));
        }
    }
    return LC_OK;
}

static enum lc_err find_latency(struct corrector *c, const struct lc_loc *loc, size_t call,
                                int64_t release, int64_t end) {
    (void)loc, (void)call;
    if (end > release && end - release < c->latency)
        c->latency = end - release;
    return LC_OK;
}

/* What was released ends before: the time of this process must jump. */
static enum lc_err add_jump(struct corrector *c, const struct lc_jump *jump, int64_t release) {
    c->violations++;
    if (release - jump->at > c->largest)
        c->largest = release - jump->at;
    LC_TRY(lc_grow(&c->jumps, &c->cap_jumps, c->n_jumps + 1, sizeof *c->jumps));
    c->jumps[c->n_jumps++] = *jump;
    return LC_OK;
}

static enum lc_err find_jump(struct corrector *c, const struct lc_loc *loc, size_t call,
                             int64_t release, int64_t end) {
    if (end >= release)
        return LC_OK;
    /* A call that only receives or waits may begin later; any other one releases somebody when it
     * begins. */
    const struct lc_mpi_call *of = &loc->calls[call];
    uint32_t first = loc->done[of->first_done];
    int64_t from = loc->time[of->enter];
    if (first & 1 && loc->colls[first >> 1].klass != LC_COLL_NONBLOCKING)
        from = loc->colls[first >> 1].begin;
    else if (of->fn == LC_FN_MPI_OTHER || of->fn == LC_FN_MPI_WAIT)
        from = call ? loc->time[loc->calls[call - 1].leave] : loc->time[0];
    struct lc_jump jump = {.at = end, .shift = release + c->latency - end, .from = from};
    bool threads = c->trace->processes[loc->process].n_locations > 1;
    if (!threads) { /* threads share the jump, but not the numbers of transitions */
        jump.index = of->leave;
        jump.from_index = from == loc->time[of->enter] ? of->enter
                          : call                       ? loc->calls[call - 1].leave
                                                       : 0;
    }
    return add_jump(c, &jump, release);
}

/* Nobody leaves MPI_Finalize before the last one has entered it. */
static enum lc_err find_jump_at_end(struct corrector *c, const struct lc_loc *loc) {
    if (loc->finalize_enter == INT64_MIN || loc->finalize_leave == INT64_MIN ||
        loc->finalize_leave >= c->finalize)
        return LC_OK;
    struct lc_jump jump = {.at = loc->finalize_leave,
                           .shift = c->finalize + c->latency - loc->finalize_leave,
                           .from = loc->finalize_enter};
    return add_jump(c, &jump, c->finalize);
}

/* One round: every process is moved as far as its violations demand. */
static enum lc_err correct_once(struct corrector *c) {
    struct lc_trace *trace = c->trace;
    for (size_t l = 0; l < trace->n_locs;) {
        uint32_t n = trace->processes[trace->locs[l].process].n_locations;
        c->n_jumps = 0;
        for (uint32_t i = 0; i < n; i++) {
            LC_TRY(for_releases(c, &trace->locs[l + i], find_jump));
            LC_TRY(find_jump_at_end(c, &trace->locs[l + i]));
        }
        if (c->n_jumps)
            LC_TRY(lc_time_map_apply(c->jumps, c->n_jumps, &trace->locs[l], n));
        l += n;
    }
    return LC_OK;
}

static enum lc_err round_of(struct corrector *c, int64_t *violations) {
    const struct lc_transport *comm = c->trace->comm;
    LC_TRY(match(c));
    if (c->latency == INT64_MAX) {
        for (size_t l = 0; l < c->trace->n_locs; l++)
            LC_TRY(for_releases(c, &c->trace->locs[l], find_latency));
        lc_transport_allreduce_i64(comm, &c->latency, 1, LC_OP_MIN);
        c->latency = c->latency == INT64_MAX ? 1 : c->latency;
    }
    c->violations = 0;
    c->finalize = INT64_MIN;
    for (size_t l = 0; l < c->trace->n_locs; l++)
        if (c->trace->locs[l].finalize_enter > c->finalize)
            c->finalize = c->trace->locs[l].finalize_enter;
    lc_transport_allreduce_i64(comm, &c->finalize, 1, LC_OP_MAX);
    enum lc_err err = correct_once(c);
    forget(c);
    LC_TRY(lc_transport_agree(comm, err));
    *violations = c->violations;
    lc_transport_allreduce_i64(comm, violations, 1, LC_OP_SUM);
    return LC_OK;
}

/* Times per call path, from the corrected transitions. */
static enum lc_err rebuild_cells(struct lc_trace *trace, struct lc_loc *loc, int64_t *ticks) {
    size_t kept = 0;
    for (size_t i = 0; i < loc->n_cells; i++)
        if (loc->cells[i].metric != LC_CELL_TIME)
            loc->cells[kept++] = loc->cells[i];
    loc->n_cells = kept;
    for (uint32_t i = 0; i + 1 < loc->n_transitions; i++)
        if (loc->cnode[i] != LC_NONE)
            ticks[loc->cnode[i]] += loc->time[i + 1] - loc->time[i];
    for (uint32_t c = 0; c < trace->n_cnodes; c++) {
        if (!ticks[c])
            continue;
        LC_TRY(lc_grow(&loc->cells, &loc->cap_cells, loc->n_cells + 1, sizeof *loc->cells));
        loc->cells[loc->n_cells++] = (struct lc_cell){c, LC_CELL_TIME, ticks[c]};
        ticks[c] = 0;
    }
    return LC_OK;
}

static enum lc_err rebuild(struct lc_trace *trace) {
    int64_t *ticks;
    LC_TRY(lc_alloc(&ticks, trace->n_cnodes, sizeof *ticks));
    enum lc_err err = LC_OK;
    for (size_t l = 0; l < trace->n_locs && err == LC_OK; l++)
        err = rebuild_cells(trace, &trace->locs[l], ticks);
    free(ticks);
    return err;
}

static enum lc_err iterate(struct corrector *c, struct lc_correction *correction) {
    int64_t violations = 1, fewest = INT64_MAX;
    int64_t patience = PATIENCE + PATIENCE_PER_PROCESS * (int64_t)c->trace->n_processes;
    int64_t without_success = 0;
    for (int round = 0; violations && without_success < patience; round++) {
        LC_TRY(round_of(c, &violations));
        without_success = violations < fewest ? 0 : without_success + 1;
        fewest = violations < fewest ? violations : fewest;
        if (!round) {
            correction->violations_before = violations;
            correction->done = violations > 0;
        }
        correction->rounds = round;
    }
    correction->violations_after = violations;
    correction->largest_shift_ticks = c->largest;
    lc_transport_allreduce_i64(c->trace->comm, &correction->largest_shift_ticks, 1, LC_OP_MAX);
    return LC_OK;
}

enum lc_err lc_time_correct(struct lc_trace *trace, enum lc_time_correct_mode mode,
                            struct lc_correction *correction) {
    *correction = (struct lc_correction){0};
    if (mode == LC_TIME_CORRECT_OFF)
        return LC_OK;
    struct corrector c = {.trace = trace, .latency = INT64_MAX};
    enum lc_err err = lc_transport_agree(trace->comm, save_roots(&c));
    if (err == LC_OK)
        err = iterate(&c, correction);
    if (err == LC_OK && correction->done)
        err = lc_transport_agree(trace->comm, rebuild(trace));
    if (err == LC_OK && correction->done)
        err = lc_trace_bounds(trace);
    for (size_t l = 0; c.roots && l < trace->n_locs; l++)
        free(c.roots[l]);
    free(c.roots);
    free(c.jumps);
    return err;
}
