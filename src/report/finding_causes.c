/* Code in which ranks are late, and what that costs.
 *
 * For a call path p: U_r its own time on rank r (without what it calls), m the mean of U, CP the
 * length of the critical path in p, CP_r on rank r, W_r all waiting of rank r.
 *
 *   late_rank r   gain     f CP_r, at most U_r - m', with m' the mean of the others and
 *                          f = (U_r - m') / U_r: the rank as fast as the others
 *   imbalance     gain     CP - m: the same work, spread evenly every time
 *   both          not more than min over s of W_s + D_s, with D_s what s itself saves; with exact
 *                          costs C of the trace C / P (late_rank: C / (P - 1)), the mean of what
 *                          those who wait for it wait
 *                 at most  min over s of M_s + D_s, with M_s all time of s in MPI
 *
 * Where the analysis replayed the trace without the cause, that is the gain (exact_gain.h), else
 * what a clock of the run without it says (clocked_gain.h).
 *
 * Where ranks are in partitions that work in different code (finding_partitions.h), those of one
 * are compared with each other only, and what others wait is partition_limits.
 *
 * The bound holds because a run takes at least as long as any rank works. Without a core for each
 * rank, what is no waiting in MPI is mostly waiting for a core: then M stands for W. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "format/trace_def_records.h"
#include "report/clocked_gain.h"
#include "report/delay_costs.h"
#include "report/exact_gain.h"
#include "report/finding_kinds.h"
#include "report/finding_partitions.h"
#include "report/gain_limits.h"
#include "report/late.h"
#include "report/units.h"

struct cause {
    uint32_t path;
    double total, indirect;   /* indirect: of the total */
    double *cost;             /* per process: waiting of others */
    const struct lc_late *by; /* the largest measured part; NULL: none */
    bool exact;               /* costs are from the trace */
    bool divided;             /* ... cut by samples: of the trace, or by the profile's blame */
    uint32_t replayed;        /* the path without which a replay tells its gain; LC_NONE: none */
};

struct causes {
    struct cause *list;
    size_t n, capacity;
    struct lc_late_list late;
    struct lc_tsv gains;    /* by clocks */
    double *own, *critical; /* per process, of the path that is looked at */
    double *worked;         /* the same, sum of its threads */
    uint32_t partition;     /* in which its ranks are; LC_NONE: the run has none */
    size_t n_ranks;         /* of it, or of the run */
};

static enum lc_err find_or_add(struct lc_search *search, struct causes *causes, uint32_t path,
                               struct cause **cause) {
    for (size_t i = 0; i < causes->n; i++)
        if (causes->list[i].path == path) {
            *cause = &causes->list[i];
            return LC_OK;
        }
    LC_TRY(lc_grow(&causes->list, &causes->capacity, causes->n + 1, sizeof causes->list[0]));
    *cause = &causes->list[causes->n];
    **cause = (struct cause){.path = path, .replayed = path};
    LC_TRY(lc_alloc(&(*cause)->cost, search->view->model->n_processes, sizeof(double)));
    causes->n++;
    return LC_OK;
}

static uint32_t process_of(const struct lc_view *view, const char *rank) {
    char *end;
    long number = strtol(rank, &end, 10);
    for (uint32_t p = 0; end != rank && p < view->model->n_processes; p++)
        if (view->model->processes[p].rank == number)
            return p;
    return LC_NONE;
}

/* Code whose own time there is: not MPI, known to this result, and traced. */
static bool is_code(const struct lc_search *search, uint32_t path) {
    return path != LC_NONE && !search->view->paths[path].mpi && !search->sums->apart[path] &&
           strcmp(search->view->paths[path].name, LC_NOT_TRACED) != 0;
}

/* The code as the trace knows it: functions that samples found are not in every trace. */
static uint32_t known_to_analysis(const struct lc_search *search, uint32_t path) {
    while (search->analysis != NULL && path != LC_NONE) {
        char *name = lc_model_callpath(search->view->model, search->view->paths[path].first_cnode);
        bool known = name == NULL || lc_view_find(search->analysis, name) != LC_NONE;
        free(name);
        if (known)
            break;
        path = search->view->paths[path].parent;
    }
    return path;
}

