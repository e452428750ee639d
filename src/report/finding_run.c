/* What MPI itself and threads cost, and what bears on the run as a whole. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/plural.h"
#include "base/strbuf.h"
#include "base/utf8.h"
#include "format/mpi_function.h"
#include "report/advice.h"
#include "report/cores.h"
#include "report/exact_gain.h"
#include "report/finding_kinds.h"
#include "report/short_name.h"
#include "report/units.h"

enum { MOST_COSTS = 3, SMALL_MESSAGE = 1024, MANY = 1000, LONGEST_NAME = 48 };

static double number(const json_t *object, const char *key) {
    return json_number_value(json_object_get(object, key));
}

/* The sum over all locations of one metric at one call path; 0 where there is no such metric. */
static enum lc_err value_at(struct lc_search *search, const char *name, uint32_t path,
                            double *value) {
    uint32_t metric = lc_model_find_metric(search->view->model, name);
    *value = 0.0;
    if (metric == LC_NONE)
        return LC_OK;
    LC_TRY(lc_view_exclusive_row(search->view, metric, path, search->row));
    for (size_t l = 0; l < search->view->model->n_locations; l++)
        *value += search->row[l];
    return LC_OK;
}

/* "12000 messages of 36 bytes on average", if that is many and small. */
static enum lc_err are_small(struct lc_search *search, uint32_t path, char *words, size_t room,
                             bool *small) {
    double sent, received, bytes_out, bytes_in;
    LC_TRY(value_at(search, "comms_send", path, &sent));
    LC_TRY(value_at(search, "comms_recv", path, &received));
    LC_TRY(value_at(search, "bytes_sent", path, &bytes_out));
    LC_TRY(value_at(search, "bytes_rcvd", path, &bytes_in));
    double count = fmax(sent, received), bytes = fmax(bytes_out, bytes_in);
    *small = count >= MANY && bytes < SMALL_MESSAGE * count;
    if (*small)
        snprintf(words, room, "%.0f messages of %.0f bytes on average", count, bytes / count);
    return LC_OK;
}

/* Sums over all places of time in which ranks were without a processor. */
struct preempted {
    double *of; /* per process */
    double all_s, critical_s;
    uint32_t most_at; /* the place with most of it */
};

static enum lc_err sum_preempted(struct lc_search *search, struct preempted *sums) {
    const struct lc_model *model = search->view->model;
    double most = 0.0, seconds, critical;
    sums->most_at = LC_NONE;
    LC_TRY(lc_alloc(&sums->of, model->n_processes, sizeof(double)));
    for (uint32_t p = 0; p < search->view->n_paths; p++) {
        if (!lc_is_preempted(search->view, p))
            continue;
        LC_TRY(value_at(search, search->is_analysis ? "critical_path" : "critical_path_useful", p,
                        &critical));
        LC_TRY(value_at(search, "time", p, &seconds));
        for (size_t l = 0; l < model->n_locations; l++)
            sums->of[model->locations[l].process] += search->row[l];
        sums->all_s += seconds;
        sums->critical_s += critical;
        if (seconds > most)
            sums->most_at = p;
        most = fmax(most, seconds);
    }
    return LC_OK;
}

/* What cannot be told of the time in calls of a path: what the tool itself took, but for that in
 * other calls, and as much of it without a processor as of the time outside of MPI (`lost`). */
static double least_cost(const struct lc_search *search, uint32_t path, double visits,
                         double lost) {
    const json_t *overhead = json_object_get(search->meta, "overhead");
    double call_s = 1e-9 * number(overhead, "call_ns"), least_s = search->least_s;
    double calls_s = number(overhead, "total_s") - number(overhead, "rare_s") -
                     number(overhead, "sampling_s") - number(overhead, "openmp_s");
    if (call_s > 0.0)
        least_s -= fmax(calls_s - visits * call_s, 0.0);
    return least_s + lost * search->sums->time[path];
}

