/* Code in which threads make the others of their team wait, code that one thread runs while the
 * others have nothing to do, and regions that do not use all of them.
 *
 * W: what others wait for it on a rank, n: threads of that rank. If all took as long, each barrier
 * would be passed when the mean of the threads comes to it: W / n earlier (the sum of what n - 1
 * threads wait for the last is n times what the last takes longer than the mean); and work of one
 * thread spread over n saves as much of its time. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/finding_kinds.h"
#include "report/late.h"

#define IDLE "!$omp idle"

static const char *last_name(const char *path) {
    const char *slash = path != NULL ? strrchr(path, '/') : NULL;
    return slash != NULL ? slash + 1 : path != NULL ? path : "";
}

static bool begins(const char *path, const char *construct) {
    const char *name = last_name(path);
    return strncmp(name, construct, strlen(construct)) == 0;
}

enum lc_err lc_has_threads_apart(struct lc_search *search, bool *has) {
    const struct lc_model *model = search->view->model;
    const uint32_t metric = lc_model_find_metric(model, "omp_time");
    double in_omp = 0.0;
    if (metric != LC_NONE)
        LC_TRY(lc_view_total(search->view, metric, &in_omp));
    *has = model->n_locations > model->n_processes && !(in_omp > 0.0);
    return LC_OK;
}

enum lc_err lc_find_thread_in(struct lc_search *search, uint32_t path, uint32_t process,
                              int32_t *thread) {
    const struct lc_model *model = search->view->model;
    const uint32_t metric = lc_model_find_metric(model, "time");
    const double nearly_all = 0.9;
    double all = 0.0, most = 0.0;
    size_t n = 0;
    *thread = -1;
    if (metric == LC_NONE)
        return LC_OK;
    LC_TRY(lc_view_exclusive_row(search->view, metric, path, search->row));
    for (size_t l = 0; l < model->n_locations; l++) {
        if (model->locations[l].process != process)
            continue;
        n++;
        all += search->row[l];
        if (search->row[l] > most) {
            most = search->row[l];
            *thread = (int32_t)model->locations[l].thread;
        }
    }
    if (n < 2 || most < nearly_all * all)
        *thread = -1;
    return LC_OK;
}

/* Waiting for locks is a finding of its own. */
static bool counts(const struct lc_late *late) {
    static const char *const locks[] = {"!$omp critical", "!$omp ordered", "!$omp atomic",
                                        "!$omp omp_set_lock"};
    for (size_t i = 0; i < sizeof locks / sizeof *locks; i++)
        if (begins(late->victim, locks[i]))
            return false;
    return late->thread[0] != '\0' && late->victim != NULL;
}

static uint32_t process_of(const struct lc_view *view, const char *rank) {
    long number = strtol(rank, NULL, 10);
    for (uint32_t p = 0; p < view->model->n_processes; p++)
        if (view->model->processes[p].rank == number)
            return p;
    return LC_NONE;
}

static double threads_of(const struct lc_view *view, uint32_t process) {
    double n = 0.0;
    for (size_t l = 0; l < view->model->n_locations; l++)
        n += view->model->locations[l].process == process;
    return fmax(n, 1.0);
}

/* What others wait for code of a process, or are idle meanwhile, with bounds. */
struct waited {
    double seconds, low, high;
};

static void predict(const struct lc_search *search, struct lc_finding *finding,
                    const struct waited *waited) {
    double sum = 0.0, most = 0.0;
    for (uint32_t p = 0; p < search->view->model->n_processes; p++) {
        double threads = threads_of(search->view, p);
        sum += waited[p].seconds / threads;
        most = fmax(most, waited[p].high / threads);
    }
    finding->gain_low_s = 0.0;
    finding->gain_s = sum / (double)(search->n_ranks > 0 ? search->n_ranks : 1);
    finding->gain_high_s = most;
    finding->gain_by = "waiting for this code, per thread";
}