/* Where the trace books what others wait for this code of a process: there, or around it, where it
 * has nothing there; so no waiting is told twice. */
static uint32_t booked_at(const struct lc_search *search, const struct causes *causes,
                          uint32_t path, uint32_t process) {
    const uint32_t known = known_to_analysis(search, path);
    for (uint32_t at = known; at != LC_NONE; at = search->view->paths[at].parent)
        for (size_t i = 0; i < causes->n; i++)
            if (causes->list[i].path == at && causes->list[i].exact &&
                causes->list[i].cost[process] > 0.0)
                return at;
    return known;
}

static enum lc_err add_measured(struct lc_search *search, struct causes *causes) {
    for (size_t i = 0; i < causes->late.n; i++) {
        const struct lc_late *late = &causes->late.list[i];
        uint32_t process = process_of(search->view, late->rank);
        struct cause *cause;
        if (late->thread[0] != '\0' || process == LC_NONE)
            continue; /* threads wait for each other: not what ranks cost */
        uint32_t path = booked_at(search, causes, lc_view_find(search->view, late->path), process);
        if (!is_code(search, path))
            continue;
        LC_TRY(find_or_add(search, causes, path, &cause));
        if (cause->by == NULL)
            cause->by = late; /* the list begins with the largest */
        if (!cause->exact) {
            cause->cost[process] += late->seconds;
            cause->total += late->seconds;
            cause->indirect += late->indirect;
        }
    }
    return LC_OK;
}

/* What the profile knows of the late code inside of a path of the analysis. */
struct late_code {
    const struct lc_late *late;
    uint32_t path, process;
};

static enum lc_err late_inside(const struct lc_search *search, const struct causes *causes,
                               uint32_t path, struct late_code **inside, size_t *n) {
    *n = 0;
    LC_TRY(lc_alloc(inside, causes->late.n + 1, sizeof(*inside)[0]));
    for (size_t i = 0; i < causes->late.n; i++) {
        const struct lc_late *late = &causes->late.list[i];
        const struct late_code code = {late, lc_view_find(search->view, late->path),
                                       process_of(search->view, late->rank)};
        if (late->thread[0] == '\0' && code.process != LC_NONE && is_code(search, code.path) &&
            booked_at(search, causes, code.path, code.process) == path)
            (*inside)[(*n)++] = code;
    }
    return LC_OK;
}

/* The trace knows what the path costs, the profile in which function of it ranks were late: the
 * cost of each rank goes to these as its blame does. */
static enum lc_err divide(struct lc_search *search, struct causes *causes, size_t at,
                          const struct late_code *inside, size_t n, double *blame) {
    const size_t n_processes = search->view->model->n_processes;
    const uint32_t path = causes->list[at].path;
    const double total = causes->list[at].total, indirect = causes->list[at].indirect;
    memset(blame, 0, n_processes * sizeof blame[0]);
    for (size_t i = 0; i < n; i++)
        blame[inside[i].process] += inside[i].late->seconds;
    double *of_whole = causes->own; /* free until causes become findings */
    memcpy(of_whole, causes->list[at].cost, n_processes * sizeof of_whole[0]);
    for (size_t i = 0; i < n; i++) {
        struct cause *part;
        const uint32_t process = inside[i].process;
        if (inside[i].path == path || !(blame[process] > 0.0))
            continue;
        double moved = of_whole[process] * (inside[i].late->seconds / blame[process]);
        LC_TRY(find_or_add(search, causes, inside[i].path, &part));
        part->exact = part->divided = true;
        part->by = part->by != NULL ? part->by : inside[i].late;
        part->cost[process] += moved;
        part->total += moved;
        part->indirect += total > 0.0 ? indirect * (moved / total) : 0.0;
        part->replayed = part->total >= 0.9 * total ? path : LC_NONE;
        struct cause *whole = &causes->list[at];
        whole->cost[process] -= moved;
        whole->total -= moved;
        whole->indirect -= total > 0.0 ? indirect * (moved / total) : 0.0;
        whole->replayed = whole->total >= 0.9 * total ? path : LC_NONE;
    }
    return LC_OK;
}