/* Sums of the metric of calls that had not returned, of all ranks, per path. */
static enum lc_err sum_unfinished(struct lc_search *search, double *of) {
    for (uint32_t p = 0; p < search->view->n_paths; p++)
        if (search->view->paths[p].mpi)
            LC_TRY(value_at(search, "mpi_unfinished", p, &of[p]));
    return LC_OK;
}

/* Of a snapshot. */
static bool is_running(const char *ending) {
    return ending != NULL && strcmp(ending, "running") == 0;
}

/* Ranks that were in a call when they ended, or were looked at. What the call was for is not known,
 * and so neither whether this is a cost of MPI, or waiting. */
static enum lc_err add_unfinished(struct lc_search *search, uint32_t path, double seconds) {
    const struct lc_model *model = search->view->model;
    const char *ending = json_string_value(json_object_get(search->meta, "ending"));
    struct lc_finding finding = lc_finding_begin(LC_UNFINISHED_CALL);
    finding.path = finding.evidence_path = path;
    finding.metric = "mpi_unfinished";
    finding.severity_s = seconds;
    finding.certainty = LC_MEASURED;
    snprintf(finding.detail, sizeof finding.detail, "%.60s, which had not returned when %s",
             search->view->paths[path].name,
             is_running(ending) ? "the run was looked at" : "the run ended");
    LC_TRY(value_at(search, "mpi_unfinished", path, &seconds));
    for (size_t p = 0; p < model->n_processes; p++) {
        double own = 0.0;
        for (size_t l = 0; l < model->n_locations; l++)
            own += model->locations[l].process == p ? search->row[l] : 0.0;
        if (own <= 0.0)
            continue;
        if (finding.n_ranks < LC_FINDING_RANKS)
            finding.ranks[finding.n_ranks] = model->processes[p].rank;
        finding.n_ranks++;
    }
    return lc_finding_add(search, &finding);
}

/* The longest ones; MPI_Abort does not return. */
static enum lc_err find_unfinished(struct lc_search *search) {
    const struct lc_view *view = search->view;
    double *of;
    if (lc_model_find_metric(view->model, "mpi_unfinished") == LC_NONE)
        return LC_OK;
    LC_TRY(lc_alloc(&of, view->n_paths + 1, sizeof of[0]));
    enum lc_err err = sum_unfinished(search, of);
    for (int named = 0; err == LC_OK && named < MOST_COSTS; named++) {
        uint32_t best = 0;
        for (uint32_t p = 1; p < view->n_paths; p++)
            if (of[p] > of[best] && strcmp(view->paths[p].name, "MPI_Abort") != 0)
                best = p;
        if (of[best] <= 0.0)
            break;
        err = add_unfinished(search, best, of[best]);
        of[best] = 0.0;
    }
    free(of);
    return err;
}

/* Time in an MPI call that is no waiting for others, per path. Above the critical path of useful
 * work nothing but MPI is left to save. */
static enum lc_err add_mpi_cost(struct lc_search *search, uint32_t path, double seconds,
                                double lost) {
    bool small;
    char words[120];
    double critical = number(search->pop, "critical_path_s"), visits;
    LC_TRY(are_small(search, path, words, sizeof words, &small));
    LC_TRY(value_at(search, "visits", path, &visits));
    struct lc_finding finding = lc_finding_begin(small ? LC_MANY_SMALL_MESSAGES : LC_MPI_COST);
    finding.path = finding.replayed_path = finding.evidence_path = path;
    finding.metric = "time";
    finding.severity_s = seconds;
    finding.least_s = least_cost(search, path, visits, lost);
    if (small)
        snprintf(finding.detail, sizeof finding.detail, "%s", words);
    else if (visits > 0.0) {
        char each[32];
        snprintf(finding.detail, sizeof finding.detail, "%.0f call%s of %s", visits,
                 lc_plural(visits), lc_text_seconds(seconds / visits, each));
    }
    if (critical > 0.0 && search->elapsed_s > critical) {
        finding.gain_high_s = search->elapsed_s - critical;
        finding.gain_low_s = 0.0;
        finding.gain_s = fmin(seconds / (double)search->n_ranks, finding.gain_high_s);
        finding.gain_by = "mean per rank of the time in these calls that is not waiting, at most "
                          "run time less the critical path of useful work";
    }
    lc_exact_gain(search, "mpi_cost", &finding);
    return lc_finding_add(search, &finding);
}

