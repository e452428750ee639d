#include "analyze/gains.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/place.h"
#include "analyze/replay.h"
#include "base/mem.h"

/* Of the time of all locations; report/finding_kinds.c lists nothing below the double. */
static const double least_share = 0.005;

static bool is_mpi(const struct lc_trace *trace, uint32_t cnode) {
    return trace->regions[trace->cnodes[cnode].region].mpi;
}

static int64_t all_time(const struct lc_trace *trace) {
    int64_t sum = 0;
    for (size_t l = 0; l < trace->n_locs; l++)
        if (trace->locs[l].n_transitions > 0)
            sum += trace->locs[l].time[trace->locs[l].n_transitions - 1] - trace->locs[l].time[0];
    lc_transport_allreduce_i64(trace->comm, &sum, 1, LC_OP_SUM);
    return sum;
}

/* --- which causes --- */

static bool is_cost(size_t row, enum lc_delay_model model) {
    size_t metric = row / LC_COST_KINDS / LC_MODELS;
    return row / LC_COST_KINDS % LC_MODELS == model &&
           (metric == LC_SHORT_TERM || metric == LC_LONG_TERM);
}

/* Costs of this rank in whole ticks: sums[call path], or of some causes sums[cause][process]. */
static void sum_costs(const struct lc_costs *costs, enum lc_delay_model model,
                      const struct lc_gain_causes *causes, int64_t *sums) {
    const struct lc_trace *trace = costs->lines->trace;
    for (size_t l = 0; l < trace->n_locs; l++)
        for (size_t row = 0; row < LC_COST_ROWS; row++) {
            const struct lc_timeline *line = &costs->lines->lines[l];
            const double *values = costs->rows[l][row];
            for (uint32_t k = 0; values != NULL && is_cost(row, model) && k < line->n_cnodes; k++) {
                uint32_t cnode = line->cnodes[k];
                if (causes == NULL) {
                    sums[cnode] += llround(values[k]);
                    continue;
                }
                for (size_t i = 0; i < causes->n; i++)
                    if (causes->list[i].cnode == cnode)
                        sums[i * trace->n_processes + line->loc->process] += llround(values[k]);
            }
        }
}

/* Keeps the largest ones in order; ties: the lower call path first. */
static void insert(struct lc_gain_causes *causes, size_t most, struct lc_gain_cause cause) {
    size_t at = causes->n;
    while (at > 0 && causes->list[at - 1].ticks < cause.ticks)
        at--;
    if (at == most)
        return;
    causes->n += causes->n < most;
    memmove(&causes->list[at + 1], &causes->list[at],
            (causes->n - at - 1) * sizeof causes->list[0]);
    causes->list[at] = cause;
}

static enum lc_err find_late(const struct lc_costs *costs, enum lc_delay_model model,
                             struct lc_gain_causes *causes) {
    const struct lc_trace *trace = costs->lines->trace;
    int64_t *sums = NULL;
    LC_TRY(lc_transport_agree(trace->comm,
                              lc_alloc(&sums, causes->n * trace->n_processes + 1, sizeof *sums)));
    sum_costs(costs, model, causes, sums);
    lc_transport_allreduce_i64(trace->comm, sums, causes->n * trace->n_processes, LC_OP_SUM);
    for (size_t i = 0; i < causes->n; i++) {
        const int64_t *of = &sums[i * trace->n_processes];
        for (uint32_t p = 1; p < trace->n_processes; p++)
            if (of[p] > of[causes->list[i].process])
                causes->list[i].process = p;
    }
    free(sums);
    return LC_OK;
}

static enum lc_err choose(const struct lc_costs *costs, enum lc_delay_model model, double least,
                          struct lc_gain_causes *causes) {
    const struct lc_trace *trace = costs->lines->trace;
    int64_t *sums = NULL;
    causes->n = 0;
    LC_TRY(lc_transport_agree(trace->comm, lc_alloc(&sums, trace->n_cnodes + 1, sizeof *sums)));
    sum_costs(costs, model, NULL, sums);
    lc_transport_allreduce_i64(trace->comm, sums, trace->n_cnodes, LC_OP_SUM);
    for (uint32_t c = 0; c < trace->n_cnodes; c++)
        if (!is_mpi(trace, c) && sums[c] > 0 && (double)sums[c] >= least)
            insert(causes, LC_GAIN_CAUSES, (struct lc_gain_cause){.cnode = c, .ticks = sums[c]});
    free(sums);
    return find_late(costs, model, causes);
}

/* What the list has not: a call path, or another rank of one. */
static void append(struct lc_gain_causes *causes, struct lc_gain_cause cause) {
    for (size_t i = 0; i < causes->n; i++)
        if (causes->list[i].cnode == cause.cnode) {
            cause.known_path = true;
            if (causes->list[i].process == cause.process)
                return;
        }
    causes->list[causes->n++] = cause;
}