/* The trace knows itself what samples found. */
static bool has_samples(const struct lc_view *analysis) {
    const char *data;
    size_t bytes;
    return lc_cubex_misc(analysis->cube, "samples.tsv", &data, &bytes) == LC_OK;
}

static enum lc_err divide_all(struct lc_search *search, struct causes *causes) {
    double *blame;
    const size_t n_causes = causes->n;
    LC_TRY(lc_alloc(&blame, search->view->model->n_processes, sizeof blame[0]));
    enum lc_err err = LC_OK;
    for (size_t c = 0; err == LC_OK && c < n_causes; c++) {
        struct late_code *inside = NULL;
        size_t n = 0;
        if (!causes->list[c].exact)
            continue;
        err = late_inside(search, causes, causes->list[c].path, &inside, &n);
        if (err == LC_OK)
            err = divide(search, causes, c, inside, n, blame);
        free(inside);
    }
    free(blame);
    return err;
}

/* Costs of one path of an analysis, of all kinds, per location; *indirect: the long-term ones of
 * all locations. */
static enum lc_err sum_costs(struct lc_view *analysis, uint32_t path, double *row, double *sums,
                             double *indirect) {
    memset(sums, 0, analysis->model->n_locations * sizeof sums[0]);
    *indirect = 0.0;
    for (uint32_t m = 0; m < analysis->model->n_metrics; m++) {
        bool longterm;
        if (!lc_is_delay_cost(analysis, m, &longterm))
            continue;
        LC_TRY(lc_view_exclusive_row(analysis, m, path, row));
        for (size_t l = 0; l < analysis->model->n_locations; l++) {
            sums[l] += row[l];
            *indirect += longterm ? row[l] : 0.0;
        }
    }
    return LC_OK;
}

/* Did samples find it, on any call path of this name? */
static bool is_sampled(const struct lc_view *view, uint32_t path) {
    const struct lc_model *model = view->model;
    for (uint32_t c = view->paths[path].first_cnode; c != LC_NONE; c = view->same_path[c])
        if (strcmp(model->regions[model->cnodes[c].region].paradigm, LC_MODEL_SAMPLED) == 0)
            return true;
    return false;
}

/* ... and is none that was measured, off the processor? */
static bool is_estimated(const struct lc_view *view, uint32_t path) {
    const struct lc_model *model = view->model;
    for (uint32_t c = view->paths[path].first_cnode; c != LC_NONE; c = view->same_path[c]) {
        const struct lc_region *region = &model->regions[model->cnodes[c].region];
        if (strcmp(region->paradigm, LC_MODEL_SAMPLED) == 0 &&
            strncmp(region->name, "(off CPU", 8) != 0 && strcmp(region->name, "(preempted)") != 0)
            return true;
    }
    return false;
}