/* A call that starts processes: it waits for none of those that it started. */
static bool is_spawn(const struct lc_merged_path *path) {
    return path->mpi && strncmp(path->name, "MPI_Comm_spawn", 14) == 0;
}

/* What of this path's time is a cost of MPI, as far as that can be told from waiting. */
static bool may_cost(const struct lc_search *search, uint32_t path) {
    const struct lc_merged_path *at = &search->view->paths[path];
    return at->mpi && !search->sums->apart[path] && (search->spawned == 0.0 || is_spawn(at));
}

static enum lc_err find_mpi_costs(struct lc_search *search, const struct preempted *preempted) {
    const struct lc_view *view = search->view;
    uint32_t time = lc_model_find_metric(view->model, "time");
    double outside_s = fmax(search->all_s - search->sums->total_mpi, preempted->all_s);
    double lost = outside_s > 0.0 ? preempted->all_s / outside_s : 0.0, *cost;
    if (search->lacks_cores || search->sums->estimated || search->sums->n_waits == 0 ||
        time == LC_NONE) /* what of it is waiting is not known */
        return LC_OK;
    LC_TRY(lc_alloc(&cost, view->n_paths + 1, sizeof cost[0]));
    enum lc_err err = sum_unfinished(search, cost);
    for (uint32_t p = 0; p < view->n_paths; p++)
        if (may_cost(search, p))
            cost[p] = search->sums->time[p] - search->sums->waiting[p] - cost[p];
        else
            cost[p] = 0.0;
    for (int named = 0; err == LC_OK && named < MOST_COSTS; named++) {
        uint32_t best = 0;
        for (uint32_t p = 1; p < view->n_paths; p++)
            if (cost[p] > cost[best])
                best = p;
        if (view->n_paths == 0 || cost[best] < 0.01 * search->all_s)
            break;
        err = add_mpi_cost(search, best, cost[best], lost);
        cost[best] = 0.0;
    }
    free(cost);
    return err;
}

/* In calls of MPI, without waiting for others that are in the result, and without calls that had
 * not returned: these are findings of their own. */
static double unexplained(const struct lc_search *search) {
    const struct lc_sums *sums = search->sums;
    return fmax(sums->total_mpi - sums->total_waiting - sums->total_unfinished, 0.0);
}

static enum lc_err find_spawned(struct lc_search *search) {
    struct lc_finding finding = lc_finding_begin(LC_UNMEASURED_PROCESSES);
    double starting = 0.0;
    if (search->spawned == 0.0)
        return LC_OK;
    for (uint32_t p = 0; p < search->view->n_paths; p++)
        if (is_spawn(&search->view->paths[p]))
            starting += search->sums->time[p] - search->sums->waiting[p];
    finding.severity_s = fmax(unexplained(search) - starting, 0.0);
    snprintf(finding.detail, sizeof finding.detail,
             "%.0f process%s that MPI_Comm_spawn started %s not in this result", search->spawned,
             search->spawned == 1.0 ? "" : "es", search->spawned == 1.0 ? "is" : "are");
    return lc_finding_add(search, &finding);
}

static enum lc_err find_cores(struct lc_search *search) {
    double cores = 0.0;
    uint32_t rank = lc_cores_bound_narrowly(search->meta, &cores);
    if (rank != LC_NONE) {
        struct lc_finding finding = lc_finding_begin(LC_BOUND_NARROWLY);
        finding.ranks[0] = (int32_t)rank;
        finding.n_ranks = 1;
        snprintf(finding.detail, sizeof finding.detail, "%.0f for %.0f threads", cores,
                 lc_cores_threads_of(search->meta, rank));
        LC_TRY(lc_finding_add(search, &finding));
    }
    if (!lc_cores_oversubscribed(search->view, search->meta, &cores))
        return LC_OK;
    struct lc_finding finding = lc_finding_begin(LC_OVERSUBSCRIBED);
    finding.severity_s = unexplained(search);
    if (cores > 0.0)
        snprintf(finding.detail, sizeof finding.detail, "%zu ranks and threads on %.0f cores",
                 search->view->model->n_locations, cores);
    else
        snprintf(finding.detail, sizeof finding.detail, "more ranks than cores");
    return lc_finding_add(search, &finding);
}

