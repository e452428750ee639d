#include "analyze/what_if.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/place.h"
#include "base/mem.h"
#include "base/what_if_spec.h"

/* A blocking, with the time saved on the way to each of its instants: by r until its start and end,
 * by d until the release. */
struct step {
    int64_t start, end, release;
    double saved_start, saved_end, saved_release;
    uint64_t group; /* all with the same one wait for each other; UINT64_MAX: none */
    uint32_t location, cause;
};

struct release {
    int64_t time;
    uint32_t cause, asker; /* location, rank */
    uint32_t index;
    uint32_t reserved;
};

struct saving {
    double ticks;
    uint32_t index, reserved;
};

/* Where the replay of a location stands: at the old instant `at` the new time is `now`. */
struct front {
    int64_t at;
    double saved, now;
};

/* --- which call paths change --- */

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

/* --- what is saved until an instant --- */

/* sums[i]: saved until transition i. */
static enum lc_err sum_gains(const struct lc_loc *loc, const double *gain, double **sums,
                             size_t *capacity) {
    LC_TRY(lc_grow(sums, capacity, (size_t)loc->n_transitions + 1, sizeof **sums));
    (*sums)[0] = 0;
    for (uint32_t i = 0; i + 1 < loc->n_transitions; i++)
        (*sums)[i + 1] =
            (*sums)[i] + (loc->cnode[i] != LC_NONE
                              ? gain[loc->cnode[i]] * (double)(loc->time[i + 1] - loc->time[i])
                              : 0);
    return LC_OK;
}

static double saved_until(const struct lc_loc *loc, const double *gain, const double *sums,
                          int64_t time) {
    uint32_t low = 0, high = loc->n_transitions;
    while (low < high) { /* first transition behind the instant */
        uint32_t middle = low + (high - low) / 2;
        if (loc->time[middle] > time)
            high = middle;
        else
            low = middle + 1;
    }
    if (low == 0)
        return 0;
    if (low == loc->n_transitions || loc->cnode[low - 1] == LC_NONE)
        return sums[low - 1];
    return sums[low - 1] + gain[loc->cnode[low - 1]] * (double)(time - loc->time[low - 1]);
}

static bool is_mutual(const struct lc_wait *w) {
    return w->kind == LC_WAIT_BARRIER || w->kind == LC_WAIT_N2N || w->kind == LC_WAIT_MGMT;
}

static enum lc_err make_steps(const struct lc_trace *trace, const double *gain, struct step **steps,
                              size_t *n, struct saving **ends) {
    double *sums = NULL;
    size_t capacity = 0, most = 0;
    for (size_t l = 0; l < trace->n_locs; l++)
        most += trace->locs[l].n_waits;
    LC_TRY(lc_alloc(steps, most + 1, sizeof **steps));
    LC_TRY(lc_alloc(ends, trace->n_locs + 1, sizeof **ends));
    *n = 0;
    for (size_t l = 0; l < trace->n_locs; l++) {
        const struct lc_loc *loc = &trace->locs[l];
        enum lc_err err = sum_gains(loc, gain, &sums, &capacity);
        if (err != LC_OK) {
            free(sums);
            return err;
        }
        (*ends)[l] = (struct saving){
            .ticks = loc->n_transitions > 0 ? sums[loc->n_transitions - 1] : 0, .index = loc->id};
        for (size_t k = 0; k < loc->n_waits; k++) {
            const struct lc_wait *w = &loc->waits[k];
            if (!(w->flags & LC_WAIT_BLOCKS) || w->cause == LC_NONE)
                continue;
            int64_t end = w->release < w->end ? w->release : w->end;
            (*steps)[(*n)++] = (struct step){.start = w->start,
                                             .end = end,
                                             .release = w->release,
                                             .saved_start = saved_until(loc, gain, sums, w->start),
                                             .saved_end = saved_until(loc, gain, sums, end),
                                             .group = is_mutual(w) ? w->instance : UINT64_MAX,
                                             .location = loc->id,
                                             .cause = w->cause};
        }
    }
    free(sums);
    return LC_OK;
}