static enum lc_err add_exact(struct lc_search *search, struct causes *causes,
                             struct lc_view *analysis) {
    const size_t n = analysis->model->n_locations, m = analysis->model->n_processes;
    double *row = NULL, *sums = NULL, *costs = NULL;
    enum lc_err err = lc_alloc(&row, n, sizeof row[0]);
    if (err == LC_OK)
        err = lc_alloc(&sums, n, sizeof sums[0]);
    if (err == LC_OK)
        err = lc_alloc(&costs, m, sizeof costs[0]);
    for (uint32_t p = 0; err == LC_OK && p < analysis->n_paths; p++) {
        double total = 0.0, indirect = 0.0;
        err = analysis->paths[p].mpi ? LC_OK : sum_costs(analysis, p, row, sums, &indirect);
        for (size_t l = 0; err == LC_OK && l < n && !analysis->paths[p].mpi; l++)
            total += sums[l];
        if (err != LC_OK || total < 0.002 * search->all_s)
            continue;
        char *name = lc_view_path(analysis, p);
        uint32_t path = analysis == search->view ? p
                        : name != NULL           ? lc_view_find(search->view, name)
                                                 : LC_NONE;
        free(name);
        struct cause *cause;
        if (!is_code(search, path))
            continue;
        err = find_or_add(search, causes, path, &cause);
        if (err != LC_OK)
            break;
        lc_per_process(analysis, sums, false, costs);
        for (size_t i = 0; i < m; i++) /* what is folded into one path comes in parts */
            cause->cost[i] += costs[i];
        cause->total += total;
        cause->indirect += indirect;
        cause->exact = true;
        cause->divided = cause->divided || is_sampled(analysis, p);
    }
    free(row);
    free(sums);
    free(costs);
    return err;
}

/* Is the process one of those that are compared? */
static bool is_inside(const struct lc_search *search, const struct causes *causes, size_t process) {
    return causes->partition == LC_NONE || search->partitions->of[process] == causes->partition;
}

/* The partition of which nearly all of the cost is; LC_NONE: there are none, or of several. */
static uint32_t partition_of(const struct lc_search *search, const struct cause *cause) {
    const struct lc_partitions *p = search->partitions;
    size_t n = search->view->model->n_processes;
    double all = 0.0, own = 0.0;
    uint32_t which = LC_NONE;
    for (size_t r = 0, most = 0; p->n > 1 && r < n; r++) {
        most = cause->cost[r] > cause->cost[most] ? r : most;
        which = p->of[most];
    }
    for (size_t r = 0; r < n; r++) {
        all += cause->cost[r];
        own += p->of[r] == which ? cause->cost[r] : 0.0;
    }
    return own >= 0.9 * all ? which : LC_NONE;
}

/* Which ranks are compared for this path. Returns how much of the waiting for it they have at
 * least: others wait no more for it than they wait at all. */
static double look_inside(const struct lc_search *search, struct causes *causes,
                          const struct cause *cause) {
    const struct lc_partitions *p = search->partitions;
    double inside = 0.0, outside = 0.0;
    causes->partition = partition_of(search, cause);
    causes->n_ranks = search->n_ranks;
    if (causes->partition == LC_NONE)
        return cause->total;
    causes->n_ranks = p->list[causes->partition].n_ranks;
    for (size_t r = 0; r < search->view->model->n_processes; r++)
        *(is_inside(search, causes, r) ? &inside : &outside) += search->waiting_s[r];
    return fmin(fmax(cause->total - outside, 0.0), inside);
}

/* U and CP per process. Threads of a process work at the same time: the longest counts. The path
 * has no more of a process than it worked: what is before its first event is on the path, too. */
static enum lc_err look_at(struct lc_search *search, struct causes *causes, uint32_t path) {
    struct lc_view *view = search->view;
    uint32_t time = lc_model_find_metric(view->model, "time");
    uint32_t critical = lc_model_find_metric(
        view->model, search->is_analysis ? "critical_path" : "critical_path_useful");
    memset(causes->own, 0, view->model->n_processes * sizeof(double));
    memset(causes->critical, 0, view->model->n_processes * sizeof(double));
    if (time != LC_NONE) {
        LC_TRY(lc_view_exclusive_row(view, time, path, search->row));
        lc_per_process(view, search->row, true, causes->own);
        lc_per_process(view, search->row, false, causes->worked);
    }
    if (critical != LC_NONE) {
        LC_TRY(lc_view_exclusive_row(view, critical, path, search->row));
        lc_per_process(view, search->row, false, causes->critical);
        for (size_t p = 0; p < view->model->n_processes && time != LC_NONE; p++)
            causes->critical[p] = fmin(causes->critical[p], causes->worked[p]);
    }
    return LC_OK;
}