/* Ranks that lost their processor for more than half as long as the one that did for longest; none
 * where that are all. */
static void name_preempted(const struct lc_search *search, const double *of,
                           struct lc_finding *finding) {
    const struct lc_model *model = search->view->model;
    double most = 0.0;
    for (size_t p = 0; p < model->n_processes; p++)
        most = fmax(most, of[p]);
    for (size_t p = 0; p < model->n_processes; p++) {
        if (of[p] <= 0.5 * most)
            continue;
        if (finding->n_ranks < LC_FINDING_RANKS)
            finding->ranks[finding->n_ranks] = model->processes[p].rank;
        finding->n_ranks++;
    }
    if (finding->n_ranks == search->n_ranks)
        finding->n_ranks = 0;
}

/* Where all ranks have cores, the run would be shorter by what of it is on the critical path, at
 * most. */
static enum lc_err find_preempted(struct lc_search *search, const struct preempted *sums) {
    if (!(sums->all_s > 0.0))
        return LC_OK;
    struct lc_finding finding = lc_finding_begin(LC_PREEMPTED);
    char waited[32], critical[32], cost[64] = "", crowd[64] = "";
    double threads, cores;
    bool has_path = search->is_analysis || search->pop != NULL; /* else it is not known */
    if (search->preempted_cost_s > 0.0) /* 0: nobody waits, or it is not known who waits for what */
        snprintf(cost, sizeof cost, "%s others wait %s for that", has_path ? ";" : ":",
                 lc_text_seconds(search->preempted_cost_s, waited));
    if (lc_cores_crowded(search->view, search->meta, &threads, &cores))
        snprintf(crowd, sizeof crowd, "; %.0f threads compute on %.0f core%s", threads, cores,
                 cores > 1 ? "s" : "");
    finding.path = finding.evidence_path = sums->most_at;
    finding.metric = "time";
    finding.severity_s = sums->all_s;
    finding.certainty = LC_MEASURED;
    snprintf(finding.detail, sizeof finding.detail, "%s%s%s%s%s", has_path ? ": " : "",
             has_path ? lc_text_seconds(sums->critical_s, critical) : "",
             has_path ? " of it on the critical path" : "", cost, crowd);
    if (has_path && !search->lacks_cores) {
        finding.gain_low_s = 0.0;
        finding.gain_s = finding.gain_high_s = sums->critical_s;
        finding.gain_by = "time without a processor on the critical path";
    }
    name_preempted(search, sums->of, &finding);
    finding.one_process = search->n_ranks == 1;
    finding.one_thread = search->view->model->n_locations == 1;
    return lc_finding_add(search, &finding);
}

/* What threads wait for. Ordered loops are in one metric with critical sections, but who waits
 * there waits for the iteration before, and no lock is held for too long. */
static const struct lock_kind {
    const char *metric;
    bool ordered; /* at "!$omp ordered", or at the metric's other places */
    const char *what;
} lock_kinds[] = {
    {"omp_lock_contention_critical", false, "critical sections"},
    {"omp_lock_contention_critical", true, "their turn in ordered loops"},
    {"omp_lock_contention_api", false, "locks"},
    {"pthread_lock_contention_mutex_lock", false, "mutexes"},
};