static int compare_releases(const void *a, const void *b) {
    const struct release *x = a, *y = b;
    return (x->cause > y->cause) - (x->cause < y->cause);
}

/* Answers what other ranks (and this one) ask: time saved by the cause until the release. */
static enum lc_err answer(const struct lc_trace *trace, const double *gain, struct release *asked,
                          size_t n, struct saving **replies, uint32_t **dest) {
    double *sums = NULL;
    size_t capacity = 0;
    enum lc_err err = lc_alloc(replies, n + 1, sizeof **replies);
    if (err == LC_OK)
        err = lc_alloc(dest, n + 1, sizeof **dest);
    if (err == LC_OK && n > 1)
        qsort(asked, n, sizeof *asked, compare_releases);
    for (size_t i = 0; i < n && err == LC_OK; i++) {
        const struct lc_loc *loc = lc_trace_loc(trace, asked[i].cause);
        if (sums == NULL || asked[i].cause != asked[i - 1].cause)
            err = sum_gains(loc, gain, &sums, &capacity);
        if (err != LC_OK)
            break;
        (*replies)[i] = (struct saving){.ticks = saved_until(loc, gain, sums, asked[i].time),
                                        .index = asked[i].index};
        (*dest)[i] = asked[i].asker;
    }
    free(sums);
    return err;
}

static enum lc_err fetch_releases(const struct lc_trace *trace, const double *gain,
                                  struct step *steps, size_t n) {
    const struct lc_transport *comm = trace->comm;
    struct release *mine = NULL, *asked = NULL;
    struct saving *replies = NULL, *arrived = NULL;
    uint32_t *dest = NULL, *reply_dest = NULL;
    size_t n_asked = 0, n_arrived = 0;
    enum lc_err err = lc_alloc(&mine, n + 1, sizeof *mine);
    if (err == LC_OK)
        err = lc_alloc(&dest, n + 1, sizeof *dest);
    for (size_t i = 0; i < n && err == LC_OK; i++) {
        mine[i] = (struct release){.time = steps[i].release,
                                   .cause = steps[i].cause,
                                   .asker = comm->rank,
                                   .index = (uint32_t)i};
        dest[i] = lc_trace_owner(trace, steps[i].cause);
    }
    err = lc_transport_agree(comm, err);
    if (err == LC_OK)
        err = lc_transport_exchange(comm, mine, dest, n, sizeof *mine, (void **)&asked, &n_asked);
    if (err == LC_OK)
        err = lc_transport_agree(comm, answer(trace, gain, asked, n_asked, &replies, &reply_dest));
    if (err == LC_OK)
        err = lc_transport_exchange(comm, replies, reply_dest, n_asked, sizeof *replies,
                                    (void **)&arrived, &n_arrived);
    for (size_t i = 0; i < n_arrived && err == LC_OK; i++)
        steps[arrived[i].index].saved_release = arrived[i].ticks;
    free(mine);
    free(dest);
    free(asked);
    free(replies);
    free(reply_dest);
    free(arrived);
    return err;
}

/* --- the replay, on rank 0 --- */

static int compare_steps(const void *a, const void *b) {
    const struct step *x = a, *y = b;
    if (x->release != y->release)
        return x->release < y->release ? -1 : 1;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return (x->location > y->location) - (x->location < y->location);
}

static double new_time(const struct front *front, int64_t at, double saved) {
    return front->now + (double)(at - front->at) - (saved - front->saved);
}

/* All of a group, or a single blocking: nobody goes on before the latest has come. */
static void replay_group(struct front *fronts, const struct step *steps, size_t n) {
    double met = new_time(&fronts[steps->cause], steps->release, steps->saved_release);
    for (size_t i = 0; i < n && n > 1; i++) {
        double start = new_time(&fronts[steps[i].location], steps[i].start, steps[i].saved_start);
        met = start > met ? start : met;
    }
    for (size_t i = 0; i < n; i++) {
        struct front *front = &fronts[steps[i].location];
        double start = new_time(front, steps[i].start, steps[i].saved_start);
        *front = (struct front){steps[i].end, steps[i].saved_end, start > met ? start : met};
    }
    if (n > 1 && fronts[steps->cause].at <= steps->release)
        fronts[steps->cause] = (struct front){steps->release, steps->saved_release, met};
}

