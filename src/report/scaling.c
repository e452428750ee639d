#include "report/scaling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/run_info.h"
#include "report/scaled_runs.h"

enum { MOST_JSON_PATHS = 1000 };

enum lc_err lc_scaling_new(struct lc_scaling **scaling) {
    return lc_alloc(scaling, 1, sizeof **scaling);
}

void lc_scaling_free(struct lc_scaling *scaling) {
    if (scaling == NULL)
        return;
    for (size_t i = 0; i < scaling->n_runs; i++) {
        free(scaling->runs[i].file);
        json_decref(scaling->runs[i].pop);
        json_decref(scaling->runs[i].meta);
        lc_run_indicators_free(&scaling->runs[i].indicators);
        for (size_t p = 0; p < scaling->runs[i].n_paths; p++) {
            free(scaling->runs[i].paths[p].path);
            free(scaling->runs[i].paths[p].shown);
        }
        free(scaling->runs[i].paths);
    }
    lc_scaling_free_computed(scaling);
    free(scaling->runs);
    free(scaling);
}

static double get(const json_t *object, const char *key, double otherwise) {
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : otherwise;
}

/* NAN without factors. PE = avg U / T, so sum U = PE * N * T; where T is not told: TE = CP / T. */
static double useful_of(const struct lc_scaled_run *run) {
    double elapsed = get(run->pop, "elapsed_s", 0.0);
    if (run->pop == NULL)
        return NAN;
    if (elapsed > 0.0)
        return get(run->pop, "parallel_efficiency", 1.0) * run->executors * elapsed;
    double transfer = get(run->pop, "transfer_efficiency", 1.0);
    return transfer > 0.0 ? get(run->pop, "parallel_efficiency", 1.0) * run->executors *
                                get(run->pop, "critical_path_s", 0.0) / transfer
                          : 0.0;
}

static enum lc_err fill_run(struct lc_scaled_run *run, struct lc_view *view) {
    struct lc_sums *sums;
    LC_TRY(lc_strdup(&run->file, view->file));
    LC_TRY(lc_json_meta(view, &run->meta));
    LC_TRY(lc_json_pop(view, &run->pop));
    LC_TRY(lc_run_indicators_read(&run->indicators, view));
    bool analysed = lc_run_indicators_analysed(&run->indicators);
    if (run->pop == NULL && !analysed && json_is_false(json_object_get(run->meta, "complete")))
        return lc_fail(LC_ERR_NOT_FOUND,
                       "%s: has no POP factors: the program did not reach MPI_Finalize: give runs "
                       "that did",
                       view->file);
    if (run->pop == NULL && !analysed)
        return lc_fail(LC_ERR_NOT_FOUND,
                       "%s: has no POP factors: give profiles of `latecomer run` with clocks on, "
                       "or analyses",
                       view->file);
    run->ranks = (double)view->model->n_processes;
    run->executors = (double)(view->model->n_locations - view->n_unknown);
    run->useful_s = useful_of(run);
    LC_TRY(lc_sums_new(&sums, view));
    enum lc_err err = lc_scaling_read_paths(run, view, sums);
    lc_sums_free(sums);
    return err;
}

enum lc_err lc_scaling_add(struct lc_scaling *scaling, const char *file) {
    struct lc_view *view;
    LC_TRY(
        lc_grow(&scaling->runs, &scaling->cap_runs, scaling->n_runs + 1, sizeof scaling->runs[0]));
    LC_TRY(lc_view_open(&view, file));
    struct lc_scaled_run *run = &scaling->runs[scaling->n_runs++];
    enum lc_err err = lc_view_fold(view, true);
    if (err == LC_OK)
        err = fill_run(run, view);
    lc_view_close(view);
    return err;
}

static int compare_runs(const void *a, const void *b) {
    const struct lc_scaled_run *x = a, *y = b;
    if (x->executors != y->executors)
        return x->executors < y->executors ? -1 : 1;
    return strcmp(x->file, y->file);
}

/* U = instructions / (IPC frequency), so that U0 / U is a product of three. */
static void split_scalability(struct lc_scaled_run *run, const struct lc_scaled_run *smallest,
                              bool weak) {
    const char *const part = "useful";
    const json_t *own = json_object_get(json_object_get(run->pop, "counters"), part);
    const json_t *first = json_object_get(json_object_get(smallest->pop, "counters"), part);
    double instructions = get(own, "instructions", NAN), cycles = get(own, "cycles", NAN);
    double first_instructions = get(first, "instructions", NAN);
    double first_cycles = get(first, "cycles", NAN);
    run->instruction_scalability =
        first_instructions / instructions * (weak ? run->executors / smallest->executors : 1);
    run->ipc_scalability = instructions / cycles / (first_instructions / first_cycles);
    run->frequency_scalability = cycles / run->useful_s / (first_cycles / smallest->useful_s);
}