static enum lc_err find_locks(struct lc_search *search) {
    const struct lc_sums *sums = search->sums;
    for (size_t k = 0; k < sizeof lock_kinds / sizeof *lock_kinds; k++) {
        struct lc_finding finding = lc_finding_begin(LC_LOCK_CONTENTION);
        finding.severity_s = 0.0;
        for (size_t i = 0; i < sums->n_places; i++) { /* the largest place is the first one */
            const struct lc_wait_place *place = &sums->places[i];
            bool ordered = lc_is_ordered(search->view->paths[place->path].name);
            if (strcmp(sums->waits[place->wait].kind->name, lock_kinds[k].metric) != 0 ||
                ordered != lock_kinds[k].ordered)
                continue;
            if (finding.path == LC_NONE)
                finding.path = finding.evidence_path = place->path;
            finding.severity_s += place->seconds;
        }
        if (finding.path == LC_NONE)
            continue;
        finding.metric = lock_kinds[k].metric;
        finding.certainty = search->is_analysis ? LC_EXACT_FROM_TRACE : LC_MEASURED;
        snprintf(finding.detail, sizeof finding.detail, "%s", lock_kinds[k].what);
        LC_TRY(lc_finding_add(search, &finding));
    }
    return LC_OK;
}

/* With perfect scheduling the run could be as short as the path along the tasks. */
static enum lc_err find_tasks(struct lc_search *search) {
    double path = number(search->pop, "critical_path_s");
    double tasks = number(search->pop, "task_critical_path_s"), waiting = 0.0;
    uint32_t metric = lc_model_find_metric(search->view->model, "omp_task_wait");
    if (metric == LC_NONE || tasks <= 0.0 || path <= tasks)
        return LC_OK;
    LC_TRY(lc_view_total(search->view, metric, &waiting));
    struct lc_finding finding = lc_finding_begin(LC_TASK_SCHEDULING);
    char ready[32];
    finding.severity_s = waiting;
    finding.metric = "omp_task_wait";
    finding.gain_low_s = 0.0;
    finding.gain_s = finding.gain_high_s = path - tasks;
    finding.gain_by = "critical path less the path along the tasks";
    snprintf(finding.detail, sizeof finding.detail, "they were ready, but did not run, for %s",
             lc_text_seconds(waiting, ready));
    return lc_finding_add(search, &finding);
}

/* The slowest iteration of each phase, unless it is the first: that one warms up. */
static enum lc_err find_variability(struct lc_search *search) {
    size_t i;
    json_t *phase;
    json_array_foreach(json_object_get(search->pop, "phases"), i, phase) {
        const json_t *time = json_object_get(json_object_get(phase, "iterations"), "elapsed_s");
        const char *name = json_string_value(json_object_get(phase, "name"));
        double median = number(time, "median"), worst = number(time, "worst");
        double at = number(time, "worst_at");
        if (number(phase, "kept") < 10 || at <= 1 || median <= 0.0 || worst < 1.5 * median ||
            worst - median < 0.005 * search->elapsed_s)
            continue;
        struct lc_finding finding = lc_finding_begin(LC_VARIABILITY);
        char slow[32], usual[32], shown[48];
        snprintf(shown, sizeof shown, "%.40s", name != NULL ? name : "?");
        finding.severity_s = (worst - median) * (double)search->n_ranks;
        for (uint32_t p = 0; name != NULL && p < search->view->n_paths; p++)
            if (strcmp(search->view->paths[p].name, name) == 0) {
                finding.path = p;
                break;
            }
        finding.gain_s = finding.gain_low_s = worst - median;
        finding.gain_high_s = number(phase, "elapsed_s") - median * number(phase, "kept");
        finding.gain_high_s = fmax(finding.gain_high_s, finding.gain_s);
        finding.gain_by = "the slowest iteration as fast as the median";
        snprintf(finding.detail, sizeof finding.detail, "no. %.0f of %s took %s, the median is %s",
                 at, shown, lc_text_seconds(worst, slow), lc_text_seconds(median, usual));
        LC_TRY(lc_finding_add(search, &finding));
    }
    return LC_OK;
}

/* Appends the name of a function, without its middle where it would fill the line. */
static void put_name(const char *name, struct lc_strbuf *out) {
    struct lc_strbuf shown = {0};
    lc_put_short_name(&shown, name);
    lc_put_cut(out, lc_strbuf_get(&shown), LONGEST_NAME);
    lc_strbuf_free(&shown);
}

/* Code in which a thread had no processor: it took time there, and did not work. */
static bool is_off_cpu(const struct lc_search *search, uint32_t path) {
    return path != LC_NONE && (lc_is_preempted(search->view, path) ||
                               strncmp(search->view->paths[path].name, "(off CPU", 8) == 0);
}

