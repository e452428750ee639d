#include "report/json.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/mem.h"

static void put_string(FILE *out, const char *text) {
    struct lc_strbuf quoted = {0};
    lc_json_put(&quoted, text);
    fputs(lc_strbuf_ok(&quoted) ? lc_strbuf_get(&quoted) : "null", out);
    lc_strbuf_free(&quoted);
}

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

static enum lc_err load_attribute(const struct lc_view *view, const char *key, json_t **value) {
    const char *text = lc_model_attr(view->model, key);
    *value = NULL;
    if (text == NULL)
        return LC_OK;
    json_error_t error;
    *value = json_loads(text, 0, &error);
    if (!json_is_object(*value)) {
        json_decref(*value);
        *value = NULL;
        return lc_fail(LC_ERR_FORMAT, "%s: attribute %s is no JSON object: %s", view->file, key,
                       error.text);
    }
    return LC_OK;
}

/* Sets a key unless the result says it itself. */
static void set_default(json_t *object, const char *key, json_t *value) {
    if (json_object_get(object, key) == NULL)
        json_object_set_new(object, key, value);
    else
        json_decref(value);
}

/* The longest life of a location: the time of its roots. */
static double longest_life(const struct lc_view *view) {
    uint32_t metric = lc_model_find_metric(view->model, "time");
    size_t n = view->model->n_locations;
    double *sums, longest = 0.0;
    if (metric == LC_NONE || lc_alloc(&sums, n, sizeof sums[0]) != LC_OK)
        return 0.0;
    for (uint32_t c = 0; c < view->model->n_cnodes; c++)
        if (view->model->cnodes[c].parent == LC_NONE &&
            lc_cubex_row(view->cube, metric, c, view->scratch) == LC_OK)
            for (size_t l = 0; l < n; l++)
                sums[l] += view->scratch[l];
    for (size_t l = 0; l < n; l++)
        longest = fmax(longest, sums[l]);
    free(sums);
    return longest;
}

enum lc_err lc_json_meta(const struct lc_view *view, json_t **meta) {
    const struct lc_model *model = view->model;
    LC_TRY(load_attribute(view, "latecomer.meta", meta));
    if (*meta == NULL)
        *meta = json_object();
    const char *root = model->n_cnodes > 0 ? model->regions[model->cnodes[0].region].name : "";
    set_default(*meta, "program", json_string(root));
    json_t *threads = json_array();
    int64_t ranks = 0;
    for (size_t l = 0; l < model->n_locations; l++) {
        if (l == 0 || model->locations[l].process != model->locations[l - 1].process) {
            json_array_append_new(threads, json_integer(0));
            ranks++;
        }
        json_t *last = json_array_get(threads, (size_t)ranks - 1);
        json_integer_set(last, json_integer_value(last) + 1);
    }
    set_default(*meta, "ranks", json_integer(ranks));
    set_default(*meta, "threads", threads);
    set_default(*meta, "wall_time_s", json_real(longest_life(view)));
    const char *creator = lc_model_attr(model, "Creator");
    if (creator != NULL)
        set_default(*meta, "creator", json_string(creator));
    if (lc_cubex_derived(view->cube) > 0)
        set_default(*meta, "derived_metrics_skipped",
                    json_integer((json_int_t)lc_cubex_derived(view->cube)));
    return LC_OK;
}

enum lc_err lc_json_pop(const struct lc_view *view, json_t **pop) {
    return load_attribute(view, "latecomer.pop", pop);
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
        put_string(out, lc_view_node(view, l));
        fputs(", \"name\": ", out);
        put_string(out, view->model->locations[l].name);
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

static double join_row(const struct lc_metric *metric, const double *values, size_t count) {
    double sum = 0.0;
    for (size_t l = 0; l < count; l++)
        sum = lc_view_join(metric, sum, values[l]);
    return sum;
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
        put_string(out, path);
        fputs(": ", out);
        free(path);
        if (by == LC_JSON_BOTH)
            put_row(out, view, row);
        else
            put_number(out, join_row(metric, row, view->model->n_locations));
        separator = ",\n";
    }
    putc('}', out);
    return LC_OK;
}

static enum lc_err put_by_location(struct lc_view *view, uint32_t id, double *row, FILE *out) {
    const struct lc_metric *metric = &view->model->metrics[id];
    size_t n = view->model->n_locations;
    double *sums;
    enum lc_err err = lc_alloc(&sums, n, sizeof sums[0]);
    for (uint32_t p = 0; err == LC_OK && p < view->n_paths; p++) {
        if (metric->kind == LC_METRIC_INCLUSIVE && view->paths[p].parent != LC_NONE)
            continue;
        err = lc_view_row(view, id, p, row);
        for (size_t l = 0; err == LC_OK && l < n; l++)
            sums[l] = lc_view_join(metric, sums[l], row[l]);
    }
    if (err == LC_OK) {
        fputs("\"locations\": ", out);
        put_row(out, view, sums);
    }
    free(sums);
    return err;
}

static enum lc_err put_metric(struct lc_view *view, uint32_t id, enum lc_json_by by, double *row,
                              FILE *out) {
    const struct lc_metric *metric = &view->model->metrics[id];
    double total;
    LC_TRY(lc_view_total(view, id, &total));
    fputs("  ", out);
    put_string(out, metric->name);
    fputs(": {\"unit\": ", out);
    put_string(out, metric->unit);
    fprintf(out, ", \"kind\": \"%s\", \"total\": ",
            metric->kind == LC_METRIC_INCLUSIVE ? "inclusive" : "exclusive");
    put_number(out, total);
    fputs(", ", out);
    if (by == LC_JSON_BY_LOCATION)
        LC_TRY(put_by_location(view, id, row, out));
    else
        LC_TRY(put_callpaths(view, id, by, row, out));
    putc('}', out);
    return LC_OK;
}

static enum lc_err put_metrics(struct lc_view *view, const struct lc_json_options *options,
                               FILE *out) {
    const struct lc_model *model = view->model;
    double *row;
    LC_TRY(lc_alloc(&row, model->n_locations, sizeof row[0]));
    enum lc_err err = LC_OK;
    const char *separator = "\n";
    fputs(" \"metrics\": {", out);
    for (uint32_t m = 0; err == LC_OK && m < model->n_metrics; m++) {
        if (model->metrics[m].kind == LC_METRIC_DERIVED ||
            (options->metrics != NULL && !options->metrics[m]))
            continue;
        fputs(separator, out);
        err = put_metric(view, m, options->by, row, out);
        separator = ",\n";
    }
    fputs("}}\n", out);
    free(row);
    return err;
}

enum lc_err lc_json_write(struct lc_view *view, const struct lc_json_options *options, FILE *out) {
    json_t *meta = NULL, *pop = NULL;
    enum lc_err err = lc_json_meta(view, &meta);
    if (err == LC_OK)
        err = lc_json_pop(view, &pop);
    if (err == LC_OK) {
        fputs("{\"format\": \"latecomer-result\", \"version\": 1,\n", out);
        put_object(out, "meta", meta);
        if (pop != NULL)
            put_object(out, "pop", pop);
        put_locations(out, view);
        err = put_metrics(view, options, out);
    }
    json_decref(meta);
    json_decref(pop);
    return err;
}