enum lc_err lc_gains_choose(const struct lc_costs *costs, struct lc_gain_causes *causes) {
    double least = least_share * (double)all_time(costs->lines->trace);
    causes->n = 0;
    for (int model = 0; model < LC_MODELS; model++) {
        struct lc_gain_causes found;
        LC_TRY(choose(costs, (enum lc_delay_model)model, least, &found));
        for (size_t i = 0; i < found.n; i++)
            append(causes, found.list[i]);
    }
    return LC_OK;
}

/* --- portions --- */

/* Between two MPI calls: in the call path, and in what is measured exactly around it. */
struct portion {
    int64_t own, around;
};

struct portions { /* of one call path */
    const struct lc_trace *trace;
    uint32_t cnode, late;  /* the process that gets as fast as the others; LC_NONE: all even */
    uint32_t around;       /* the exact call path around it: itself, or above what samples found */
    struct portion **list; /* per location of this rank: U_k */
    size_t *n;
    struct portion *sums; /* of U_k over all ranks; NULL: portions do not correspond */
    int64_t *whole;       /* per process: U */
};

static uint32_t exact_path(const struct lc_trace *trace, uint32_t cnode) {
    while (trace->regions[trace->cnodes[cnode].region].sampled &&
           trace->cnodes[cnode].parent != LC_NONE)
        cnode = trace->cnodes[cnode].parent;
    return cnode;
}

struct walk {
    uint32_t i;
    size_t k; /* portions so far: this transition is in the last one */
    bool open;
};

/* The next transition that is in a portion, LC_NONE at the end. Chance decides whether samples find
 * a function in a portion; where portions begin and end is exact. */
static uint32_t next_in_portion(const struct portions *p, const struct lc_loc *loc,
                                struct walk *walk) {
    while (walk->i + 1 < loc->n_transitions) {
        const uint32_t i = walk->i++, cnode = loc->cnode[i];
        if (cnode == LC_NONE)
            continue;
        if (is_mpi(p->trace, cnode))
            walk->open = false;
        if (exact_path(p->trace, cnode) != p->around)
            continue;
        walk->k += !walk->open;
        walk->open = true;
        return i;
    }
    return LC_NONE;
}

static enum lc_err list_portions(struct portions *p, size_t l) {
    const struct lc_loc *loc = &p->trace->locs[l];
    struct walk walk = {0};
    size_t capacity = 0;
    for (uint32_t i; (i = next_in_portion(p, loc, &walk)) != LC_NONE; p->n[l] = walk.k) {
        const int64_t ticks = loc->time[i + 1] - loc->time[i];
        LC_TRY(lc_grow(&p->list[l], &capacity, walk.k, sizeof **p->list));
        p->list[l][walk.k - 1].around += ticks;
        p->list[l][walk.k - 1].own += loc->cnode[i] == p->cnode ? ticks : 0;
    }
    return LC_OK;
}

/* Threads of a process work at the same time: the longest counts. */
static void sum_whole(struct portions *p) {
    for (size_t l = 0; l < p->trace->n_locs; l++) {
        int64_t sum = 0, *whole = &p->whole[p->trace->locs[l].process];
        for (size_t k = 0; k < p->n[l]; k++)
            sum += p->list[l][k].own;
        *whole = sum > *whole ? sum : *whole;
    }
    lc_transport_allreduce_i64(p->trace->comm, p->whole, p->trace->n_processes, LC_OP_SUM);
}

/* The number of portions if all ranks have as many, and one location each; else 0. */
static size_t common_number(const struct portions *p) {
    int64_t range[2] = {0, 0}; /* largest, least, negated */
    if (p->trace->n_locations != p->trace->n_processes)
        return 0;
    range[1] = INT64_MIN;
    for (size_t l = 0; l < p->trace->n_locs; l++) {
        int64_t n = (int64_t)p->n[l];
        range[0] = n > range[0] ? n : range[0];
        range[1] = -n > range[1] ? -n : range[1];
    }
    lc_transport_allreduce_i64(p->trace->comm, range, 2, LC_OP_MAX);
    return range[0] == -range[1] ? (size_t)range[0] : 0;
}

static enum lc_err sum_portions(struct portions *p, size_t n) {
    int64_t *sums = NULL;
    LC_TRY(lc_transport_agree(p->trace->comm, lc_alloc(&sums, 2 * n, sizeof *sums)));
    for (size_t l = 0; l < p->trace->n_locs; l++)
        for (size_t k = 0; k < n; k++) {
            sums[2 * k] += p->list[l][k].own;
            sums[2 * k + 1] += p->list[l][k].around;
        }
    lc_transport_allreduce_i64(p->trace->comm, sums, 2 * n, LC_OP_SUM);
    enum lc_err err = lc_transport_agree(p->trace->comm, lc_alloc(&p->sums, n, sizeof *p->sums));
    for (size_t k = 0; k < n && err == LC_OK; k++)
        p->sums[k] = (struct portion){sums[2 * k], sums[2 * k + 1]};
    free(sums);
    return err;
}