static double sum(const double *values, size_t n) {
    double all = 0.0;
    for (size_t i = 0; i < n; i++)
        all += values[i];
    return all;
}

/* The processes of most cost first, as many as carry 80 % of it; all alike: none. */
static void name_ranks(const struct lc_search *search, const struct causes *causes,
                       const struct cause *cause, struct lc_finding *finding) {
    size_t n = search->view->model->n_processes;
    double named = 0.0, below = INFINITY, most = 0.0;
    for (size_t p = 0; p < n; p++)
        most = fmax(most, cause->cost[p]);
    if (causes->n_ranks > 2 && most * (double)causes->n_ranks < 1.7 * cause->total)
        return;
    while (named < 0.8 * cause->total && finding->n_ranks < n) {
        double next = 0.0; /* the largest cost below those named */
        for (size_t p = 0; p < n; p++)
            if (cause->cost[p] < below)
                next = fmax(next, cause->cost[p]);
        if (next <= 0.0)
            break;
        for (size_t p = 0; p < n; p++)
            if (cause->cost[p] == next) {
                if (finding->n_ranks < LC_FINDING_RANKS)
                    finding->ranks[finding->n_ranks] = search->view->model->processes[p].rank;
                finding->n_ranks++;
                named += next;
            }
        below = next;
    }
}

/* Own time above which a rank is as late as the longest: nearer to it than to the mean. */
static double as_late(const struct lc_search *search, const struct causes *causes) {
    double most = 0.0;
    for (size_t p = 0; p < search->view->model->n_processes; p++)
        most = fmax(most, causes->own[p]);
    return (most + sum(causes->own, search->view->model->n_processes) / (double)causes->n_ranks) /
           2;
}

/* Where the costs name one of several ranks that are as late: all of these, the longest first. */
static void name_as_late(const struct lc_search *search, const struct causes *causes,
                         struct lc_finding *finding) {
    const struct lc_model *model = search->view->model;
    double least = as_late(search, causes), below = INFINITY;
    while (finding->n_ranks < model->n_processes) {
        double next = least; /* the largest below those named */
        for (size_t p = 0; p < model->n_processes; p++)
            if (causes->own[p] < below)
                next = fmax(next, causes->own[p]);
        if (next <= least)
            return;
        for (size_t p = 0; p < model->n_processes; p++) {
            if (causes->own[p] != next)
                continue;
            if (finding->n_ranks < LC_FINDING_RANKS)
                finding->ranks[finding->n_ranks] = model->processes[p].rank;
            finding->n_ranks++;
        }
        below = next;
    }
}

static uint32_t most_costly(const struct cause *cause, size_t n) {
    uint32_t best = 0;
    for (uint32_t p = 1; p < n; p++)
        if (cause->cost[p] > cause->cost[best])
            best = p;
    return best;
}

static bool is_known(const struct lc_search *search, size_t process) {
    const struct lc_view *view = search->view;
    for (size_t l = 0; l < view->model->n_locations; l++)
        if (view->model->locations[l].process == process)
            return !view->unknown[l];
    return false;
}

/* See the head of the file. `late`: the rank that is to be as fast as the others, LC_NONE: all as
 * fast as the mean. True: by replay of the trace, or by a clock. */
