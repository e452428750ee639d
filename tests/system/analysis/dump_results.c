/* Test driver of the trace analysis: analyses many archives in one run of the program and writes
 * what it found as JSON, without the detour through .cubex, so that thousands of small traces can
 * be judged in a short time.
 *
 *   dump_results NAME DIR..     analyses DIR/traces.otf2, writes DIR/NAME: {"ranks", "metrics",
 * "mpi_only", "invariants"} as in the golden data
 *
 * Call paths that are zero everywhere are left out; `time` is given exclusive as "exclusive_time".
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/health.h"
#include "analyze/place.h"
#include "analyze/read.h"
#include "analyze/results.h"
#include "analyze/results_private.h"
#include "analyze/rootcause.h"
#include "analyze/waits.h"
#include "analyze/write.h"
#include "model/metrics.h"

static void check(enum lc_err err) {
    if (err != LC_OK) {
        fprintf(stderr, "dump_results: %s\n", lc_err_text());
        lc_transport_abort(1);
    }
}

static const char *unit_of(const char *name) {
    static struct lc_model *model;
    uint32_t id;
    if (model == NULL)
        check(lc_model_new(&model));
    check(lc_metrics_add(model, name, &id));
    return model->metrics[id].unit;
}

static json_t *metric_json(const struct lc_trace *trace, const struct lc_result_metric *metric,
                           bool real, const struct lc_result_cell *cells, size_t n) {
    bool seconds = strcmp(unit_of(metric->name), "sec") == 0;
    json_t *paths = json_object(), *result = json_object();
    double total = 0;
    for (size_t i = 0; i < n; i++) {
        double value = real ? cells[i].value.real : (double)cells[i].value.ticks;
        if (value == 0)
            continue;
        value /= seconds ? (double)trace->ticks_per_second : 1;
        struct lc_strbuf name = {0};
        lc_place_callpath(&name, trace, cells[i].cnode);
        json_t *row = json_object_get(paths, lc_strbuf_get(&name));
        if (row == NULL) {
            row = json_array();
            for (size_t l = 0; l < trace->n_locations; l++)
                json_array_append_new(row, json_real(0));
            json_object_set_new(paths, lc_strbuf_get(&name), row);
        }
        double before = json_real_value(json_array_get(row, cells[i].location));
        json_array_set_new(row, cells[i].location, json_real(before + value));
        total += value;
        lc_strbuf_free(&name);
    }
    json_object_set_new(result, "unit", json_string(unit_of(metric->name)));
    json_object_set_new(result, "kind", json_string("exclusive"));
    json_object_set_new(result, "total", json_real(total));
    json_object_set_new(result, "callpaths", paths);
    return result;
}

static int compare_cells(const void *a, const void *b) {
    const struct lc_result_cell *x = a, *y = b;
    if (x->cnode != y->cnode)
        return x->cnode < y->cnode ? -1 : 1;
    return (x->location > y->location) - (x->location < y->location);
}

/* All ranks' results on rank 0. */
static json_t *results_json(const struct lc_trace *trace, const struct lc_results *results) {
    json_t *root = json_object();
    for (size_t m = 0; m < results->n_metrics; m++) {
        const struct lc_result_metric *metric = &results->metrics[m];
        struct lc_result_cell *all = NULL;
        size_t bytes = 0;
        int64_t real = metric->real; /* known where there are values */
        lc_transport_allreduce_i64(trace->comm, &real, 1, LC_OP_MAX);
        check(lc_transport_gather(trace->comm, metric->cells, metric->n_cells * sizeof *all,
                                  (void **)&all, &bytes, NULL));
        if (trace->comm->rank == 0) {
            size_t n = bytes / sizeof *all;
            if (n > 1)
                qsort(all, n, sizeof *all, compare_cells);
            json_object_set_new(root, metric->name, metric_json(trace, metric, real != 0, all, n));
        }
        free(all);
    }
    return root;
}

static void write_file(const char *dir, const char *name, json_t *root) {
    struct lc_strbuf path = {0};
    lc_strbuf_printf(&path, "%s/%s", dir, name);
    if (json_dump_file(root, lc_strbuf_get(&path),
                       JSON_INDENT(1) | JSON_SORT_KEYS | JSON_REAL_PRECISION(17)) != 0) {
        fprintf(stderr, "dump_results: %s: cannot be written\n", lc_strbuf_get(&path));
        lc_transport_abort(1);
    }
    lc_strbuf_free(&path);
}

static void analyse(const struct lc_transport *comm, const char *dir, const char *name) {
    struct lc_strbuf path = {0};
    struct lc_health health;
    struct lc_trace *trace = NULL;
    lc_strbuf_printf(&path, "%s/traces.otf2", dir);
    lc_health_init(&health);
    check(lc_trace_read(&trace, comm, lc_strbuf_get(&path), &health, NULL));
    check(lc_results_new(&trace->results));
    check(lc_waits_find(trace));
    check(lc_cells_book(trace));
    struct lc_rootcause_options options = {0};
    struct lc_rootcause_output output = {0};
    check(lc_rootcause_run(trace, &options, &output));
    json_t *metrics = results_json(trace, trace->results), *only = NULL;
    json_t *invariants = json_loads(lc_strbuf_get(&output.invariants), 0, NULL);
    json_t *causes = json_loads(lc_strbuf_get(&output.root_causes), 0, NULL);
    if (getenv("DUMP_RESULTS_LINES") != NULL && comm->rank == 0)
        printf("%s: %s", dir, lc_strbuf_get(&output.lines));
    lc_rootcause_output_free(&output);
    struct lc_results *first = trace->results;
    check(lc_results_new(&trace->results));
    options.mpi_only = true;
    output = (struct lc_rootcause_output){0};
    check(lc_rootcause_run(trace, &options, &output));
    only = results_json(trace, trace->results);
    lc_rootcause_output_free(&output);
    lc_results_free(trace->results);
    trace->results = first;
    if (comm->rank == 0) {
        json_t *root = json_object();
        json_object_set_new(root, "ranks", json_integer((json_int_t)trace->n_locations));
        json_object_set_new(
            root, "wall_time",
            json_real((double)(trace->t1 - trace->t0) / (double)trace->ticks_per_second));
        json_object_set_new(root, "metrics", metrics);
        json_object_set_new(root, "mpi_only", only);
        json_object_set_new(root, "invariants", invariants);
        json_object_set_new(root, "root_causes", causes);
        write_file(dir, name, root);
        json_decref(root);
    } else {
        json_decref(metrics);
        json_decref(only);
        json_decref(invariants);
        json_decref(causes);
    }
    lc_results_free(trace->results);
    lc_trace_free(trace);
    lc_strbuf_free(&path);
}

int main(int argc, char **argv) {
    struct lc_transport comm;
    lc_transport_init(&comm, &argc, &argv);
    if (argc < 3) {
        fprintf(stderr, "usage: dump_results NAME DIR..\n");
        lc_transport_abort(2);
    }
    for (int i = 2; i < argc; i++)
        analyse(&comm, argv[i], argv[1]);
    lc_transport_finalize(&comm);
    return 0;
}
