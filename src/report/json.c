#include "report/json.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/mem.h"
#include "report/operation_alone.h"
#include "report/delay_costs.h"
#include "report/findings.h"
#include "report/late.h"
#include "report/path_impact.h"
#include "report/path_scopes.h"
#include "report/task_constructs.h"
#include "report/trace_advice.h"
#include "report/run_info.h"
#include "report/tsv.h"

/* 17 digits give every double back; JSON knows no infinity. */
static void put_number(FILE *out, double value) {
    if (isfinite(value))
        fprintf(out, "%.17g", value);
    else
        fputs("null", out);
}

/* null: of a rank of which nothing is known. */
static void put_row(FILE *out, const struct lc_view *view, const double *values) {
    putc('[', out);
    for (size_t l = 0; l < view->model->n_locations; l++) {
        if (l > 0)
            fputs(", ", out);
        if (view->unknown[l])
            fputs("null", out);
        else
            put_number(out, values[l]);
    }
    putc(']', out);
}

static void put_object(FILE *out, const char *key, json_t *object) {
    fprintf(out, " \"%s\": ", key);
    json_dumpf(object, out, JSON_REAL_PRECISION(17));
    fputs(",\n", out);
}

static void put_locations(FILE *out, const struct lc_view *view) {
    fputs(" \"locations\": [", out);
    for (uint32_t l = 0; l < view->model->n_locations; l++) {
        fprintf(out, "%s{\"rank\": %d, \"thread\": %d, \"node\": ", l > 0 ? ", " : "",
                lc_view_rank(view, l), view->model->locations[l].thread);
        lc_json_write_string(out, lc_view_node(view, l));
        fputs(", \"name\": ", out);
        lc_json_write_string(out, view->model->locations[l].name);
        fputs(view->unknown[l] ? ", \"unknown\": true}" : "}", out);
    }
    fputs("],\n", out);
}

static bool all_zero(const double *values, size_t count) {
    for (size_t l = 0; l < count; l++)
        if (values[l] != 0.0)
            return false;
    return true;
}

static enum lc_err put_callpaths(struct lc_view *view, uint32_t id, enum lc_json_by by, double *row,
                                 FILE *out) {
    const struct lc_metric *metric = &view->model->metrics[id];
    const char *separator = "\n";
    fputs("\"callpaths\": {", out);
    for (uint32_t p = 0; p < view->n_paths; p++) {
        LC_TRY(lc_view_row(view, id, p, row));
        if (all_zero(row, view->model->n_locations))
            continue;
        char *path = lc_view_path(view, p);
        if (path == NULL)
            return LC_ERR_NOMEM;
        fprintf(out, "%s    ", separator);
        lc_json_write_string(out, path);
        fputs(": ", out);
        free(path);
        if (by == LC_JSON_BOTH)
            put_row(out, view, row);
        else
            put_number(out, lc_view_join_all(metric, 0.0, row, view->model->n_locations));
        separator = ",\n";
    }
    putc('}', out);
    return LC_OK;
}

/* sums: of locations, for LC_JSON_BY_LOCATION. */
static enum lc_err put_metric(struct lc_view *view, uint32_t id, bool waiting, enum lc_json_by by,
                              double *row, double *sums, FILE *out) {
    const struct lc_metric *metric = &view->model->metrics[id];
    const size_t n = view->model->n_locations;
    double total;
    if (by == LC_JSON_BY_LOCATION) {
        LC_TRY(lc_view_location_sums(view, id, sums));
        total = lc_view_join_all(metric, 0.0, sums, n);
    } else {
        LC_TRY(lc_view_total(view, id, &total));
    }
    fputs("  ", out);
    lc_json_write_string(out, metric->name);
    fputs(": {\"unit\": ", out);
    lc_json_write_string(out, metric->unit);
    fprintf(out, ", \"kind\": \"%s\", \"total\": ",
            metric->kind == LC_METRIC_INCLUSIVE ? "inclusive" : "exclusive");
    put_number(out, total);
    fputs(", \"parent\": ", out);
    if (metric->parent == LC_NONE)
        fputs("null", out);
    else
        lc_json_write_string(out, view->model->metrics[metric->parent].name);
    fputs(waiting ? ", \"waiting\": true, " : ", ", out);
    if (by == LC_JSON_BY_LOCATION) {
        fputs("\"locations\": ", out);
        put_row(out, view, sums);
    } else {
        LC_TRY(put_callpaths(view, id, by, row, out));
    }
    putc('}', out);
    return LC_OK;
}