static enum lc_err find_portions(struct portions *p) {
    const struct lc_trace *trace = p->trace;
    p->around = exact_path(trace, p->cnode);
    enum lc_err err = lc_alloc(&p->list, trace->n_locs + 1, sizeof *p->list);
    if (err == LC_OK)
        err = lc_alloc(&p->n, trace->n_locs + 1, sizeof *p->n);
    if (err == LC_OK)
        err = lc_alloc(&p->whole, trace->n_processes + 1, sizeof *p->whole);
    for (size_t l = 0; l < trace->n_locs && err == LC_OK; l++)
        err = list_portions(p, l);
    LC_TRY(lc_transport_agree(trace->comm, err));
    sum_whole(p);
    size_t n = common_number(p);
    return n > 0 ? sum_portions(p, n) : LC_OK;
}

static void free_portions(struct portions *p) {
    for (size_t l = 0; p->list != NULL && l < p->trace->n_locs; l++)
        free(p->list[l]);
    free(p->list);
    free(p->n);
    free(p->whole);
    free(p->sums);
}

/* By how much it takes longer than it is to take. */
static double excess_of(const struct portions *p, int64_t own, int64_t all) {
    double n = (double)p->trace->n_processes;
    double wanted = p->late != LC_NONE ? (double)(all - own) / (n - 1) : (double)all / n;
    return (double)own - wanted;
}

/* Which share of the time in the call path goes, in this portion: as much as there is more of it
 * than elsewhere, but no more than the exact call path around it takes longer; the rest is chance
 * of samples. */
static double share_of_portion(const struct portions *p, const struct portion *own,
                               const struct portion *all) {
    double excess = excess_of(p, own->own, all->own);
    double around = excess_of(p, own->around, all->around);
    if ((excess > 0) != (around > 0))
        return 0;
    double less = fabs(excess) < fabs(around) ? excess : around;
    return own->own > 0 ? less / (double)own->own : 0;
}

static bool set_shares(const void *what, const struct lc_loc *loc, double *share) {
    const struct portions *p = what;
    size_t l = (size_t)(loc - p->trace->locs);
    int64_t all = 0, own = p->whole[loc->process];
    struct walk walk = {0};
    if (p->late != LC_NONE && p->late != loc->process)
        return false;
    for (size_t i = 0; i < p->trace->n_processes; i++)
        all += p->whole[i];
    double whole = own > 0 ? excess_of(p, own, all) / (double)own : 0;
    for (uint32_t i; (i = next_in_portion(p, loc, &walk)) != LC_NONE;)
        if (loc->cnode[i] == p->cnode)
            share[i] = p->sums == NULL
                           ? whole
                           : share_of_portion(p, &p->list[l][walk.k - 1], &p->sums[walk.k - 1]);
    return true;
}

/* --- the replays --- */

struct runs {
    const struct lc_trace *trace;
    struct lc_replay *replay;
    json_t *list;
};

static void add_gain(const struct runs *runs, const char *kind, uint32_t cnode, uint32_t process,
                     double ticks) {
    const struct lc_trace *trace = runs->trace;
    if (trace->comm->rank != 0)
        return;
    struct lc_strbuf path = {0};
    json_t *entry = json_object();
    lc_place_callpath(&path, trace, cnode);
    json_object_set_new(entry, "without", json_string(kind));
    json_object_set_new(entry, "callpath", json_string(lc_strbuf_get(&path)));
    if (process != LC_NONE)
        json_object_set_new(entry, "rank", json_integer(trace->processes[process].rank));
    json_object_set_new(entry, "now_s", lc_place_seconds(trace, (double)(trace->t1 - trace->t0)));
    json_object_set_new(entry, "then_s", lc_place_seconds(trace, ticks));
    json_array_append_new(runs->list, entry);
    lc_strbuf_free(&path);
}

static bool somebody_has_none(const struct portions *p) {
    for (size_t i = 0; i < p->trace->n_processes; i++)
        if (p->whole[i] == 0)
            return true;
    return false;
}

