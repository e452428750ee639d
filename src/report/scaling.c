#include "report/scaling.h"

#include <jansson.h>
#include <libsmartcols.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/run_info.h"

struct run {
    char *file;
    json_t *pop, *meta;
    double ranks, executors; /* executors: threads of all ranks */
    double useful_s;         /* sum over all of them */
    double computational_scalability, global_efficiency;
};

struct lc_scaling {
    struct run *runs;
    size_t n_runs, cap_runs;
};

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
    }
    free(scaling->runs);
    free(scaling);
}

static double get(const json_t *object, const char *key, double otherwise) {
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : otherwise;
}

/* PE = avg U / T, so sum U = PE * N * T; where T is not told: TE = CP / T. */
static double useful_of(const struct run *run) {
    double elapsed = get(run->pop, "elapsed_s", 0.0);
    if (elapsed > 0.0)
        return get(run->pop, "parallel_efficiency", 1.0) * run->executors * elapsed;
    double transfer = get(run->pop, "transfer_efficiency", 1.0);
    return transfer > 0.0 ? get(run->pop, "parallel_efficiency", 1.0) * run->executors *
                                get(run->pop, "critical_path_s", 0.0) / transfer
                          : 0.0;
}

static enum lc_err fill_run(struct run *run, struct lc_view *view) {
    LC_TRY(lc_strdup(&run->file, view->file));
    LC_TRY(lc_json_meta(view, &run->meta));
    LC_TRY(lc_json_pop(view, &run->pop));
    if (run->pop == NULL && json_is_false(json_object_get(run->meta, "complete")))
        return lc_fail(LC_ERR_NOT_FOUND,
                       "%s: has no POP factors: the program did not reach MPI_Finalize: give runs "
                       "that did",
                       view->file);
    if (run->pop == NULL)
        return lc_fail(LC_ERR_NOT_FOUND,
                       "%s: has no POP factors: give profiles of `latecomer run` with clocks on",
                       view->file);
    run->ranks = (double)view->model->n_processes;
    run->executors = (double)(view->model->n_locations - view->n_unknown);
    run->useful_s = useful_of(run);
    return LC_OK;
}

enum lc_err lc_scaling_add(struct lc_scaling *scaling, const char *file) {
    struct lc_view *view;
    LC_TRY(
        lc_grow(&scaling->runs, &scaling->cap_runs, scaling->n_runs + 1, sizeof scaling->runs[0]));
    LC_TRY(lc_view_open(&view, file));
    struct run *run = &scaling->runs[scaling->n_runs++];
    enum lc_err err = fill_run(run, view);
    lc_view_close(view);
    return err;
}

static int compare_runs(const void *a, const void *b) {
    const struct run *x = a, *y = b;
    if (x->executors != y->executors)
        return x->executors < y->executors ? -1 : 1;
    return strcmp(x->file, y->file);
}

static void compute(struct lc_scaling *scaling, bool weak) {
    if (scaling->n_runs == 0)
        return;
    qsort(scaling->runs, scaling->n_runs, sizeof scaling->runs[0], compare_runs);
    const struct run *smallest = &scaling->runs[0];
    for (size_t i = 0; i < scaling->n_runs; i++) {
        struct run *run = &scaling->runs[i];
        double scalability = run->useful_s > 0.0 ? smallest->useful_s / run->useful_s : 1.0;
        if (weak)
            scalability *= run->executors / smallest->executors;
        run->computational_scalability = scalability;
        run->global_efficiency = scalability * get(run->pop, "parallel_efficiency", 1.0);
    }
}

/* The tree of factors: name, where its value is ("" = the factor itself, "mpi", "omp"), depth. */
static const struct row {
    const char *title, *key, *part;
    int depth;
} rows[] = {
    {"Parallel efficiency", "parallel_efficiency", "", 1},
    {"Load balance", "load_balance", "", 2},
    {"MPI", "load_balance", "mpi", 3},
    {"OpenMP", "load_balance", "omp", 3},
    {"Communication efficiency", "communication_efficiency", "", 2},
    {"Serialisation efficiency", "serialisation_efficiency", "", 3},
    {"MPI", "serialisation_efficiency", "mpi", 4},
    {"OpenMP", "serialisation_efficiency", "omp", 4},
    {"Transfer efficiency", "transfer_efficiency", "", 3},
    {"MPI", "transfer_efficiency", "mpi", 4},
    {"OpenMP", "transfer_efficiency", "omp", 4},
};
enum { N_ROWS = sizeof rows / sizeof rows[0] };

static double value_of(const struct run *run, const struct row *row) {
    const json_t *object = row->part[0] == '\0' ? run->pop : json_object_get(run->pop, row->part);
    return get(object, row->key, 1.0);
}

static bool any_threads(const struct lc_scaling *scaling) {
    for (size_t i = 0; i < scaling->n_runs; i++)
        if (scaling->runs[i].executors > scaling->runs[i].ranks)
            return true;
    return false;
}

static struct libscols_line *add_line(struct libscols_table *table, int depth, const char *title) {
    struct libscols_line *line = scols_table_new_line(table, NULL);
    char name[64];
    snprintf(name, sizeof name, "%*s%s", 2 * depth, "", title);
    if (line != NULL)
        scols_line_set_data(line, 0, name);
    return line;
}

static void set_percent(struct libscols_line *line, size_t column, double value) {
    char cell[32];
    snprintf(cell, sizeof cell, "%.1f", 100.0 * value);
    if (line != NULL)
        scols_line_set_data(line, column, cell);
}

