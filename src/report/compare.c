#include "report/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/stats.h"
#include "base/student.h"
#include "base/utf8.h"
#include "format/mpi_function.h"
#include "report/align_paths.h"
#include "report/compare_private.h"
#include "report/run_info.h"
#include "report/sums.h"

enum { LEAST_ITERATIONS = 8 };
enum { LEAST_RUNS = 3 }; /* fewer on a side do not tell how much runs scatter */
#define LEVEL 0.95
#define POWER 0.95 /* of the number of runs that it asks for */

enum lc_err lc_comparison_new(struct lc_comparison **comparison) {
    return lc_alloc(comparison, 1, sizeof **comparison);
}

void lc_comparison_free(struct lc_comparison *c) {
    if (c == NULL)
        return;
    for (size_t i = 0; i < c->n_runs; i++) {
        free(c->runs[i].file);
        free(c->runs[i].program);
        json_decref(c->runs[i].pop);
    }
    for (size_t i = 0; i < c->n_paths; i++) {
        free(c->paths[i].path);
        free(c->paths[i].path_before);
        free(c->paths[i].shown);
        free(c->paths[i].own_s);
        free(c->paths[i].waiting_s);
        for (int k = 0; k < LC_PARTS; k++)
            free(c->paths[i].part_s[k]);
    }
    for (size_t i = 0; c->indicators != NULL && i < c->n_runs; i++)
        lc_run_indicators_free(&c->indicators[i]);
    for (int side = 0; side < 2; side++)
        lc_run_indicators_free(&c->means[side]);
    free(c->indicators);
    free(c->runs);
    free(c->paths);
    lc_view_close(c->first);
    free(c);
}

/* ---- reading */

/* The path of this name among those that are not in the first run; n_paths: none. */
static size_t find_later(const struct lc_comparison *c, const char *path) {
    size_t i = c->first->n_paths;
    while (i < c->n_paths && strcmp(c->paths[i].path, path) != 0)
        i++;
    return i;
}

static enum lc_err add_path(struct lc_comparison *c, const struct lc_view *view, uint32_t path) {
    LC_TRY(lc_grow(&c->paths, &c->cap_paths, c->n_paths + 1, sizeof c->paths[0]));
    struct lc_compared_path *new = &c->paths[c->n_paths++];
    *new = (struct lc_compared_path){0};
    new->path = lc_view_path(view, path);
    new->shown = lc_view_short_path(view, path);
    if (new->path == NULL || new->shown == NULL)
        return lc_fail(LC_ERR_NOMEM, "memory: cannot hold a call path");
    return LC_OK;
}

/* The place of each path of a run in the list; new ones are appended. */
static enum lc_err place_paths(struct lc_comparison *c, struct lc_view *view, int side,
                               size_t *place) {
    uint32_t *to;
    if (view == c->first) {
        for (uint32_t p = 0; p < view->n_paths; p++) {
            LC_TRY(add_path(c, view, p));
            place[p] = p;
        }
        return LC_OK;
    }
    for (uint32_t p = 0; p < view->n_paths; p++)
        place[p] = SIZE_MAX;
    LC_TRY(lc_alloc(&to, c->first->n_paths, sizeof to[0]));
    enum lc_err err = lc_align_paths(c->first, view, to);
    for (uint32_t p = 0; err == LC_OK && p < c->first->n_paths; p++) {
        if (to[p] == LC_NONE)
            continue;
        struct lc_compared_path *known = &c->paths[p];
        char *name = lc_view_path(view, to[p]);
        place[to[p]] = p;
        if (name != NULL && side == 1 && known->path_before == NULL &&
            strcmp(name, known->path) != 0) {
            known->path_before = known->path;
            known->path = name;
            free(known->shown);
            known->shown = lc_view_short_path(view, to[p]);
        } else {
            free(name);
        }
    }
    free(to);
    for (uint32_t p = 0; err == LC_OK && p < view->n_paths; p++) {
        if (place[p] != SIZE_MAX)
            continue;
        char *name = lc_view_path(view, p);
        place[p] = name != NULL ? find_later(c, name) : c->n_paths;
        free(name);
        if (place[p] == c->n_paths)
            err = add_path(c, view, p);
    }
    return err;
}