static enum lc_err put_metrics(struct lc_view *view, const struct lc_json_options *options,
                               FILE *out) {
    const struct lc_model *model = view->model;
    double *row, *sums = NULL;
    bool *waiting = NULL;
    LC_TRY(lc_alloc(&row, model->n_locations, sizeof row[0]));
    enum lc_err err = lc_alloc(&sums, model->n_locations, sizeof sums[0]);
    if (err == LC_OK)
        err = lc_alloc(&waiting, model->n_metrics, sizeof waiting[0]);
    if (err == LC_OK)
        err = lc_sums_waiting(view, waiting);
    const char *separator = "\n";
    fputs(" \"metrics\": {", out);
    for (uint32_t m = 0; err == LC_OK && m < model->n_metrics; m++) {
        if (model->metrics[m].kind == LC_METRIC_DERIVED ||
            (options->metrics != NULL && !options->metrics[m]))
            continue;
        fputs(separator, out);
        err = put_metric(view, m, waiting[m], options->by, row, sums, out);
        separator = ",\n";
    }
    fputs("}}\n", out);
    free(waiting);
    free(sums);
    free(row);
    return err;
}

/* As people read them, with words for what the C library did; all else is as the view is. */
static enum lc_err put_findings(struct lc_view *view, FILE *out) {
    struct lc_sums *sums = NULL;
    struct lc_findings *findings = NULL;
    bool was_folded = view->fold_names != NULL;
    enum lc_err err = lc_view_fold(view, true);
    if (err == LC_OK)
        err = lc_sums_new(&sums, view);
    if (err == LC_OK)
        err = lc_findings_of(&findings, view, sums);
    if (err == LC_OK) {
        json_t *list = lc_findings_json(findings, view);
        fputs(" \"findings\": ", out);
        json_dumpf(list, out, JSON_REAL_PRECISION(17));
        fputs(",\n", out);
        json_decref(list);
        if (findings->from_trace)
            fprintf(out, " \"delay_model\": \"%s\",\n", lc_delay_model_name(view));
    }
    lc_findings_free(findings);
    lc_sums_free(sums);
    return err == LC_OK ? lc_view_fold(view, was_folded) : err;
}

/* A table of the result; without rows where there is none. */
static enum lc_err read_table(const struct lc_view *view, const char *member, struct lc_tsv *tsv) {
    const char *data;
    size_t bytes;
    *tsv = (struct lc_tsv){0};
    if (lc_cubex_misc(view->cube, member, &data, &bytes) != LC_OK)
        return LC_OK;
    return lc_tsv_parse(tsv, data, bytes);
}

static bool is_sampled(const struct lc_tsv *samples, const char *path) {
    int column = lc_tsv_column(samples, "callpath");
    for (size_t r = 0; column >= 0 && r < samples->n_rows; r++)
        if (strcmp(lc_tsv_cell(samples, r, column), path) == 0)
            return true;
    return false;
}

/* The end of a row of costs; seconds is the sum of both parts. */
static void put_costs(double direct, double indirect, double share, FILE *out) {
    const struct {
        const char *key;
        double value;
    } figures[] = {{"seconds", direct + indirect},
                   {"direct_s", direct},
                   {"indirect_s", indirect},
                   {"share", share}};
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        fprintf(out, ", \"%s\": ", figures[i].key);
        put_number(out, figures[i].value);
    }
}

