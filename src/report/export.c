#include "report/export.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/mem.h"
#include "base/utf8.h"

enum { MOST_GROUPS = 16, LONGEST_STACK = 4096 };

/* ---- output with a limit */

struct export {
    struct lc_view *view;
    FILE *out;
    uint32_t metric;     /* LC_NONE: time; csv and hatchet: all */
    uint64_t most_bytes; /* 0: no limit */
    uint64_t bytes;      /* written so far */
    double *row;         /* one value per location */
};

static enum lc_err put(struct export *e, const char *text, size_t length) {
    e->bytes += length;
    if (e->most_bytes > 0 && e->bytes > e->most_bytes)
        return lc_fail(LC_ERR_RANGE,
                       "%s: the export is larger than %" PRIu64
                       " bytes: choose one metric with --metric, or raise --max-size",
                       e->view->file, e->most_bytes);
    if (fwrite(text, 1, length, e->out) != length)
        return lc_fail_errno(LC_ERR_IO, "export: cannot be written");
    return LC_OK;
}

static enum lc_err put_text(struct export *e, const char *text) {
    return put(e, text, strlen(text));
}

static enum lc_err print(struct export *e, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static enum lc_err print(struct export *e, const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return length > 0
               ? put(e, text, (size_t)length < sizeof text ? (size_t)length : sizeof text - 1)
               : LC_OK;
}

static enum lc_err put_json(struct export *e, const char *text) {
    struct lc_strbuf quoted = {0};
    lc_json_put(&quoted, text);
    enum lc_err err = lc_strbuf_ok(&quoted) ? put(e, lc_strbuf_get(&quoted), quoted.length)
                                            : lc_fail(LC_ERR_NOMEM, "memory: cannot write a name");
    lc_strbuf_free(&quoted);
    return err;
}

/* A number as JSON knows it. */
static enum lc_err put_number(struct export *e, double value) {
    return isfinite(value) ? print(e, "%.17g", value) : put_text(e, "0");
}

/* ---- what the formats have in common */

/* Paths from the root to this one; LONGEST_STACK at most, the innermost ones. */
static size_t stack_of(const struct lc_view *view, uint32_t path, uint32_t *stack) {
    size_t n = 0;
    for (uint32_t up = path; up != LC_NONE && n < LONGEST_STACK; up = view->paths[up].parent)
        stack[n++] = up;
    for (size_t i = 0; i < n / 2; i++) {
        uint32_t other = stack[i];
        stack[i] = stack[n - 1 - i];
        stack[n - 1 - i] = other;
    }
    return n;
}

static bool is_time(const struct lc_metric *metric) {
    return strcmp(metric->unit, "sec") == 0;
}

/* Values of one path without its children; rounding may leave a little less than nothing. */
static enum lc_err own_row(struct export *e, uint32_t metric, uint32_t path) {
    LC_TRY(lc_view_exclusive_row(e->view, metric, path, e->row));
    bool time = e->view->model->metrics[metric].kind == LC_METRIC_INCLUSIVE;
    for (size_t l = 0; time && l < e->view->model->n_locations; l++)
        e->row[l] = fmax(e->row[l], 0.0);
    return LC_OK;
}

static double join(const struct export *e, uint32_t metric) {
    double sum = 0.0;
    for (size_t l = 0; l < e->view->model->n_locations; l++)
        if (!e->view->unknown[l])
            sum = lc_view_join(&e->view->model->metrics[metric], sum, e->row[l]);
    return sum;
}

/* ---- folded stacks: "main;solve;MPI_Recv 1234", microseconds or counts */

/* No separator, no line break, no control character in a frame. */
static void put_frame(struct lc_strbuf *out, const char *name) {
    struct lc_strbuf printable = {0};
    lc_put_printable(&printable, name);
    for (const char *at = lc_strbuf_get(&printable); *at != '\0'; at++)
        lc_strbuf_putc(out, *at == ';' ? ':' : *at);
    lc_strbuf_free(&printable);
}

static enum lc_err write_folded(struct export *e) {
    const struct lc_metric *metric = &e->view->model->metrics[e->metric];
    uint32_t stack[LONGEST_STACK];
    for (uint32_t p = 0; p < e->view->n_paths; p++) {
        LC_TRY(own_row(e, e->metric, p));
        double value = round(join(e, e->metric) * (is_time(metric) ? 1e6 : 1.0));
        if (value < 1.0)
            continue;
        struct lc_strbuf line = {0};
        size_t n = stack_of(e->view, p, stack);
        for (size_t i = 0; i < n; i++) {
            put_frame(&line, e->view->paths[stack[i]].name);
            lc_strbuf_putc(&line, i + 1 < n ? ';' : ' ');
        }
        lc_strbuf_printf(&line, "%.0f\n", value);
        enum lc_err err = lc_strbuf_ok(&line) ? put(e, lc_strbuf_get(&line), line.length)
                                              : lc_fail(LC_ERR_NOMEM, "memory: a stack");
        lc_strbuf_free(&line);
        LC_TRY(err);
    }
    return LC_OK;
}

/* ---- csv, long form (RFC 4180): one line per value that is not 0 */

static enum lc_err put_cell(struct export *e, const char *text) {
    LC_TRY(put(e, "\"", 1));
    for (; *text != '\0'; text++)
        LC_TRY(put(e, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1));
    return put(e, "\"", 1);
}

static enum lc_err write_csv_path(struct export *e, uint32_t metric, uint32_t path) {
    const struct lc_model *model = e->view->model;
    char *name = lc_view_path(e->view, path);
    if (name == NULL)
        return lc_fail(LC_ERR_NOMEM, "memory: cannot write a call path");
    enum lc_err err = lc_view_row(e->view, metric, path, e->row);
    for (uint32_t l = 0; err == LC_OK && l < model->n_locations; l++) {
        if (e->row[l] == 0.0 || e->view->unknown[l])
            continue;
        err = put_cell(e, name);
        if (err == LC_OK)
            err = print(e, ",%s,%d,%d,%.17g\r\n", model->metrics[metric].name,
                        lc_view_rank(e->view, l), model->locations[l].thread, e->row[l]);
    }
    free(name);
    return err;
}

static bool is_wanted(const struct export *e, uint32_t metric) {
    return e->view->model->metrics[metric].kind != LC_METRIC_DERIVED &&
           (e->metric == LC_NONE || e->metric == metric);
}

static enum lc_err write_csv(struct export *e) {
    LC_TRY(put_text(e, "callpath,metric,rank,thread,value\r\n"));
    for (uint32_t m = 0; m < e->view->model->n_metrics; m++)
        for (uint32_t p = 0; is_wanted(e, m) && p < e->view->n_paths; p++)
            LC_TRY(write_csv_path(e, m, p));
    return LC_OK;
}

/* ---- speedscope: a sampled profile for all ranks together, and one per rank or group of ranks; of
 * an analysis the critical path as an evented one, whose frames are the ranks that it goes through
 */

static enum lc_err put_frames(struct export *e) {
    const struct lc_model *model = e->view->model;
    for (uint32_t p = 0; p < e->view->n_paths; p++) {
        const struct lc_region *region =
            &model->regions[model->cnodes[e->view->paths[p].first_cnode].region];
        LC_TRY(put_text(e, p > 0 ? ",\n{\"name\": " : "{\"name\": "));
        LC_TRY(put_json(e, e->view->paths[p].name));
        if (region->module[0] != '\0') {
            LC_TRY(put_text(e, ", \"file\": "));
            LC_TRY(put_json(e, region->module));
        }
        if (region->begin_line > 0)
            LC_TRY(print(e, ", \"line\": %" PRId64, region->begin_line));
        LC_TRY(put_text(e, "}"));
    }
    return LC_OK;
}

/* NULL: the result has none. The caller gives it back. */
static json_t *segments_of(const struct export *e) {
    const char *data;
    size_t bytes;
    if (lc_cubex_misc(e->view->cube, "critical_path.json", &data, &bytes) != LC_OK)
        return NULL;
    json_t *root = json_loadb(data, bytes, 0, NULL);
    json_t *segments = json_incref(json_object_get(root, "segments"));
    json_decref(root);
    return segments;
}

static size_t location_of(const struct export *e, const json_t *segment) {
    const struct lc_model *model = e->view->model;
    json_int_t rank = json_integer_value(json_object_get(segment, "rank"));
    json_int_t thread = json_integer_value(json_object_get(segment, "thread"));
    size_t l = 0;
    while (l < model->n_locations &&
           (lc_view_rank(e->view, (uint32_t)l) != rank || model->locations[l].thread != thread))
        l++;
    return l;
}

/* The frames of locations come after those of call paths. */
static enum lc_err put_critical_path(struct export *e, const json_t *segments) {
    double begin = 0.0, end = 0.0;
    size_t i, n = e->view->model->n_locations;
    json_t *segment;
    json_array_foreach(segments, i, segment) {
        begin = i == 0 ? json_number_value(json_object_get(segment, "from_s")) : begin;
        end = fmax(end, json_number_value(json_object_get(segment, "to_s")));
    }
    LC_TRY(print(e,
                 ",\n{\"type\": \"evented\", \"name\": \"critical path\", \"unit\": \"seconds\", "
                 "\"startValue\": %.17g, \"endValue\": %.17g,\n\"events\": [",
                 begin, end));
    const char *separator = "";
    json_array_foreach(segments, i, segment) {
        double from = json_number_value(json_object_get(segment, "from_s"));
        double to = json_number_value(json_object_get(segment, "to_s"));
        size_t l = location_of(e, segment);
        if (l == n || from < begin || to < from)
            continue;
        LC_TRY(print(e, "%s{\"type\": \"O\", \"at\": %.17g, \"frame\": %zu}", separator, from,
                     e->view->n_paths + l));
        LC_TRY(print(e, ", {\"type\": \"C\", \"at\": %.17g, \"frame\": %zu}", to,
                     e->view->n_paths + l));
        separator = ",\n";
        begin = to;
    }
    return put_text(e, "]}");
}

/* Mean over the locations first, .. , last - 1. */
static double mean_of(const struct export *e, size_t first, size_t last) {
    double sum = 0.0;
    for (size_t l = first; l < last; l++)
        sum += e->row[l];
    return sum / (double)(last - first);
}

static enum lc_err put_profile(struct export *e, const char *name, size_t first, size_t last) {
    double *weights, all = 0.0;
    uint32_t stack[LONGEST_STACK];
    LC_TRY(lc_alloc(&weights, e->view->n_paths, sizeof weights[0]));
    enum lc_err err = LC_OK;
    for (uint32_t p = 0; err == LC_OK && p < e->view->n_paths; p++) {
        err = own_row(e, e->metric, p);
        weights[p] = err == LC_OK ? fmax(mean_of(e, first, last), 0.0) : 0.0;
        all += weights[p];
    }
    if (err == LC_OK)
        err = put_text(e, "{\"type\": \"sampled\", \"name\": ");
    if (err == LC_OK)
        err = put_json(e, name);
    if (err == LC_OK)
        err =
            print(e, ", \"unit\": \"%s\", \"startValue\": 0, \"endValue\": %.17g,\n\"samples\": [",
                  is_time(&e->view->model->metrics[e->metric]) ? "seconds" : "none", all);
    const char *separator = "";
    for (uint32_t p = 0; err == LC_OK && p < e->view->n_paths; p++) {
        if (weights[p] <= 0.0)
            continue;
        size_t n = stack_of(e->view, p, stack);
        err = print(e, "%s[", separator);
        for (size_t i = 0; err == LC_OK && i < n; i++)
            err = print(e, "%s%" PRIu32, i > 0 ? "," : "", stack[i]);
        if (err == LC_OK)
            err = put_text(e, "]");
        separator = ",";
    }
    if (err == LC_OK)
        err = put_text(e, "],\n\"weights\": [");
    separator = "";
    for (uint32_t p = 0; err == LC_OK && p < e->view->n_paths; p++) {
        if (weights[p] <= 0.0)
            continue;
        err = print(e, "%s%.17g", separator, weights[p]);
        separator = ",";
    }
    free(weights);
    return err == LC_OK ? put_text(e, "]}") : err;
}

static void name_group(const struct lc_view *view, size_t first, size_t last, char name[96]) {
    uint32_t a = (uint32_t)first, b = (uint32_t)last - 1;
    if (a == b && view->model->n_locations == view->model->n_processes)
        snprintf(name, 96, "rank %d", lc_view_rank(view, a));
    else if (a == b)
        snprintf(name, 96, "rank %d thread %d", lc_view_rank(view, a),
                 view->model->locations[a].thread);
    else
        snprintf(name, 96, "ranks %d to %d, mean", lc_view_rank(view, a), lc_view_rank(view, b));
}

static enum lc_err put_location_frames(struct export *e) {
    char name[96];
    for (size_t l = 0; l < e->view->model->n_locations; l++) {
        name_group(e->view, l, l + 1, name);
        LC_TRY(print(e, ",\n{\"name\": \"%s\"}", name));
    }
    return LC_OK;
}

static enum lc_err put_speedscope(struct export *e, const json_t *segments) {
    size_t n = e->view->model->n_locations, groups = n < MOST_GROUPS ? n : MOST_GROUPS;
    char name[96];
    LC_TRY(put_text(e, "{\"$schema\": \"https://www.speedscope.app/file-format-schema.json\",\n"
                       "\"exporter\": \"latecomer " LC_VERSION "\", \"activeProfileIndex\": 0, "
                       "\"name\": "));
    LC_TRY(put_json(e, e->view->file));
    LC_TRY(put_text(e, ",\n\"shared\": {\"frames\": [\n"));
    LC_TRY(put_frames(e));
    LC_TRY(segments != NULL ? put_location_frames(e) : LC_OK);
    LC_TRY(put_text(e, "]},\n\"profiles\": [\n"));
    LC_TRY(put_profile(e, "all ranks, mean", 0, n));
    for (size_t g = 0; g < groups; g++) {
        name_group(e->view, g * n / groups, (g + 1) * n / groups, name);
        LC_TRY(put_text(e, ",\n"));
        LC_TRY(put_profile(e, name, g * n / groups, (g + 1) * n / groups));
    }
    LC_TRY(segments != NULL ? put_critical_path(e, segments) : LC_OK);
    return put_text(e, "\n]}\n");
}

static enum lc_err write_speedscope(struct export *e) {
    json_t *segments = segments_of(e);
    enum lc_err err = put_speedscope(e, segments);
    json_decref(segments);
    return err;
}

/* ---- hatchet: [{"frame": .., "metrics": .., "children": [..]}], sums over ranks and threads */

static enum lc_err put_metrics(struct export *e, uint32_t path) {
    const struct lc_model *model = e->view->model;
    const char *separator = "";
    for (uint32_t m = 0; m < model->n_metrics; m++) {
        const struct lc_metric *metric = &model->metrics[m];
        if (!is_wanted(e, m))
            continue;
        LC_TRY(own_row(e, m, path));
        LC_TRY(print(e, "%s\"%s\": ", separator, metric->name));
        LC_TRY(put_number(e, join(e, m)));
        separator = ", ";
        if (metric->kind != LC_METRIC_INCLUSIVE)
            continue;
        LC_TRY(lc_view_row(e->view, m, path, e->row));
        LC_TRY(print(e, ", \"%s (inc)\": ", metric->name));
        LC_TRY(put_number(e, join(e, m)));
    }
    return LC_OK;
}

/* Recursion is bounded by the depth of the call tree, which the reader bounds. */
static enum lc_err put_node(struct export *e, uint32_t path) {
    const struct lc_merged_path *own = &e->view->paths[path];
    LC_TRY(put_text(e, "{\"frame\": {\"name\": "));
    LC_TRY(put_json(e, own->name));
    LC_TRY(put_text(e, ", \"type\": \"function\"}, \"metrics\": {"));
    LC_TRY(put_metrics(e, path));
    LC_TRY(put_text(e, "}, \"children\": ["));
    for (uint32_t c = own->first_child; c != LC_NONE; c = e->view->paths[c].next_sibling) {
        LC_TRY(put_text(e, c != own->first_child ? ",\n" : "\n"));
        LC_TRY(put_node(e, c));
    }
    return put_text(e, "]}");
}

static enum lc_err write_hatchet(struct export *e) {
    const char *separator = "[";
    for (uint32_t p = 0; p < e->view->n_paths; p++) {
        if (e->view->paths[p].parent != LC_NONE)
            continue;
        LC_TRY(put_text(e, separator));
        LC_TRY(put_node(e, p));
        separator = ",\n";
    }
    return put_text(e, e->view->n_paths > 0 ? "]\n" : "[]\n");
}

static const struct format {
    const char *name;
    enum lc_err (*write)(struct export *e);
    bool one_metric;
} formats[] = {
    {"speedscope", write_speedscope, true},
    {"folded", write_folded, true},
    {"csv", write_csv, false},
    {"hatchet", write_hatchet, false},
};
enum { N_FORMATS = sizeof formats / sizeof formats[0] };

const char *const *lc_export_formats(size_t *n) {
    static const char *names[N_FORMATS];
    for (size_t i = 0; i < N_FORMATS; i++)
        names[i] = formats[i].name;
    *n = N_FORMATS;
    return names;
}

enum lc_err lc_export_write(struct lc_view *view, const char *format, const char *metric,
                            uint64_t most_bytes, FILE *out) {
    const struct format *chosen = NULL;
    struct export e = {.view = view, .out = out, .metric = LC_NONE, .most_bytes = most_bytes};
    for (size_t i = 0; i < N_FORMATS; i++)
        if (strcmp(formats[i].name, format) == 0)
            chosen = &formats[i];
    if (chosen == NULL)
        return lc_fail(LC_ERR_USAGE, "export: %s: no such format", format);
    const char *wanted = metric != NULL ? metric : "time";
    if (metric != NULL || chosen->one_metric) {
        e.metric = lc_model_find_metric(view->model, wanted);
        if (e.metric == LC_NONE || view->model->metrics[e.metric].kind == LC_METRIC_DERIVED)
            return lc_fail(LC_ERR_NOT_FOUND,
                           "%s: has no metric %s: `latecomer show --json` lists those that it has",
                           view->file, wanted);
    }
    LC_TRY(lc_alloc(&e.row, view->model->n_locations, sizeof e.row[0]));
    enum lc_err err = chosen->write(&e);
    free(e.row);
    if (err == LC_OK && fflush(out) != 0)
        err = lc_fail_errno(LC_ERR_IO, "export: cannot be written");
    return err;
}