enum { OWN, WAITING, FIRST_PART, SERIES = FIRST_PART + LC_PARTS };

/* A value per run. */
static double **series_of(struct lc_compared_path *path, int which) {
    return which == OWN       ? &path->own_s
           : which == WAITING ? &path->waiting_s
                              : &path->part_s[which - FIRST_PART];
}

/* Zeros for the run that was added last; of a path that appeared only now, for all before it. */
static enum lc_err make_room(struct lc_comparison *c, struct lc_compared_path *path) {
    for (int i = 0; i < SERIES; i++) {
        double **list = series_of(path, i), *longer;
        size_t known = *list != NULL ? c->n_runs - 1 : 0;
        longer = realloc(*list, c->n_runs * sizeof(double));
        if (longer == NULL)
            return lc_fail(LC_ERR_NOMEM, "memory: cannot hold %zu runs", c->n_runs);
        memset(longer + known, 0, (c->n_runs - known) * sizeof longer[0]);
        *list = longer;
    }
    return LC_OK;
}

/* Own time and waiting of each path, mean over ranks and threads. */
static enum lc_err fill_paths(struct lc_comparison *c, const struct lc_view *view,
                              const struct lc_sums *sums, const size_t *place) {
    size_t run = c->n_runs - 1;
    double n = (double)(view->model->n_locations - view->n_unknown);
    for (size_t i = 0; i < c->n_paths; i++)
        LC_TRY(make_room(c, &c->paths[i]));
    for (uint32_t p = 0; p < view->n_paths; p++) {
        double own = sums->time[p], waiting = sums->waiting[p];
        for (uint32_t child = view->paths[p].first_child; child != LC_NONE;
             child = view->paths[child].next_sibling) {
            own -= sums->time[child];
            waiting -= sums->waiting[child];
        }
        c->paths[place[p]].own_s[run] += own / n;
        c->paths[place[p]].waiting_s[run] += waiting / n;
    }
    return LC_OK;
}

static bool is_code(const struct lc_view *view, const struct lc_sums *sums, uint32_t path) {
    return !view->paths[path].mpi && !sums->apart[path];
}

/* Own time per location of a path that is code. */
static enum lc_err read_code(struct lc_view *view, const struct lc_sums *sums, uint32_t path,
                             double *row) {
    uint32_t time = lc_model_find_metric(view->model, "time");
    memset(row, 0, view->model->n_locations * sizeof row[0]);
    return time != LC_NONE && is_code(view, sums, path)
               ? lc_view_exclusive_row(view, time, path, row)
               : LC_OK;
}

/* The location that works longest in all. */
static enum lc_err find_longest(struct lc_view *view, const struct lc_sums *sums, double *row,
                                size_t *longest) {
    size_t n = view->model->n_locations;
    double *work;
    LC_TRY(lc_alloc(&work, n, sizeof work[0]));
    enum lc_err err = LC_OK;
    for (uint32_t p = 0; err == LC_OK && p < view->n_paths; p++) {
        err = read_code(view, sums, p, row);
        for (size_t l = 0; err == LC_OK && l < n; l++)
            work[l] += row[l];
    }
    *longest = 0;
    for (size_t l = 1; l < n; l++)
        if (work[l] > work[*longest])
            *longest = l;
    free(work);
    return err;
}

/* Time of MPI itself, mean of the ranks: of one path, without what it calls. */
static double mpi_itself(const struct lc_view *view, const struct lc_sums *sums, uint32_t p) {
    double own = sums->time[p] - sums->waiting[p];
    if (!view->paths[p].mpi || sums->apart[p])
        return 0.0;
    for (uint32_t child = view->paths[p].first_child; child != LC_NONE;
         child = view->paths[child].next_sibling)
        own -= sums->time[child] - sums->waiting[child];
    return own > 0.0 ? own : 0.0;
}