static bool predict_seen(const struct lc_search *search, const struct causes *causes, uint32_t late,
                         struct lc_finding *finding) {
    size_t n = search->view->model->n_processes;
    double all = sum(causes->own, n), mean, high = INFINITY, gain, excess;
    double critical = sum(causes->critical, n);
    const char *kind = finding->kind->id;
    bool whole = causes->partition == LC_NONE; /* replays and clocks compare all ranks */
    if (critical <= 0.0 || causes->n_ranks < 2)
        return whole && lc_exact_gain(search, kind, finding);
    if (late == LC_NONE) {
        mean = all / (double)causes->n_ranks;
        gain = excess = critical - mean;
    } else {
        mean = (all - causes->own[late]) / (double)(causes->n_ranks - 1);
        excess = causes->own[late] - mean;
        gain = excess > 0.0 ? excess / causes->own[late] * causes->critical[late] : 0.0;
        gain = fmin(gain, excess);
    }
    for (size_t s = 0; s < n; s++) {
        double saves = late == LC_NONE || s == late ? causes->own[s] - mean : 0.0;
        if (!is_known(search, s) || !is_inside(search, causes, s))
            continue;
        high = fmin(high, search->mpi_s[s] + saves);
        gain = fmin(gain, (search->lacks_cores ? search->mpi_s[s] : search->waiting_s[s]) + saves);
    }
    if (finding->certainty == LC_EXACT_FROM_TRACE) /* nobody gains more than it waits for this */
        gain = fmin(gain, finding->severity_s / (double)(causes->n_ranks - (late != LC_NONE)));
    finding->gain_high_s = fmax(high, 0.0);
    finding->gain_low_s = 0.0;
    finding->gain_s = fmin(fmax(gain, 0.0), finding->gain_high_s);
    finding->gain_by = late == LC_NONE ? "critical path of the code less the mean of all ranks"
                                       : "excess over the mean of the other ranks, where it is on "
                                         "the critical path";
    if (whole && lc_exact_gain(search, kind, finding))
        return true;
    bool clocked = whole && lc_clocked_gain(search, &causes->gains, kind, excess, finding);
    const char *why = clocked ? NULL : lc_clocked_why_not(search);
    if (why != NULL && finding->certainty != LC_EXACT_FROM_TRACE)
        finding->gain_estimated =
            whole ? why : "what-if clocks are of all ranks, not of those of a partition";
    lc_gain_limit(finding);
    return clocked;
}

static bool predict(const struct lc_search *search, const struct causes *causes, uint32_t late,
                    struct lc_finding *finding) {
    bool sure = predict_seen(search, causes, late, finding);
    if (lc_gain_is_hidden(search, finding))
        lc_gain_hide(search, finding);
    return sure;
}

static void copy_sites(const struct cause *cause, struct lc_finding *finding) {
    if (cause->by == NULL)
        return;
    strncpy(finding->from, cause->by->from, sizeof finding->from - 1);
    strncpy(finding->to, cause->by->to, sizeof finding->to - 1);
}

/* Nearly all of the work of all ranks in this code is on one chain: while one works, no other does.
 * With two ranks, that would also be said of two that take turns in being late. */
static bool is_chain(const struct lc_search *search, const struct causes *causes) {
    size_t n = search->view->model->n_processes;
    double all = sum(causes->own, n), most = 0.0;
    for (size_t p = 0; p < n; p++)
        most = fmax(most, causes->own[p]);
    return causes->n_ranks > 2 && sum(causes->critical, n) > 0.9 * all && most < 0.6 * all;
}

/* Has the budget for what the tool may cost made origins of waits and the critical path estimates?
 */
static bool carried_rarer(const struct lc_search *search) {
    const json_t *overhead = json_object_get(search->meta, "overhead");
    const json_t *step, *reduced = json_object_get(overhead, "reduced");
    size_t i;
    json_array_foreach(reduced, i, step) {
        const char *how = json_string_value(json_object_get(step, "how"));
        if (how != NULL && strcmp(how, "rarer vectors") == 0)
            return true;
    }
    return false;
}

/* That of its worst part: what samples have divided is an estimate, time off the processor was
 * measured. */
static enum lc_certainty certainty_of(const struct lc_search *search, const struct cause *cause) {
    if (is_estimated(search->view, cause->path) || (!search->is_analysis && carried_rarer(search)))
        return LC_ESTIMATED;
    return cause->exact && !cause->divided ? LC_EXACT_FROM_TRACE : LC_MEASURED;
}

/* To make this rank as fast as the others gains less than half of what evening out gains; of
 * estimates that is also said where another one has nearly as much own time. */