/* Without what the call path costs, whichever ranks are late in it. */
static enum lc_err run_path(const struct runs *runs, uint32_t cnode, struct portions *p) {
    struct lc_replay_change change = {set_shares, p, LC_NONE};
    double ticks;
    size_t skipped;
    p->late = LC_NONE;
    if (!somebody_has_none(p)) {
        LC_TRY(lc_replay_run(runs->replay, &change, &ticks, &skipped));
        add_gain(runs, "imbalance", cnode, LC_NONE, ticks);
    }
    change = (struct lc_replay_change){.unawaited = cnode};
    LC_TRY(lc_replay_run(runs->replay, &change, &ticks, &skipped));
    if (skipped > 0)
        add_gain(runs, "serialisation_chain", cnode, LC_NONE, ticks);
    return LC_OK;
}

static enum lc_err run_cause(const struct runs *runs, const struct lc_gain_cause *cause) {
    struct portions p = {.trace = runs->trace, .cnode = cause->cnode, .late = cause->process};
    struct lc_replay_change change = {set_shares, &p, LC_NONE};
    double ticks;
    size_t skipped;
    enum lc_err err = find_portions(&p);
    if (err == LC_OK)
        err = lc_replay_run(runs->replay, &change, &ticks, &skipped);
    if (err == LC_OK)
        add_gain(runs, "late_rank", cause->cnode, cause->process, ticks);
    if (err == LC_OK && !cause->known_path)
        err = run_path(runs, cause->cnode, &p);
    free_portions(&p);
    return err;
}

struct calls {
    const struct lc_trace *trace;
    uint32_t cnode;
};

static bool set_call(const void *what, const struct lc_loc *loc, double *share) {
    const struct calls *calls = what;
    for (uint32_t i = 0; i + 1 < loc->n_transitions; i++)
        share[i] = loc->cnode[i] == calls->cnode;
    return true;
}

/* Time in MPI calls that is no waiting, start and end of MPI apart. */
static enum lc_err choose_calls(const struct lc_trace *trace, struct lc_gain_causes *calls) {
    int64_t *sums = NULL;
    double least = 2 * least_share * (double)all_time(trace);
    calls->n = 0;
    LC_TRY(lc_transport_agree(trace->comm, lc_alloc(&sums, trace->n_cnodes + 1, sizeof *sums)));
    for (size_t l = 0; l < trace->n_locs; l++) {
        const struct lc_loc *loc = &trace->locs[l];
        for (uint32_t i = 0; i + 1 < loc->n_transitions; i++)
            if (loc->cnode[i] != LC_NONE)
                sums[loc->cnode[i]] += loc->time[i + 1] - loc->time[i];
        for (size_t i = 0; i < loc->n_waits; i++)
            if (loc->waits[i].flags & LC_WAIT_STATE)
                sums[loc->waits[i].cnode] -= lc_wait_ticks(&loc->waits[i]);
    }
    lc_transport_allreduce_i64(trace->comm, sums, trace->n_cnodes, LC_OP_SUM);
    for (uint32_t c = 0; c < trace->n_cnodes; c++) {
        uint8_t fn = trace->regions[trace->cnodes[c].region].fn;
        if (is_mpi(trace, c) && fn != LC_FN_MPI_INIT && fn != LC_FN_MPI_FINALIZE && sums[c] > 0 &&
            (double)sums[c] >= least)
            insert(calls, LC_GAIN_CALLS, (struct lc_gain_cause){.cnode = c, .ticks = sums[c]});
    }
    free(sums);
    return LC_OK;
}

static enum lc_err run_calls(const struct runs *runs) {
    struct lc_gain_causes chosen;
    LC_TRY(choose_calls(runs->trace, &chosen));
    for (size_t i = 0; i < chosen.n; i++) {
        struct calls calls = {runs->trace, chosen.list[i].cnode};
        struct lc_replay_change change = {set_call, &calls, LC_NONE};
        double ticks;
        size_t skipped;
        LC_TRY(lc_replay_run(runs->replay, &change, &ticks, &skipped));
        add_gain(runs, "mpi_cost", calls.cnode, LC_NONE, ticks);
    }
    return LC_OK;
}

enum lc_err lc_gains_run(const struct lc_timelines *lines, const struct lc_gain_causes *causes,
                         json_t *object) {
    struct runs runs = {.trace = lines->trace};
    enum lc_err err = lc_replay_new(&runs.replay, lines);
    if (err == LC_ERR_RANGE) { /* too long a trace: findings estimate */
        json_object_set_new(object, "gains", json_null());
        return LC_OK;
    }
    if (err != LC_OK)
        return err;
    runs.list = json_array();
    for (size_t i = 0; i < causes->n && err == LC_OK && lines->trace->n_processes > 1; i++)
        err = run_cause(&runs, &causes->list[i]);
    if (err == LC_OK)
        err = run_calls(&runs);
    json_object_set_new(object, "gains", runs.list);
    json_object_set_new(object, "gains_without_arrivals",
                        json_boolean(lc_replay_is_partial(runs.replay)));
    lc_replay_free(runs.replay);
    return err;
}