/* The parts of a run, path by path: code has its mean, what the rank that works longest has more
 * than that, and what the critical path has more than that one; calls of MPI share the rest by the
 * time that MPI itself took in them. */
static enum lc_err split_paths(struct lc_comparison *c, struct lc_view *view,
                               const struct lc_sums *sums, const size_t *place, double *row) {
    size_t run = c->n_runs - 1, n = view->model->n_locations, longest = 0;
    uint32_t critical = lc_model_find_metric(view->model, "critical_path_useful");
    double all = 0.0, rest = c->runs[run].parts[LC_PART_TRANSFER];
    c->runs[run].has_path_parts = c->runs[run].has_parts && critical != LC_NONE &&
                                  n == view->model->n_processes && view->n_unknown == 0;
    if (!c->runs[run].has_path_parts)
        return LC_OK;
    LC_TRY(find_longest(view, sums, row, &longest));
    for (uint32_t p = 0; p < view->n_paths; p++)
        all += mpi_itself(view, sums, p);
    for (uint32_t p = 0; p < view->n_paths; p++) {
        double mean = 0.0, on_path = 0.0;
        LC_TRY(read_code(view, sums, p, row));
        double of_longest = row[longest];
        for (size_t l = 0; l < n; l++)
            mean += row[l] / (double)n;
        if (is_code(view, sums, p))
            LC_TRY(lc_view_exclusive_row(view, critical, p, row));
        for (size_t l = 0; is_code(view, sums, p) && l < n; l++)
            on_path += row[l];
        double *const *parts = c->paths[place[p]].part_s;
        parts[LC_PART_USEFUL][run] += mean;
        parts[LC_PART_BALANCE][run] += of_longest - mean;
        parts[LC_PART_SERIALISATION][run] += on_path - of_longest;
        parts[LC_PART_TRANSFER][run] += all > 0.0 ? rest * mpi_itself(view, sums, p) / all : 0.0;
    }
    return LC_OK;
}

/* Calls whose number depends on chance are left out. */
static enum lc_err count_calls(struct lc_view *view, double *calls) {
    uint32_t metric = lc_model_find_metric(view->model, "visits");
    double *row;
    LC_TRY(lc_alloc(&row, view->model->n_locations, sizeof row[0]));
    enum lc_err err = LC_OK;
    for (uint32_t p = 0; metric != LC_NONE && err == LC_OK && p < view->n_paths; p++) {
        if (!view->paths[p].mpi || (lc_mpi_find(view->paths[p].name)->flags & LC_MPI_POLLED))
            continue;
        err = lc_view_row(view, metric, p, row);
        for (size_t l = 0; err == LC_OK && l < view->model->n_locations; l++)
            *calls += row[l];
    }
    free(row);
    return err;
}

static double number(const json_t *object, const char *key) {
    return json_number_value(json_object_get(object, key));
}

/* T = avg U + (max U - avg U) + (CP - max U) + (T - CP) */
static void split_run(struct lc_compared_run *run) {
    double elapsed = number(run->pop, "elapsed_s"), critical = number(run->pop, "critical_path_s");
    double efficiency = number(run->pop, "parallel_efficiency");
    double balance = number(run->pop, "load_balance");
    if (elapsed <= 0.0 || critical <= 0.0 || balance <= 0.0)
        return;
    double mean = efficiency * elapsed, most = mean / balance;
    run->elapsed_s = elapsed;
    run->has_parts = true;
    run->parts[LC_PART_USEFUL] = mean;
    run->parts[LC_PART_BALANCE] = most - mean;
    run->parts[LC_PART_SERIALISATION] = critical - most;
    run->parts[LC_PART_TRANSFER] = elapsed - critical;
}