static enum lc_err compute(struct lc_scaling *scaling, bool weak) {
    qsort(scaling->runs, scaling->n_runs, sizeof scaling->runs[0], compare_runs);
    const struct lc_scaled_run *smallest = &scaling->runs[0];
    for (size_t i = 0; i < scaling->n_runs; i++) {
        struct lc_scaled_run *run = &scaling->runs[i];
        double scalability = run->useful_s == 0.0 ? 1.0 : smallest->useful_s / run->useful_s;
        if (weak)
            scalability *= run->executors / smallest->executors;
        run->computational_scalability = scalability;
        split_scalability(run, smallest, weak);
        run->global_efficiency = scalability * get(run->pop, "parallel_efficiency", 1.0);
    }
    LC_TRY(lc_scaling_find_lost(scaling, weak));
    return lc_scaling_sweep(scaling);
}

static json_t *real_or_null(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *lost_json(const struct lc_lost *lost) {
    json_t *list = json_array();
    for (size_t i = 0; i < lost->n && i < MOST_JSON_PATHS; i++) {
        const struct lc_lost_path *one = &lost->list[i];
        json_array_append_new(list,
                              json_pack("{s:s, s:f, s:f, s:f, s:f}", "callpath", one->path->path,
                                        "first_s", one->first_s, "last_s", one->last_s, "lost_s",
                                        one->lost_s, "share", one->share));
    }
    return json_pack("{s:f, s:o}", "lost_s", lost->lost_s, "callpaths", list);
}

static json_t *sweep_json(const struct lc_sweep *sweep) {
    json_t *names = json_array(), *splits = json_array();
    for (size_t i = 0; i < sweep->n_parts; i++)
        json_array_append_new(names, json_string(sweep->first->indicators.list[i].own.name));
    for (size_t s = 0; s < sweep->n; s++) {
        const struct lc_split *split = &sweep->splits[s];
        json_t *sizes = json_array();
        for (size_t i = 0; i < sweep->n_parts; i++)
            json_array_append_new(sizes, json_integer((json_int_t)split->sizes[i]));
        json_array_append_new(splits,
                              json_pack("{s:o, s:o, s:o, s:I, s:b}", "ranks", sizes, "predicted_s",
                                        real_or_null(split->predicted_s), "measured_s",
                                        real_or_null(split->measured_s), "runs",
                                        (json_int_t)split->n_measured, "best", s == sweep->best));
    }
    return json_pack("{s:o, s:I, s:o}", "partitions", names, "ranks", (json_int_t)sweep->n_ranks,
                     "splits", splits);
}

static enum lc_err write_json(const struct lc_scaling *scaling, bool weak, FILE *out) {
    json_t *runs = json_array(), *sweeps = json_array();
    for (size_t i = 0; i < scaling->n_runs; i++) {
        const struct lc_scaled_run *run = &scaling->runs[i];
        json_array_append_new(
            runs,
            json_pack("{s:s, s:I, s:I, s:f, s:o, s:O?, s:o, s:o, s:o, s:o, s:o, s:o}", "file",
                      run->file, "ranks", (json_int_t)run->ranks, "threads",
                      (json_int_t)run->executors, "wall_time_s", get(run->meta, "wall_time_s", 0.0),
                      "useful_s", real_or_null(run->useful_s), "pop", run->pop,
                      "computational_scalability", real_or_null(run->computational_scalability),
                      "ipc_scalability", real_or_null(run->ipc_scalability),
                      "instruction_scalability", real_or_null(run->instruction_scalability),
                      "frequency_scalability", real_or_null(run->frequency_scalability),
                      "global_efficiency", real_or_null(run->global_efficiency), "indicators",
                      lc_run_indicators_json(&run->indicators)));
    }
    for (size_t i = 0; i < scaling->n_sweeps; i++)
        json_array_append_new(sweeps, sweep_json(&scaling->sweeps[i]));
    json_t *all =
        json_pack("{s:s, s:i, s:b, s:o, s:o, s:o}", "format", "latecomer-scaling", "version", 1,
                  "weak", weak, "runs", runs, "lost", lost_json(&scaling->lost), "sweeps", sweeps);
    if (all == NULL)
        return lc_fail(LC_ERR_NOMEM, "memory: cannot build the JSON of the runs");
    json_dumpf(all, out, JSON_REAL_PRECISION(17) | JSON_INDENT(1));
    fputc('\n', out);
    json_decref(all);
    return LC_OK;
}

enum lc_err lc_scaling_write(struct lc_scaling *scaling, bool weak, bool json, FILE *out) {
    if (scaling->n_runs == 0)
        return lc_fail(LC_ERR_NOT_FOUND, "scaling: no results given");
    LC_TRY(compute(scaling, weak));
    return json ? write_json(scaling, weak, out) : lc_scaling_write_text(scaling, weak, out);
}