static double replay(const struct lc_trace *trace, struct step *steps, size_t n,
                     const struct saving *ends, const int64_t *last, struct front *fronts) {
    double length = 0;
    for (size_t i = 0; i < trace->n_locations; i++)
        fronts[i] = (struct front){trace->t0, 0, 0};
    if (n > 1)
        qsort(steps, n, sizeof *steps, compare_steps);
    for (size_t i = 0; i < n;) {
        size_t end = i + 1;
        while (steps[i].group != UINT64_MAX && end < n && steps[end].group == steps[i].group &&
               steps[end].release == steps[i].release)
            end++;
        replay_group(fronts, &steps[i], end - i);
        i = end;
    }
    for (size_t i = 0; i < trace->n_locations; i++) {
        uint32_t l = ends[i].index;
        double end = last[l] != INT64_MIN ? new_time(&fronts[l], last[l], ends[i].ticks) : 0;
        length = end > length ? end : length;
    }
    return length;
}

static enum lc_err replay_all(const struct lc_trace *trace, const struct step *steps, size_t n,
                              const struct saving *ends, double *length) {
    const struct lc_transport *comm = trace->comm;
    struct step *all = NULL;
    struct saving *all_ends = NULL;
    struct front *fronts = NULL;
    int64_t *last = NULL;
    size_t bytes = 0, end_bytes = 0;
    enum lc_err err = lc_alloc(&last, trace->n_locations + 1, sizeof *last);
    if (err == LC_OK)
        err = lc_alloc(&fronts, trace->n_locations + 1, sizeof *fronts);
    err = lc_transport_agree(comm, err);
    if (err == LC_OK) {
        for (size_t i = 0; i < trace->n_locations; i++)
            last[i] = INT64_MIN;
        for (size_t l = 0; l < trace->n_locs; l++)
            if (trace->locs[l].n_transitions > 0)
                last[trace->locs[l].id] = trace->locs[l].time[trace->locs[l].n_transitions - 1];
        lc_transport_allreduce_i64(comm, last, trace->n_locations, LC_OP_MAX);
        err = lc_transport_gather(comm, steps, n * sizeof *steps, (void **)&all, &bytes, NULL);
    }
    if (err == LC_OK)
        err = lc_transport_gather(comm, ends, trace->n_locs * sizeof *ends, (void **)&all_ends,
                                  &end_bytes, NULL);
    if (err == LC_OK && comm->rank == 0)
        *length = replay(trace, all, bytes / sizeof *all, all_ends, last, fronts);
    free(all);
    free(all_ends);
    free(fronts);
    free(last);
    return lc_transport_agree(comm, err);
}

enum lc_err lc_what_if_run(const struct lc_timelines *lines, const char *spec, json_t *object,
                           struct lc_strbuf *text) {
    const struct lc_trace *trace = lines->trace;
    double *gain = NULL, length = 0, now = (double)(trace->t1 - trace->t0),
           tps = (double)trace->ticks_per_second;
    struct step *steps = NULL;
    struct saving *ends = NULL;
    size_t n = 0;
    enum lc_err err = lc_alloc(&gain, trace->n_cnodes + 1, sizeof *gain);
    if (err == LC_OK)
        err = parse(trace, spec, gain);
    if (err == LC_OK)
        err = make_steps(trace, gain, &steps, &n, &ends);
    err = lc_transport_agree(trace->comm, err);
    if (err == LC_OK)
        err = fetch_releases(trace, gain, steps, n);
    if (err == LC_OK)
        err = replay_all(trace, steps, n, ends, &length);
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
    free(steps);
    free(ends);
    return err;
}