/* "2026-11-24T09:00:00+0100" */
static double time_of(const char *text) {
    struct tm parts = {0};
    const char *end = text != NULL ? strptime(text, "%Y-%m-%dT%H:%M:%S%z", &parts) : NULL;
    long east = parts.tm_gmtoff; /* timegm clears it */
    return end != NULL && *end == '\0' ? (double)(timegm(&parts) - east) : NAN;
}

static enum lc_err read_run(struct lc_compared_run *run, struct lc_view *view) {
    json_t *meta = NULL;
    LC_TRY(lc_strdup(&run->file, view->file));
    LC_TRY(lc_json_pop(view, &run->pop));
    LC_TRY(lc_json_meta(view, &meta));
    const char *program = json_string_value(json_object_get(meta, "program"));
    enum lc_err err = lc_strdup(&run->program, program != NULL ? program : "?");
    run->elapsed_s = number(meta, "wall_time_s");
    run->begin_s = time_of(json_string_value(json_object_get(meta, "begin")));
    run->ranks = (double)view->model->n_processes;
    run->executors = (double)view->model->n_locations;
    split_run(run);
    json_decref(meta);
    return err == LC_OK ? count_calls(view, &run->calls) : err;
}

enum lc_err lc_comparison_add(struct lc_comparison *c, int side, const char *file) {
    struct lc_view *view;
    struct lc_sums *sums = NULL;
    size_t *place = NULL;
    double *row = NULL;
    LC_TRY(lc_grow(&c->runs, &c->cap_runs, c->n_runs + 1, sizeof c->runs[0]));
    LC_TRY(lc_grow(&c->indicators, &c->cap_indicators, c->n_runs + 1, sizeof c->indicators[0]));
    c->indicators[c->n_runs] = (struct lc_run_indicators){0};
    LC_TRY(lc_view_open(&view, file));
    if (c->first == NULL)
        c->first = view;
    c->runs[c->n_runs] = (struct lc_compared_run){.side = side};
    enum lc_err err = lc_view_fold(view, true);
    if (err == LC_OK)
        err = read_run(&c->runs[c->n_runs], view);
    c->n_runs++;
    c->n_side[side]++;
    if (err == LC_OK)
        err = lc_run_indicators_read(&c->indicators[c->n_runs - 1], view);
    if (err == LC_OK)
        err = lc_sums_new(&sums, view);
    if (err == LC_OK)
        err = lc_alloc(&place, view->n_paths, sizeof place[0]);
    if (err == LC_OK)
        err = place_paths(c, view, side, place);
    if (err == LC_OK)
        err = fill_paths(c, view, sums, place);
    if (err == LC_OK)
        err = lc_alloc(&row, view->model->n_locations, sizeof row[0]);
    if (err == LC_OK)
        err = split_paths(c, view, sums, place, row);
    free(row);
    lc_sums_free(sums);
    free(place);
    if (view != c->first)
        lc_view_close(view);
    return err;
}

/* ---- computing */

/* The values of one side, one per run, in `out`. */
static size_t side_of(const struct lc_comparison *c, int side, const double *values, double *out) {
    size_t n = 0;
    for (size_t r = 0; r < c->n_runs; r++)
        if (c->runs[r].side == side)
            out[n++] = values[r];
    return n;
}

static struct lc_difference compare_runs(const struct lc_comparison *c, const double *values,
                                         double *room) {
    size_t n = side_of(c, 0, values, room), m = side_of(c, 1, values, room + n);
    return lc_student_compare(room, n, room + n, m, LEVEL);
}

/* Named phases; of a run without, the loops that were found in it. */
static const json_t *phases_of(const struct lc_compared_run *run) {
    const json_t *phases = json_object_get(run->pop, "phases");
    return json_array_size(phases) > 0 ? phases : json_object_get(run->pop, "iterations");
}

static const char *name_of(const json_t *phase) {
    const char *name = json_string_value(json_object_get(phase, "name"));
    return name != NULL ? name : json_string_value(json_object_get(phase, "callpath"));
}