static bool another_is_as_late(const struct lc_search *search, const struct causes *causes,
                               const struct cause *cause, uint32_t late) {
    struct lc_finding one = lc_finding_begin(LC_LATE_RANK), all = lc_finding_begin(LC_IMBALANCE);
    one.path = all.path = cause->path;
    one.replayed_path = all.replayed_path = cause->replayed;
    one.severity_s = all.severity_s = cause->total;
    one.certainty = all.certainty = certainty_of(search, cause);
    one.ranks[0] = search->view->model->processes[late].rank;
    one.n_ranks = 1;
    bool exact = predict(search, causes, late, &one);
    bool all_exact = predict(search, causes, LC_NONE, &all);
    double least = as_late(search, causes);
    for (size_t p = 0; !exact && p < search->view->model->n_processes; p++)
        if (p != late && causes->own[late] > least && causes->own[p] > least)
            return true;
    return all_exact == exact && one.gain_s < 0.5 * all.gain_s;
}

/* Even work would make the run no shorter, but not to have to wait for its messages would. Only the
 * replay of a trace tells. */
static bool is_pipeline(const struct lc_search *search, const struct lc_finding *finding,
                        struct lc_finding *pipeline) {
    *pipeline = *finding;
    pipeline->kind = lc_finding_begin(LC_PIPELINE).kind;
    pipeline->n_ranks = 0; /* each of them, in turn */
    return search->gains != NULL && lc_exact_gain(search, "serialisation_chain", pipeline) &&
           !(finding->gain_s > 0.25 * pipeline->gain_s) && !lc_gain_is_hidden(search, pipeline);
}

static enum lc_err add_cause(struct lc_search *search, const struct causes *causes,
                             const struct cause *cause, double seconds) {
    size_t n = search->view->model->n_processes;
    uint32_t late = most_costly(cause, n);
    bool one = cause->cost[late] >= 0.6 * cause->total && causes->n_ranks > 1;
    bool chain = is_chain(search, causes), whole = causes->partition == LC_NONE;
    int32_t rank = search->view->model->processes[late].rank;
    bool several = one && !chain && another_is_as_late(search, causes, cause, late);
    one = one && !several;
    struct lc_finding pipeline, finding = lc_finding_begin(chain ? LC_SERIALISATION_CHAIN
                                                           : one ? LC_LATE_RANK
                                                                 : LC_IMBALANCE);
    finding.path = cause->path;
    finding.severity_s = seconds;
    finding.indirect_s = whole ? cause->indirect : NAN;
    finding.replayed_path = cause->replayed;
    finding.certainty = certainty_of(search, cause);
    if (one) {
        finding.ranks[0] = rank;
        finding.n_ranks = 1;
        finding.named_s = fmin(cause->cost[late], seconds);
        if (search->threads_apart)
            LC_TRY(lc_find_thread_in(search, cause->path, late, &finding.thread));
    } else if (several) {
        name_as_late(search, causes, &finding);
    } else {
        name_ranks(search, causes, cause, &finding);
    }
    if (chain) {
        char longest[32], most[32];
        double own = 0.0;
        for (size_t p = 0; p < n; p++)
            own = fmax(own, causes->own[p]);
        snprintf(finding.detail, sizeof finding.detail,
                 "the chain takes %s, no single rank more than %s",
                 lc_text_seconds(sum(causes->critical, n), longest), lc_text_seconds(own, most));
    }
    predict(search, causes, one && !chain ? late : LC_NONE, &finding);
    if (!chain && whole && causes->n_ranks > 2 && is_pipeline(search, &finding, &pipeline))
        finding = pipeline;
    copy_sites(cause, &finding);
    if (cause->by != NULL && cause->by->victim != NULL)
        finding.evidence_path = lc_view_find(search->view, cause->by->victim);
    for (size_t i = 0; i < search->sums->n_places && finding.metric == NULL; i++)
        if (search->sums->places[i].path == finding.evidence_path)
            finding.metric = search->sums->waits[search->sums->places[i].wait].kind->name;
    return lc_finding_add(search, &finding);
}