/* What no row has: waiting of which nobody knows where it began, and what had no room. */
static void put_unknown(const json_t *meta, const struct lc_late_list *late, FILE *out) {
    const json_t *costs = json_object_get(meta, "waiting_costs");
    double direct = json_number_value(json_object_get(costs, "unknown_direct_s"));
    double indirect = json_number_value(json_object_get(costs, "unknown_indirect_s"));
    double waits = json_number_value(json_object_get(costs, "waits_s"));
    if (late->costs.n_rows == 0 || direct + indirect <= 0 || waits <= 0)
        return;
    fprintf(out,
            "%s\n  {\"rank\": null, \"thread\": null, \"callpath\": \"unknown\", "
            "\"waiting_callpath\": \"\"",
            late->n > 0 ? "," : "");
    put_costs(direct, indirect, (direct + indirect) / waits, out);
    putc('}', out);
}

/* Who was late, and where. */
static enum lc_err put_late(struct lc_view *view, const json_t *meta, const struct lc_tsv *samples,
                            FILE *out) {
    struct lc_late_list late;
    LC_TRY(lc_late_read(&late, view));
    fputs(" \"late\": [", out);
    for (size_t i = 0; i < late.n; i++) {
        const struct lc_late *l = &late.list[i];
        fprintf(out, "%s\n  {\"rank\": %ld, \"thread\": ", i > 0 ? "," : "",
                strtol(l->rank, NULL, 10));
        if (l->thread[0] != '\0')
            fprintf(out, "%ld", strtol(l->thread, NULL, 10));
        else
            fputs("null", out);
        fputs(", \"callpath\": ", out);
        lc_json_write_string(out, l->path);
        fputs(", \"waiting_callpath\": ", out);
        lc_json_write_string(out, l->victim);
        put_costs(l->seconds - l->indirect, l->indirect, l->share / 100.0, out);
        if (is_sampled(samples, l->path))
            fputs(", \"sampled\": true", out);
        if (l->error > 0) {
            fputs(", \"error_s\": ", out);
            put_number(out, l->error);
        }
        putc('}', out);
    }
    put_unknown(meta, &late, out);
    fputs("],\n", out);
    lc_late_free(&late);
    return LC_OK;
}

/* The tasks of each construct. */
static enum lc_err put_tasks(struct lc_view *view, FILE *out) {
    static const char *const keys[LC_TASK_FIGURES] = {
        [LC_TASK_WORK] = "work_s",     [LC_TASK_SPAN] = "span_s",   [LC_TASK_READY] = "ready_s",
        [LC_TASK_CREATED] = "created", [LC_TASK_STOLEN] = "stolen", [LC_TASK_AT_ONCE] = "at_once"};
    struct lc_task_construct *list = NULL;
    size_t n = 0;
    LC_TRY(lc_task_constructs(view, &list, &n));
    fputs(" \"task_constructs\": [", out);
    for (size_t i = 0; i < n; i++) {
        char *path = lc_view_path(view, list[i].path);
        fprintf(out, "%s\n  {\"callpath\": ", i > 0 ? "," : "");
        lc_json_write_string(out, path);
        free(path);
        for (size_t f = 0; f < LC_TASK_FIGURES; f++) {
            fprintf(out, ", \"%s\": ", keys[f]);
            put_number(out, list[i].figures[f]);
        }
        fputs(", \"parallelism\": ", out);
        put_number(out, lc_task_parallelism(&list[i]));
        putc('}', out);
    }
    fputs("],\n", out);
    free(list);
    return LC_OK;
}

/* Windows of the run that may be worth a trace, of profiles. */
static enum lc_err put_windows(struct lc_view *view, const json_t *pop, FILE *out) {
    struct lc_sums *sums;
    struct lc_trace_window *list = NULL;
    size_t n = 0;
    LC_TRY(lc_sums_new(&sums, view));
    enum lc_err err = lc_trace_windows(view, sums, pop, &list, &n);
    for (size_t i = 0; i < n; i++) {
        const struct {
            const char *key;
            double value;
        } figures[] = {{"waiting_s", list[i].waiting_s},
                       {"waiting_share", list[i].waiting_share},
                       {"time_share", list[i].time_share},
                       {"estimated_s", list[i].estimated_s},
                       {"loop_share", list[i].callpath != NULL ? list[i].loop_share : NAN}};
        const char *worth = lc_window_worth_id(list[i].worth);
        fputs(i == 0 ? " \"trace_windows\": [\n  {\"window\": " : ",\n  {\"window\": ", out);
        lc_json_write_string(out, list[i].window);
        fputs(", \"callpath\": ", out);
        if (list[i].callpath != NULL)
            lc_json_write_string(out, list[i].callpath);
        else
            fputs("null", out);
        fprintf(out, ", \"certainty\": \"%s\"", sums->estimated ? "estimated" : "measured");
        fputs(", \"advised_for\": ", out);
        if (worth != NULL)
            lc_json_write_string(out, worth);
        else
            fputs("null", out);
        for (size_t f = 0; f < sizeof figures / sizeof figures[0]; f++) {
            fprintf(out, ", \"%s\": ", figures[f].key);
            put_number(out, figures[f].value);
        }
        fputs(i + 1 == n ? "}],\n" : "}", out);
    }
    lc_trace_windows_free(list, n);
    lc_sums_free(sums);
    return err;
}