static const json_t *phase_of(const struct lc_compared_run *run, const char *name) {
    size_t i;
    json_t *phase;
    json_array_foreach(phases_of(run), i, phase) {
        const char *own = name_of(phase);
        if (own != NULL && strcmp(own, name) == 0)
            return phase;
    }
    return NULL;
}

static const json_t *values_of(const json_t *phase) {
    return json_object_get(json_object_get(phase, "each"), "elapsed_s");
}

/* Iterations of this name on each side; blocks of the same size in all runs. */
static bool has_iterations(const struct lc_comparison *c, const char *name, size_t n[2]) {
    double block = 0.0;
    n[0] = n[1] = 0;
    for (size_t r = 0; r < c->n_runs; r++) {
        const json_t *phase = phase_of(&c->runs[r], name);
        double own = number(json_object_get(phase, "each"), "block");
        if (own <= 0.0 || (block > 0.0 && own != block))
            return false;
        block = own;
        n[c->runs[r].side] += json_array_size(values_of(phase));
    }
    return n[0] >= LEAST_ITERATIONS && n[1] >= LEAST_ITERATIONS;
}

/* The longest phase that all runs have with enough iterations; the first such loop, since the first
 * one covers most of the run. */
static const char *choose_phase(struct lc_comparison *c) {
    const json_t *phases = phases_of(&c->runs[0]);
    bool loops = phases == json_object_get(c->runs[0].pop, "iterations");
    const char *best = NULL;
    double longest = 0.0;
    size_t i, n[2];
    const json_t *phase;
    json_array_foreach(phases, i, phase) {
        const char *name = name_of(phase);
        if (name == NULL || number(phase, "elapsed_s") <= longest || (loops && best != NULL) ||
            !has_iterations(c, name, n))
            continue;
        best = name;
        longest = number(phase, "elapsed_s");
        c->iterations[0] = n[0];
        c->iterations[1] = n[1];
    }
    return best;
}

/* The iterations of a side, in the order of its runs. */
static void collect(const struct lc_comparison *c, int side, const char *name, double *out) {
    for (size_t r = 0; r < c->n_runs; r++) {
        const json_t *values = values_of(phase_of(&c->runs[r], name));
        for (size_t i = 0; c->runs[r].side == side && i < json_array_size(values); i++)
            *out++ = json_number_value(json_array_get(values, i));
    }
}

static enum lc_err compare_iterations(struct lc_comparison *c, const char *name) {
    double *values;
    LC_TRY(lc_alloc(&values, c->iterations[0] + c->iterations[1], sizeof values[0]));
    collect(c, 0, name, values);
    collect(c, 1, name, values + c->iterations[0]);
    struct lc_difference d = lc_student_compare(values, c->iterations[0], values + c->iterations[0],
                                                c->iterations[1], LEVEL);
    double in_all = number(phase_of(&c->runs[0], name), "kept");
    double freedom = (double)(c->iterations[0] + c->iterations[1] - 2);
    double error = d.half * in_all / lc_student_quantile(LEVEL, freedom);
    c->by = LC_BY_ITERATIONS;
    c->half_s = d.half * in_all;
    c->var_s2[0] = c->var_s2[1] = error * error / 2.0;
    c->ratio = d.mean_b / d.mean_a;
    c->ratio_low = (d.mean_b - d.half) / d.mean_a;
    c->ratio_high = (d.mean_b + d.half) / d.mean_a;
    c->phase = name;
    free(values);
    return LC_OK;
}