/* "no. 7 of 300", "no. 7 to 9 of 300"; of another function than where the finding is: whose
 * loop. */
static void put_numbers(const struct lc_search *search, const json_t *loop, const json_t *worst,
                        const struct lc_finding *finding, struct lc_strbuf *out) {
    const char *path = json_string_value(json_object_get(loop, "callpath"));
    uint32_t home = path != NULL ? lc_view_find(search->view, path) : LC_NONE;
    lc_strbuf_printf(out, "no. %.0f", number(worst, "from"));
    if (number(worst, "from") != number(worst, "to"))
        lc_strbuf_printf(out, " to %.0f", number(worst, "to"));
    lc_strbuf_printf(out, " of %.0f", number(loop, "count"));
    if (home != LC_NONE && home != finding->path) {
        lc_strbuf_puts(out, " in ");
        put_name(search->view->paths[home].name, out);
    }
    char times[32];
    lc_strbuf_printf(out, " took %s times the median",
                     lc_text_three_digits(number(worst, "times_median"), times));
    if (finding->n_ranks > 0)
        lc_strbuf_printf(out, "; rank %d %s longest%s", finding->ranks[0],
                         is_off_cpu(search, finding->path) ? "took" : "worked",
                         home != finding->path ? ", here" : "");
    else if (home != finding->path)
        lc_strbuf_puts(out, ", longer than usual here");
}

/* More than a quarter of all are half as far above the median, or more: they are no exceptions, as
 * where a message to each rank in turn is one iteration, and work comes before the first of
 * these. */
static bool are_common(const json_t *loop, const json_t *slow) {
    const json_t *each = json_object_get(loop, "each"), *times = json_object_get(each, "elapsed_s");
    const json_t *spread = json_object_get(json_object_get(loop, "iterations"), "elapsed_s");
    double n = number(slow, "to") - number(slow, "from") + 1.0;
    double least = number(spread, "median") + 0.5 * number(slow, "excess_s") / n;
    size_t long_ones = 0;
    if (number(each, "block") != 1.0)
        return false;
    for (size_t i = 0; i < json_array_size(times); i++)
        long_ones += json_number_value(json_array_get(times, i)) >= least;
    return 4 * long_ones > json_array_size(times);
}

/* Slow iterations of the loop that covers most of the run, the first one: at the code that took
 * longer there than in other iterations, else at the loop. */
static enum lc_err find_slow_iterations(struct lc_search *search) {
    const json_t *loop = json_array_get(json_object_get(search->pop, "iterations"), 0);
    const json_t *worst = json_array_get(json_object_get(loop, "outliers"), 0), *one;
    size_t i;
    double excess = number(worst, "excess_s");
    if (loop == NULL || excess < 0.005 * search->elapsed_s || excess <= 0.0)
        return LC_OK;
    if (excess > 0.5 * number(loop, "elapsed_s")) /* no exception, but what the loop is for */
        return LC_OK;
    if (are_common(loop, worst))
        return LC_OK;
    struct lc_finding finding = lc_finding_begin(LC_VARIABILITY);
    const char *path = json_string_value(json_object_get(loop, "callpath"));
    const json_t *rank = json_object_get(worst, "rank");
    double all = 0.0;
    json_array_foreach(json_object_get(loop, "outliers"), i, one) all += number(one, "excess_s");
    finding.severity_s = excess * (double)search->n_ranks;
    const char *code = json_string_value(json_object_get(worst, "callpath"));
    finding.path = code != NULL ? lc_view_find(search->view, code) : LC_NONE;
    if (finding.path == LC_NONE && path != NULL)
        finding.path = lc_view_find(search->view, path);
    finding.gain_s = finding.gain_low_s = excess;
    finding.gain_high_s = all;
    finding.gain_by = "these iterations as fast as the median";
    /* What a call of MPI took longer is not the work of the rank that worked longest. */
    bool in_mpi = finding.path != LC_NONE && search->view->paths[finding.path].mpi;
    if (json_is_integer(rank) && search->n_ranks > 1 && !in_mpi) {
        finding.ranks[0] = (int32_t)json_integer_value(rank);
        finding.n_ranks = 1;
    }
    struct lc_strbuf detail = {0};
    put_numbers(search, loop, worst, &finding, &detail);
    snprintf(finding.detail, sizeof finding.detail, "%s", lc_strbuf_get(&detail));
    lc_strbuf_free(&detail);
    return lc_finding_add(search, &finding);
}