static enum lc_err add(struct lc_search *search, const struct lc_late *first,
                       struct lc_finding *finding, const struct waited *waited) {
    char who[64];
    if (!begins(first->victim, IDLE) || search->n_ranks == 1) /* else it may have been in MPI */
        predict(search, finding, waited);
    if (first->seconds >= 0.6 * finding->severity_s) {
        lc_late_number(first, search->view, who);
        snprintf(finding->detail, sizeof finding->detail, "%s %s",
                 lc_late_noun(first, search->view), who);
    } else {
        snprintf(finding->detail, sizeof finding->detail, "one thread or another");
    }
    finding->evidence_path = lc_view_find(search->view, first->victim);
    for (size_t i = 0; i < search->sums->n_places && finding->metric == NULL; i++)
        if (search->sums->places[i].path == finding->evidence_path)
            finding->metric = search->sums->waits[search->sums->places[i].wait].kind->name;
    return lc_finding_add(search, finding);
}

/* By process. */
struct by_process {
    struct waited *waited; /* for the code in question */
    double *idle;          /* for it, threads that are in no region */
    double *all_idle;      /* for any code */
    double *limited;       /* of that, while the forking thread was in regions of fewer threads */
};

/* Regions of fewer threads are a finding of their own, and have no row of blame: what threads were
 * idle in them is in the rows of code around them. B for this code, I for all, L of I in such
 * regions: of B so much is taken to be outside of them as of I. All of L may have been in this
 * code, or none of it: at least B - L, at most B, and no more than I - L. */
static struct waited outside_of_regions(const struct by_process *by, uint32_t process) {
    double idle = by->idle[process], limited = by->limited[process];
    if (!(limited > 0.0))
        return (struct waited){idle, idle, idle};
    const double all = fmax(fmax(by->all_idle[process], limited), idle), outside = all - limited;
    const double low = fmax(idle - limited, 0.0), high = fmin(idle, outside);
    return (struct waited){idle * (outside / all), low, high};
}

/* Bounds are told where the error is 1 % or more. */
static void add_up_waiting(struct lc_search *search, struct lc_finding *finding,
                           const struct by_process *by) {
    struct waited all = {0.0, 0.0, 0.0};
    for (uint32_t p = 0; p < search->view->model->n_processes; p++) {
        struct waited idle = outside_of_regions(by, p);
        by->waited[p].seconds += idle.seconds;
        by->waited[p].low = by->waited[p].seconds - (idle.seconds - idle.low);
        by->waited[p].high = by->waited[p].seconds + (idle.high - idle.seconds);
        all.seconds += by->waited[p].seconds;
        all.low += by->waited[p].low;
        all.high += by->waited[p].high;
    }
    finding->severity_s = all.seconds;
    if (all.high - all.low >= 0.01 * all.high && all.high > 0.0) {
        finding->severity_low_s = all.low;
        finding->severity_high_s = all.high;
        finding->certainty = LC_ESTIMATED;
    }
}

/* All of the code of list[first] that follows; the list begins with the largest. */
static enum lc_err add_late_code(struct lc_search *search, const struct lc_late_list *late,
                                 size_t first, bool *seen, const struct by_process *by) {
    const size_t n = search->view->model->n_processes;
    const struct lc_late *code = &late->list[first];
    bool alone = begins(code->victim, IDLE);
    struct lc_finding finding = lc_finding_begin(alone ? LC_SERIAL_PART : LC_THREAD_IMBALANCE);
    finding.path = lc_view_find(search->view, code->path);
    memset(by->waited, 0, n * sizeof *by->waited);
    memset(by->idle, 0, n * sizeof *by->idle);
    for (size_t i = first; i < late->n; i++) {
        const struct lc_late *is = &late->list[i];
        uint32_t process = process_of(search->view, is->rank);
        if (!counts(is) || strcmp(is->path, code->path) != 0 || process == LC_NONE)
            continue;
        seen[i] = true;
        if (begins(is->victim, IDLE))
            by->idle[process] += is->seconds;
        else
            by->waited[process].seconds += is->seconds;
    }
    add_up_waiting(search, &finding, by);
    return finding.path != LC_NONE && finding.severity_s > 0.0
               ? add(search, code, &finding, by->waited)
               : LC_OK;
}