static enum lc_err compare_times(struct lc_comparison *c, double *room) {
    double *times;
    LC_TRY(lc_alloc(&times, c->n_runs, sizeof times[0]));
    for (size_t r = 0; r < c->n_runs; r++)
        times[r] = c->runs[r].elapsed_s;
    struct lc_difference d = compare_runs(c, times, room);
    free(times);
    c->a_s = d.mean_a;
    c->b_s = d.mean_b;
    c->ratio = d.mean_a > 0.0 ? d.mean_b / d.mean_a : 1.0;
    c->ratio_low = c->ratio_high = NAN;
    c->half_s = NAN;
    const char *phase = NULL;
    if (isfinite(d.half)) {
        c->by = LC_BY_RUNS;
        c->is_calibrated = c->n_side[0] >= LEAST_RUNS && c->n_side[1] >= LEAST_RUNS;
        c->half_s = d.half;
        c->var_s2[0] = d.var_a;
        c->var_s2[1] = d.var_b;
        c->ratio_low = (d.mean_b - d.half) / d.mean_a;
        c->ratio_high = (d.mean_b + d.half) / d.mean_a;
    } else if ((phase = choose_phase(c)) != NULL) {
        return compare_iterations(c, phase);
    }
    return LC_OK;
}

/* The noise of a part is taken as that of the whole where only iterations of the whole are known.
 */
static void compare_path(struct lc_comparison *c, struct lc_compared_path *path, double *room) {
    struct lc_difference own = compare_runs(c, path->own_s, room);
    struct lc_difference waiting = compare_runs(c, path->waiting_s, room);
    path->a_s = own.mean_a;
    path->b_s = own.mean_b;
    path->delta_s = own.delta;
    path->waiting_delta_s = waiting.delta;
    for (int k = 0; k < LC_PARTS; k++)
        path->part_delta_s[k] =
            c->has_path_parts ? compare_runs(c, path->part_s[k], room).delta : NAN;
    path->half_s = c->by == LC_BY_RUNS ? own.half : c->half_s;
    path->only_a = own.mean_a > 0.0 && own.mean_b <= 0.0;
    path->only_b = own.mean_b > 0.0 && own.mean_a <= 0.0;
}

/* Waiting is a symptom: code and MPI itself come first. */
static int by_change(const void *a, const void *b) {
    const struct lc_compared_path *p = a, *q = b;
    double x = fabs(p->delta_s - p->waiting_delta_s), y = fabs(q->delta_s - q->waiting_delta_s);
    if (x != y)
        return x < y ? 1 : -1;
    return strcmp(p->path, q->path);
}