static double interval_of(const struct run *run) {
    return get(run->pop, "elapsed_s", 0.0);
}

static double wall_of(const struct run *run) {
    return get(run->meta, "wall_time_s", 0.0);
}

static void add_seconds(struct libscols_table *table, const struct lc_scaling *scaling,
                        const char *title, double (*value)(const struct run *)) {
    struct libscols_line *line = add_line(table, 0, title);
    for (size_t i = 0; line != NULL && i < scaling->n_runs; i++) {
        char cell[32];
        snprintf(cell, sizeof cell, "%.4g", value(&scaling->runs[i]));
        scols_line_set_data(line, i + 1, cell);
    }
}

static void fill_table(struct libscols_table *table, const struct lc_scaling *scaling) {
    bool threads = any_threads(scaling);
    struct libscols_line *global = add_line(table, 0, "Global efficiency");
    for (size_t i = 0; i < scaling->n_runs; i++)
        set_percent(global, i + 1, scaling->runs[i].global_efficiency);
    for (size_t r = 0; r < N_ROWS; r++) {
        if (rows[r].part[0] != '\0' && !threads)
            continue; /* without threads all OpenMP factors are 1, the MPI ones are the factors */
        struct libscols_line *line = add_line(table, rows[r].depth, rows[r].title);
        for (size_t i = 0; i < scaling->n_runs; i++)
            set_percent(line, i + 1, value_of(&scaling->runs[i], &rows[r]));
    }
    struct libscols_line *line = add_line(table, 1, "Computational scalability");
    for (size_t i = 0; i < scaling->n_runs; i++)
        set_percent(line, i + 1, scaling->runs[i].computational_scalability);
    add_seconds(table, scaling, "Measured interval, s", interval_of);
    add_seconds(table, scaling, "Wall time, s", wall_of);
}

/* Runs of several programs cannot be compared. */
static void warn_programs(const struct lc_scaling *scaling, FILE *out) {
    const json_t *meta = scaling->n_runs > 0 ? scaling->runs[0].meta : NULL;
    const char *first = json_string_value(json_object_get(meta, "program"));
    for (size_t i = 1; i < scaling->n_runs; i++) {
        const char *other = json_string_value(json_object_get(scaling->runs[i].meta, "program"));
        if (first != NULL && other != NULL && strcmp(first, other) != 0) {
            fprintf(out,
                    "! these are runs of different programs (%s, %s): they cannot be compared\n",
                    first, other);
            return;
        }
    }
}

static enum lc_err write_text(const struct lc_scaling *scaling, bool weak, FILE *out) {
    char *printed = NULL, title[64];
    setlocale(LC_CTYPE, "");
    struct libscols_table *table = scols_new_table();
    if (table == NULL)
        return lc_fail(LC_ERR_NOMEM, "memory: cannot build a table");
    scols_table_new_column(table, "EFFICIENCY, %", 0, 0);
    for (size_t i = 0; i < scaling->n_runs; i++) {
        const struct run *run = &scaling->runs[i];
        if (run->executors > run->ranks)
            snprintf(title, sizeof title, "%.0fx%.3g", run->ranks, run->executors / run->ranks);
        else
            snprintf(title, sizeof title, "%.0f", run->ranks);
        scols_table_new_column(table, title, 0, SCOLS_FL_RIGHT);
    }
    fill_table(table, scaling);
    int failed = scols_print_table_to_string(table, &printed);
    scols_unref_table(table);
    if (failed != 0)
        return lc_fail(LC_ERR_NOMEM, "memory: cannot print a table");
    fprintf(out,
            "%s\n\nColumns: ranks%s. Computational scalability: useful time of the first run "
            "over that of the run%s.\n",
            printed, any_threads(scaling) ? " x threads" : "",
            weak ? ", times the ratio of their numbers (weak scaling)" : "");
    free(printed);
    warn_programs(scaling, out);
    for (size_t i = 0; i < scaling->n_runs; i++)
        fprintf(out, "  %5.0f  %s\n", scaling->runs[i].ranks, scaling->runs[i].file);
    return LC_OK;
}

static enum lc_err write_json(const struct lc_scaling *scaling, bool weak, FILE *out) {
    json_t *runs = json_array();
    for (size_t i = 0; i < scaling->n_runs; i++) {
        const struct run *run = &scaling->runs[i];
        json_array_append_new(
            runs,
            json_pack("{s:s, s:I, s:I, s:f, s:f, s:O, s:f, s:f}", "file", run->file, "ranks",
                      (json_int_t)run->ranks, "threads", (json_int_t)run->executors, "wall_time_s",
                      get(run->meta, "wall_time_s", 0.0), "useful_s", run->useful_s, "pop",
                      run->pop, "computational_scalability", run->computational_scalability,
                      "global_efficiency", run->global_efficiency));
    }
    json_t *all = json_pack("{s:s, s:i, s:b, s:o}", "format", "latecomer-scaling", "version", 1,
                            "weak", weak, "runs", runs);
    if (all == NULL)
        return lc_fail(LC_ERR_NOMEM, "memory: cannot build the JSON of the runs");
    json_dumpf(all, out, JSON_REAL_PRECISION(17) | JSON_INDENT(1));
    fputc('\n', out);
    json_decref(all);
    return LC_OK;
}

enum lc_err lc_scaling_write(struct lc_scaling *scaling, bool weak, bool json, FILE *out) {
    compute(scaling, weak);
    return json ? write_json(scaling, weak, out) : write_text(scaling, weak, out);
}