/* Where most of a metric is; LC_NONE: there is none. */
static enum lc_err find_most(struct lc_view *view, uint32_t metric, uint32_t *most) {
    double *row = NULL, largest = 0.0;
    LC_TRY(lc_alloc(&row, view->model->n_locations + 1, sizeof *row));
    enum lc_err err = LC_OK;
    *most = LC_NONE;
    for (uint32_t path = 0; path < view->n_paths && err == LC_OK; path++) {
        double here = 0.0;
        err = lc_view_exclusive_row(view, metric, path, row);
        for (size_t l = 0; l < view->model->n_locations && err == LC_OK; l++)
            here += row[l];
        if (here > largest) {
            largest = here;
            *most = path;
        }
    }
    free(row);
    return err;
}

/* Adds a metric to the sums of the processes; it may be absent. */
static enum lc_err add_up(struct lc_view *view, const char *name, double *sums) {
    uint32_t metric = lc_model_find_metric(view->model, name);
    double *row = NULL;
    if (metric == LC_NONE)
        return LC_OK;
    LC_TRY(lc_alloc(&row, view->model->n_locations + 1, sizeof *row));
    enum lc_err err = lc_view_location_sums(view, metric, row);
    for (size_t l = 0; err == LC_OK && l < view->model->n_locations; l++)
        if (view->model->locations[l].process < view->model->n_processes)
            sums[view->model->locations[l].process] += row[l];
    free(row);
    return err;
}

/* Idle threads while the master was in a region of a smaller team. */
static enum lc_err find_limited(struct lc_search *search) {
    struct lc_view *view = search->view;
    uint32_t metric = lc_model_find_metric(view->model, "omp_limited_parallelism");
    struct lc_finding finding = lc_finding_begin(LC_LIMITED_PARALLELISM);
    if (metric == LC_NONE)
        return LC_OK;
    LC_TRY(lc_view_total(view, metric, &finding.severity_s));
    if (!(finding.severity_s > 0.0))
        return LC_OK;
    LC_TRY(find_most(view, metric, &finding.evidence_path));
    finding.metric = "omp_limited_parallelism";
    finding.certainty = search->is_analysis ? LC_EXACT_FROM_TRACE : LC_MEASURED;
    if (search->n_ranks == 1) {
        finding.gain_low_s = 0.0;
        finding.gain_s = finding.gain_high_s = finding.severity_s / threads_of(view, 0);
        finding.gain_by = "the work of these regions spread over all threads";
    }
    return lc_finding_add(search, &finding);
}

static void by_process_free(struct by_process *by) {
    free(by->waited);
    free(by->idle);
    free(by->all_idle);
    free(by->limited);
}

static enum lc_err by_process_new(struct lc_view *view, struct by_process *by) {
    const size_t n = view->model->n_processes + 1;
    *by = (struct by_process){NULL, NULL, NULL, NULL};
    enum lc_err err = lc_alloc(&by->waited, n, sizeof *by->waited);
    if (err == LC_OK)
        err = lc_alloc(&by->idle, n, sizeof *by->idle);
    if (err == LC_OK)
        err = lc_alloc(&by->all_idle, n, sizeof *by->all_idle);
    if (err == LC_OK)
        err = lc_alloc(&by->limited, n, sizeof *by->limited);
    if (err == LC_OK)
        err = add_up(view, "omp_idle_threads", by->all_idle);
    if (err == LC_OK)
        err = add_up(view, "omp_limited_parallelism", by->limited);
    if (err != LC_OK)
        by_process_free(by);
    return err;
}

static enum lc_err find_late(struct lc_search *search, const struct lc_late_list *late) {
    struct by_process by;
    bool *seen = NULL;
    LC_TRY(lc_alloc(&seen, late->n + 1, sizeof *seen));
    enum lc_err err = by_process_new(search->view, &by);
    if (err != LC_OK) {
        free(seen);
        return err;
    }
    for (size_t i = 0; err == LC_OK && i < late->n; i++)
        if (!seen[i] && counts(&late->list[i]))
            err = add_late_code(search, late, i, seen, &by);
    by_process_free(&by);
    free(seen);
    return err;
}

enum lc_err lc_find_threads(struct lc_search *search) {
    struct lc_late_list late;
    LC_TRY(find_limited(search));
    LC_TRY(lc_late_read(&late, search->view));
    enum lc_err err = find_late(search, &late);
    lc_late_free(&late);
    return err;
}