static void split_change(struct lc_comparison *c) {
    c->has_parts = true;
    for (size_t r = 0; r < c->n_runs; r++) {
        c->has_parts = c->has_parts && c->runs[r].has_parts;
        for (int k = 0; k < LC_PARTS; k++)
            c->parts[k] += (c->runs[r].side == 1 ? 1.0 : -1.0) * c->runs[r].parts[k] /
                           (double)c->n_side[c->runs[r].side];
    }
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static double mean_calls(const struct lc_comparison *c, int side) {
    double calls = 0.0;
    for (size_t r = 0; r < c->n_runs; r++)
        calls += c->runs[r].side == side ? c->runs[r].calls / (double)c->n_side[side] : 0.0;
    return calls;
}

/* Where one side was done before the other began, what changed on the machine meanwhile is in the
 * difference. Of a single run a side nothing else can be expected. */
static enum lc_order order_of(const struct lc_comparison *c) {
    double first[2] = {INFINITY, INFINITY}, last[2] = {-INFINITY, -INFINITY};
    if (c->n_side[0] < 2 || c->n_side[1] < 2)
        return LC_ORDER_UNKNOWN;
    for (size_t r = 0; r < c->n_runs; r++) {
        const struct lc_compared_run *run = &c->runs[r];
        if (isnan(run->begin_s))
            return LC_ORDER_UNKNOWN;
        first[run->side] = fmin(first[run->side], run->begin_s);
        last[run->side] = fmax(last[run->side], run->begin_s);
    }
    return last[0] < first[1] || last[1] < first[0] ? LC_ORDER_ONE_SIDE_FIRST : LC_ORDER_TURNS;
}

/* Runs on each side that show a difference as large as the one seen, or as the threshold if that is
 * larger. Where only iterations are known, what differs between runs comes on top. */
static size_t count_needed(const struct lc_comparison *c) {
    double delta = fmax(fabs(c->b_s - c->a_s), c->threshold * c->a_s);
    size_t fewer = c->n_side[0] < c->n_side[1] ? c->n_side[0] : c->n_side[1], needed = LEAST_RUNS;
    if (c->by != LC_BY_NOTHING)
        needed = lc_student_needed(c->var_s2[0], c->var_s2[1], delta, LEVEL, POWER, LEAST_RUNS);
    return needed > fewer ? needed : fewer + 1;
}

/* Fewer than three runs on a side can differ, but that tells nothing of the programs. Else: the
 * interval is on one side of 1, or within the threshold, or cannot tell. */
static const char *verdict_of(struct lc_comparison *c) {
    bool known = c->by != LC_BY_NOTHING;
    double least = known ? c->ratio_low : c->ratio / (1.0 + c->threshold);
    double most = known ? c->ratio_high : c->ratio * (1.0 + c->threshold);
    c->differs = least > 1.0 ? "slower" : most < 1.0 ? "faster" : NULL;
    if (c->is_calibrated && c->differs != NULL)
        return c->differs;
    if (c->is_calibrated && least >= 1.0 - c->threshold && most <= 1.0 + c->threshold)
        return "same";
    c->runs_needed = count_needed(c);
    return "cannot tell";
}

static void decide_verdict(struct lc_comparison *c) {
    const struct lc_compared_run *first = &c->runs[0];
    for (size_t r = 1; r < c->n_runs && c->why == NULL; r++) {
        const struct lc_compared_run *run = &c->runs[r];
        if (strcmp(base_name(run->program), base_name(first->program)) != 0)
            c->why = "not the same program";
        else if (run->ranks != first->ranks || run->executors != first->executors)
            c->why = "not the same number of ranks and threads: see `latecomer scaling`";
        else if (run->has_parts != first->has_parts)
            c->why = "one has no efficiency factors: it did not reach MPI_Finalize";
    }
    if (c->why == NULL && c->a_s <= 0.0)
        c->why = "no run time";
    c->verdict = "not comparable";
    if (c->why != NULL)
        return;
    double calls[2] = {mean_calls(c, 0), mean_calls(c, 1)};
    c->order = order_of(c);
    c->verdict = verdict_of(c);
    if (fabs(calls[1] - calls[0]) > 0.01 * fmax(calls[0], calls[1])) {
        c->verdict = "different work";
        snprintf(c->why_text, sizeof c->why_text, "%.0f MPI calls in A, %.0f in B", calls[0],
                 calls[1]);
        c->why = c->why_text;
    }
}

enum lc_err lc_comparison_make(struct lc_comparison *c, double threshold) {
    double *room;
    c->threshold = threshold;
    LC_TRY(lc_alloc(&room, c->n_runs, sizeof room[0]));
    enum lc_err err = compare_times(c, room);
    c->has_path_parts = true;
    for (size_t r = 0; r < c->n_runs; r++)
        c->has_path_parts = c->has_path_parts && c->runs[r].has_path_parts;
    for (size_t i = 0; err == LC_OK && i < c->n_paths; i++)
        compare_path(c, &c->paths[i], room);
    free(room);
    LC_TRY(err);
    split_change(c);
    decide_verdict(c);
    LC_TRY(lc_run_indicators_mean(&c->means[0], c->indicators, c->n_side[0]));
    LC_TRY(lc_run_indicators_mean(&c->means[1], c->indicators + c->n_side[0], c->n_side[1]));
    if (c->n_paths > 0)
        qsort(c->paths, c->n_paths, sizeof c->paths[0], by_change);
    return LC_OK;
}

bool lc_comparison_is_slower(const struct lc_comparison *c) {
    return lc_comparison_is_possible(c) && c->is_calibrated && c->ratio_low > 1.0;
}

size_t lc_comparison_runs_needed(const struct lc_comparison *c) {
    return c->runs_needed;
}

bool lc_comparison_is_possible(const struct lc_comparison *c) {
    return strcmp(c->verdict, "not comparable") != 0;
}