/* What each call path means for the run time, of analyses. */
static enum lc_err put_impacts(struct lc_view *view, FILE *out) {
    struct lc_path_impact *list = NULL;
    size_t n = 0;
    LC_TRY(lc_path_impacts(view, &list, &n));
    for (size_t i = 0; i < n; i++) {
        const struct lc_path_impact *is = &list[i];
        const struct {
            const char *key;
            double value;
        } figures[] = {
            {"impact_s", is->impact_s},
            {"share", is->share},
            {"own_s", is->own_s},
            {"intra_s", is->intra_s},
            {"inter_s", is->inter_s},
            {"ratio", is->ratio},
            {"min_s", is->least_s},
            {"mean_s", is->mean_s},
            {"max_s", is->most_s},
            {"max_minus_mean_s", lc_impact_difference(is->most_s, is->mean_s)},
            {"path_s", is->path_s},
            {"path_minus_mean_s", lc_impact_difference(is->path_s, is->mean_s)},
        };
        char *path = lc_view_path(view, is->path);
        fputs(i == 0 ? " \"impact\": [\n  {\"callpath\": " : ",\n  {\"callpath\": ", out);
        lc_json_write_string(out, path);
        free(path);
        for (size_t f = 0; f < sizeof figures / sizeof figures[0]; f++) {
            fprintf(out, ", \"%s\": ", figures[f].key);
            put_number(out, figures[f].value);
        }
        fputs(i + 1 == n ? "}],\n" : "}", out);
    }
    free(list);
    return LC_OK;
}

/* What `latecomer bench --of` measured, where it has. */
static void put_beside(const struct lc_view *view, FILE *out) {
    json_t *beside = lc_beside_read(view);
    if (beside != NULL)
        put_object(out, "beside", beside);
    json_decref(beside);
}

/* A value of the table of samples and its standard error, where the table has it. */
static void put_divided(const struct lc_tsv *tsv, size_t row, const char *column, FILE *out) {
    char error[64];
    snprintf(error, sizeof error, "%s_error", column);
    int value = lc_tsv_column(tsv, column), deviation = lc_tsv_column(tsv, error);
    if (value < 0 || deviation < 0 || !(lc_tsv_number(tsv, row, value) > 0))
        return;
    fprintf(out, ", \"%s_s\": ", column);
    put_number(out, lc_tsv_number(tsv, row, value));
    fprintf(out, ", \"%s_s\": ", error);
    put_number(out, lc_tsv_number(tsv, row, deviation));
}

/* Call paths that samples found: seconds of the exact call paths around them, with children, and
 * the standard error of that. */