static const struct lc_finding *finding_at(const struct lc_search *search, uint32_t path) {
    for (size_t i = 0; i < search->found->n; i++)
        if (search->found->list[i].path == path)
            return &search->found->list[i];
    return NULL;
}

/* Sends that wait for receivers that are late for no other reason that was found. */
static enum lc_err find_late_receivers(struct lc_search *search, const struct causes *causes) {
    struct lc_finding finding = lc_finding_begin(LC_LATE_RECEIVER);
    double most = 0.0, seconds = 0.0;
    for (size_t i = 0; i < search->sums->n_places; i++) {
        const struct lc_wait_place *place = &search->sums->places[i];
        if (strcmp(search->sums->waits[place->wait].kind->name, "mpi_latereceiver") != 0)
            continue;
        const struct lc_late *by = NULL;
        for (size_t k = 0; k < causes->late.n && by == NULL; k++) {
            const char *victim = causes->late.list[k].victim;
            if (victim != NULL && lc_view_find(search->view, victim) == place->path)
                by = &causes->late.list[k];
        }
        uint32_t because = by != NULL ? lc_view_find(search->view, by->path) : LC_NONE;
        if (because != LC_NONE && finding_at(search, because) != NULL)
            continue;
        seconds += place->seconds;
        if (place->seconds > most) {
            most = place->seconds;
            finding.path = finding.evidence_path = place->path;
            finding.because_path = because;
        }
    }
    finding.severity_s = seconds;
    finding.metric = "mpi_latereceiver";
    finding.certainty = search->is_analysis       ? LC_EXACT_FROM_TRACE
                        : search->sums->estimated ? LC_ESTIMATED
                                                  : LC_MEASURED;
    return finding.path != LC_NONE ? lc_finding_add(search, &finding) : LC_OK;
}

enum lc_err lc_find_causes(struct lc_search *search) {
    struct causes causes = {0};
    size_t n = search->view->model->n_processes;
    enum lc_err err = lc_alloc(&causes.own, n, sizeof(double));
    if (err == LC_OK)
        err = lc_alloc(&causes.critical, n, sizeof(double));
    if (err == LC_OK)
        err = lc_alloc(&causes.worked, n, sizeof(double));
    if (err == LC_OK)
        err = lc_late_read(&causes.late, search->view);
    if (err == LC_OK)
        err = lc_clocked_gains_read(search->view, &causes.gains);
    struct lc_view *analysis = search->is_analysis ? search->view : search->analysis;
    if (err == LC_OK && analysis != NULL)
        err = add_exact(search, &causes, analysis);
    if (err == LC_OK)
        err = add_measured(search, &causes);
    if (err == LC_OK && search->analysis != NULL && !has_samples(search->analysis))
        err = divide_all(search, &causes);
    search->found->has_causes = causes.n > 0;
    for (size_t i = 0; err == LC_OK && i < causes.n; i++) {
        double seconds = look_inside(search, &causes, &causes.list[i]);
        if (lc_is_preempted(search->view, causes.list[i].path)) {
            search->preempted_cost_s += seconds; /* lc_find_costs says so */
            continue;
        }
        /* among the threads of a process it is a finding of its own (finding_threads.c) */
        bool threads = search->analysis != NULL && search->n_ranks < 2;
        if (threads || (causes.partition != LC_NONE && causes.n_ranks < 2))
            continue;
        err = look_at(search, &causes, causes.list[i].path);
        if (err == LC_OK)
            err = add_cause(search, &causes, &causes.list[i], seconds);
    }
    if (err == LC_OK)
        err = find_late_receivers(search, &causes);
    for (size_t i = 0; i < causes.n; i++)
        free(causes.list[i].cost);
    free(causes.list);
    free(causes.own);
    free(causes.critical);
    free(causes.worked);
    lc_late_free(&causes.late);
    lc_tsv_free(&causes.gains);
    return err;
}