static enum lc_err find_clocks(struct lc_search *search) {
    const json_t *found = json_object_get(search->meta, "violations");
    double messages = number(found, "messages") + number(found, "collectives");
    double order =
        number(json_object_get(search->meta, "piggyback"), "order_violations") + messages;
    const json_t *clocks = json_object_get(search->meta, "clock_sync");
    double error = fmax(number(clocks, "largest_violation_s"), number(found, "largest_s"));
    char by[32];
    if (order <= 0.0 || json_is_true(json_object_get(found, "corrected")))
        return LC_OK;
    struct lc_finding finding = lc_finding_begin(LC_CLOCK_VIOLATIONS);
    snprintf(finding.detail, sizeof finding.detail, "%.0f %s%s%s", order,
             order == 1.0 ? "event comes before its cause" : "events come before their cause",
             error > 0.0 ? ", by up to " : "", error > 0.0 ? lc_text_seconds(error, by) : "");
    return lc_finding_add(search, &finding);
}

static void put_ending(const char *ending, struct lc_finding *finding) {
    bool known = ending != NULL && ending[0] != '\0' && strcmp(ending, "unknown") != 0;
    if (is_running(ending))
        snprintf(finding->detail, sizeof finding->detail, "the program went on after it");
    else
        snprintf(finding->detail, sizeof finding->detail, "the program ended by %.60s",
                 known ? ending : "something unknown");
}

static enum lc_err find_losses(struct lc_search *search) {
    const json_t *coverage = json_object_get(search->meta, "coverage");
    struct lc_finding finding = lc_finding_begin(LC_INCOMPLETE);
    size_t unknown = json_array_size(json_object_get(search->meta, "unknown_ranks"));
    if (unknown > 0)
        snprintf(finding.detail, sizeof finding.detail, "nothing is known about %zu rank%s",
                 unknown, lc_plural((double)unknown));
    else if (json_is_false(json_object_get(search->meta, "complete")))
        put_ending(json_string_value(json_object_get(search->meta, "ending")), &finding);
    else if (number(coverage, "calls_lost") > 0)
        snprintf(finding.detail, sizeof finding.detail, "no room in the result for %.0f call%s",
                 number(coverage, "calls_lost"), lc_plural(number(coverage, "calls_lost")));
    else if (json_array_size(json_object_get(coverage, "bound_elsewhere")) > 0)
        snprintf(finding.detail, sizeof finding.detail,
                 "%zu objects call MPI without going through the tool",
                 json_array_size(json_object_get(coverage, "bound_elsewhere")));
    else
        return LC_OK;
    return lc_finding_add(search, &finding);
}

/* What ranks lost without a processor, and what MPI costs beside that. */
static enum lc_err find_processors(struct lc_search *search) {
    struct preempted preempted = {0};
    enum lc_err err = sum_preempted(search, &preempted);
    if (err == LC_OK)
        err = find_mpi_costs(search, &preempted);
    if (err == LC_OK)
        err = find_unfinished(search);
    if (err == LC_OK)
        err = find_cores(search);
    if (err == LC_OK)
        err = find_spawned(search);
    if (err == LC_OK)
        err = find_preempted(search, &preempted);
    free(preempted.of);
    return err;
}

enum lc_err lc_find_costs(struct lc_search *search) {
    LC_TRY(find_processors(search));
    LC_TRY(find_locks(search));
    LC_TRY(find_tasks(search));
    LC_TRY(find_variability(search));
    if (json_array_size(json_object_get(search->pop, "phases")) == 0)
        LC_TRY(find_slow_iterations(search));
    LC_TRY(find_clocks(search));
    return find_losses(search);
}