static void put_sampled(const struct lc_tsv *tsv, FILE *out) {
    const char *separator = "\n";
    int path = lc_tsv_column(tsv, "callpath"), samples = lc_tsv_column(tsv, "samples"),
        seconds = lc_tsv_column(tsv, "seconds"), error = lc_tsv_column(tsv, "error"),
        source = lc_tsv_column(tsv, "source"); /* -1: older results */
    if (path < 0)
        return;
    fputs(" \"sampled\": {", out);
    for (size_t r = 0; r < tsv->n_rows; r++) {
        fprintf(out, "%s  ", separator);
        lc_json_write_string(out, lc_tsv_cell(tsv, r, path));
        fprintf(out, ": {\"sampled\": true, \"samples\": %.0f, \"seconds\": ",
                lc_tsv_number(tsv, r, samples));
        put_number(out, lc_tsv_number(tsv, r, seconds));
        fputs(", \"error_s\": ", out);
        put_number(out, lc_tsv_number(tsv, r, error));
        put_divided(tsv, r, "critical_path", out);
        put_divided(tsv, r, "imbalance", out); /* of profiles */
        put_divided(tsv, r, "cost", out);      /* of analyses */
        if (source >= 0 && *lc_tsv_cell(tsv, r, source) != '\0') {
            fputs(", \"source\": ", out);
            lc_json_write_string(out, lc_tsv_cell(tsv, r, source));
        }
        putc('}', out);
        separator = ",\n";
    }
    fputs("},\n", out);
}

static void put_cell(const struct lc_tsv *tsv, size_t row, const char *column, const char *key,
                     FILE *out) {
    fprintf(out, ", \"%s\": ", key);
    lc_json_write_string(out, lc_tsv_cell(tsv, row, lc_tsv_column(tsv, column)));
}

/* Source lines that samples fell on, by call path. */
static void put_lines(const struct lc_tsv *tsv, FILE *out) {
    int path = lc_tsv_column(tsv, "callpath");
    const char *last = NULL;
    if (path < 0)
        return;
    fputs(" \"source_lines\": {", out);
    for (size_t r = 0; r < tsv->n_rows; r++) {
        const char *its = lc_tsv_cell(tsv, r, path);
        if (last == NULL || strcmp(last, its) != 0) {
            fputs(last == NULL ? "\n  " : "],\n  ", out);
            lc_json_write_string(out, its);
            fputs(": [", out);
        } else {
            fputs(",", out);
        }
        last = its;
        fputs("\n    {\"line\": ", out);
        lc_json_write_string(out, lc_tsv_cell(tsv, r, lc_tsv_column(tsv, "line")));
        put_cell(tsv, r, "inlined", "inlined", out);
        put_cell(tsv, r, "called_at", "called_at", out);
        fprintf(out, ", \"samples\": %.0f", lc_tsv_number(tsv, r, lc_tsv_column(tsv, "samples")));
        fputs(", \"seconds\": ", out);
        put_number(out, lc_tsv_number(tsv, r, lc_tsv_column(tsv, "seconds")));
        fputs(", \"error_s\": ", out);
        put_number(out, lc_tsv_number(tsv, r, lc_tsv_column(tsv, "error")));
        putc('}', out);
    }
    fputs(last != NULL ? "]},\n" : "},\n", out);
}

enum lc_err lc_json_write(struct lc_view *view, const struct lc_json_options *options, FILE *out) {
    json_t *meta = NULL, *pop = NULL;
    struct lc_tsv samples = {0}, lines = {0};
    enum lc_err err = lc_json_meta(view, &meta);
    if (err == LC_OK)
        err = read_table(view, "samples.tsv", &samples);
    if (err == LC_OK)
        err = read_table(view, "lines.tsv", &lines);
    if (err == LC_OK)
        err = lc_json_pop(view, &pop);
    if (err == LC_OK)
        err = lc_path_scopes_name(view, pop);
    if (err == LC_OK) {
        fputs("{\"format\": \"latecomer-result\", \"version\": 1,\n", out);
        put_object(out, "meta", meta);
        if (pop != NULL)
            put_object(out, "pop", pop);
        err = put_findings(view, out);
    }
    if (err == LC_OK)
        err = put_late(view, meta, &samples, out);
    if (err == LC_OK)
        err = put_tasks(view, out);
    if (err == LC_OK)
        err = put_windows(view, pop, out);
    if (err == LC_OK)
        err = put_impacts(view, out);
    if (err == LC_OK) {
        put_beside(view, out);
        put_sampled(&samples, out);
        put_lines(&lines, out);
        put_locations(out, view);
        err = put_metrics(view, options, out);
    }
    json_decref(meta);
    json_decref(pop);
    lc_tsv_free(&samples);
    lc_tsv_free(&lines);
    return err;
}
