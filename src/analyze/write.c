#include "analyze/write.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/events.h"
#include "analyze/results_private.h"
#include "analyze/time_tree.h"
#include "base/mem.h"
#include "model/cubex_write.h"
#include "model/metrics.h"

/* `time` is inclusive: what a call path takes belongs to its callers, too. */
static enum lc_err book_time(struct lc_trace *trace, uint32_t metric, uint32_t location,
                             const struct lc_cell *cell) {
    for (uint32_t c = cell->cnode; c != LC_NONE; c = trace->cnodes[c].parent)
        LC_TRY(lc_results_add_int(trace->results, metric, c, location, cell->value));
    return LC_OK;
}

/* Handles of the metrics that the time of a region belongs to. */
struct time_metrics {
    uint32_t handles[LC_TIME_DEPTH];
    size_t n;
};

static enum lc_err find_time_metrics(struct lc_trace *trace, struct time_metrics *of_region) {
    uint32_t handle;
    for (const char *const *name = lc_time_tree; *name; name++)
        LC_TRY(lc_results_metric(trace->results, *name, &handle));
    for (size_t r = 0; r < trace->n_regions; r++) {
        char up[LC_METRIC_NAME];
        const char *name = lc_time_metric(&trace->regions[r]);
        /* `time` itself, the root, is booked with children. */
        for (; name && strcmp(name, "time") != 0 && of_region[r].n < LC_TIME_DEPTH;
             name = lc_metrics_parent(name, up) ? up : NULL) {
            LC_TRY(lc_results_metric(trace->results, name, &handle));
            of_region[r].handles[of_region[r].n++] = handle;
        }
    }
    return LC_OK;
}

/* The time tree: exclusive for the call path, as all metrics but `time`. */
static enum lc_err book_kinds(struct lc_trace *trace, const struct time_metrics *of_region,
                              uint32_t location, const struct lc_cell *cell) {
    const struct time_metrics *metrics = &of_region[trace->cnodes[cell->cnode].region];
    for (size_t i = 0; i < metrics->n; i++)
        LC_TRY(lc_results_add_int(trace->results, metrics->handles[i], cell->cnode, location,
                                  cell->value));
    return LC_OK;
}

/* Cells of a call path come one after the other. */
static enum lc_err keep_samples(struct lc_loc *loc, const struct lc_cell *cell) {
    if (cell->metric == LC_CELL_SAMPLES) {
        LC_TRY(lc_grow(&loc->samples, &loc->cap_samples, loc->n_samples + 1, sizeof *loc->samples));
        loc->samples[loc->n_samples++] =
            (struct lc_path_samples){cell->cnode, 0, cell->value, 0, 0};
    } else if (loc->n_samples > 0) {
        struct lc_path_samples *of = &loc->samples[loc->n_samples - 1];
        *(cell->metric == LC_CELL_SAMPLED_NS ? &of->ns : &of->squares_us2) = cell->value;
    }
    return LC_OK;
}

static enum lc_err book_cells(struct lc_trace *trace, const struct time_metrics *of_region) {
    uint32_t counts[LC_COUNTS], visits, time;
    LC_TRY(lc_results_metric(trace->results, "time", &time));
    LC_TRY(lc_results_metric(trace->results, "visits", &visits));
    for (int c = 0; c < LC_COUNTS; c++)
        LC_TRY(lc_results_metric(trace->results, lc_count_metrics[c], &counts[c]));
    for (size_t i = 0; i < trace->n_locs; i++) {
        struct lc_loc *loc = &trace->locs[i];
        for (size_t k = 0; k < loc->n_cells; k++) {
            const struct lc_cell *cell = &loc->cells[k];
            if (cell->metric == LC_CELL_VISITS && trace->locations[loc->id].thread > 0) {
                LC_TRY(lc_grow(&loc->visited, &loc->cap_visited, loc->n_visited + 1,
                               sizeof *loc->visited));
                loc->visited[loc->n_visited++] = cell->cnode;
            }
            if (cell->metric >= LC_CELL_SAMPLES) {
                LC_TRY(keep_samples(loc, cell));
            } else if (cell->metric == LC_CELL_TIME) {
                LC_TRY(book_time(trace, time, loc->id, cell));
                LC_TRY(book_kinds(trace, of_region, loc->id, cell));
            } else {
                LC_TRY(lc_results_add_int(
                    trace->results, cell->metric == LC_CELL_VISITS ? visits : counts[cell->metric],
                    cell->cnode, loc->id, cell->value));
            }
        }
        free(loc->cells);
        loc->cells = NULL;
        loc->n_cells = loc->cap_cells = 0;
    }
    return LC_OK;
}

static enum lc_err build_program(struct lc_model *model, const struct lc_trace *trace) {
    uint32_t *map;
    LC_TRY(lc_alloc(&map, trace->n_regions, sizeof *map));
    enum lc_err err = LC_OK;
    for (size_t i = 0; i < trace->n_cnodes && err == LC_OK; i++) {
        const struct lc_an_cnode *cnode = &trace->cnodes[i];
        const struct lc_an_region *r = &trace->regions[cnode->region];
        uint32_t *region = &map[cnode->region]; /* id + 1 */
        if (!*region) {
            struct lc_region out = {.name = (char *)r->name,
                                    .mangled = (char *)(*r->mangled ? r->mangled : r->name),
                                    .module = (char *)r->file,
                                    .paradigm = (char *)r->paradigm,
                                    .role = (char *)r->role,
                                    .begin_line = r->begin_line ? (int64_t)r->begin_line : -1,
                                    .end_line = r->end_line ? (int64_t)r->end_line : -1};
            err = lc_model_add_region(model, &out, region);
            ++*region;
        }
        if (err == LC_OK)
            err = lc_model_add_cnode(model, cnode->parent, *region - 1, NULL);
    }
    free(map);
    return err;
}

static enum lc_err build_system(struct lc_model *model, const struct lc_trace *trace) {
    for (size_t i = 0; i < trace->n_system_nodes; i++) {
        const struct lc_an_system_node *n = &trace->system_nodes[i];
        LC_TRY(lc_model_add_system_node(model, n->parent, n->name, n->class_name, NULL));
    }
    for (size_t p = 0; p < trace->n_processes; p++) {
        const struct lc_an_process *process = &trace->processes[p];
        LC_TRY(
            lc_model_add_process(model, process->system_node, process->rank, process->name, NULL));
    }
    for (size_t l = 0; l < trace->n_locations; l++) {
        const struct lc_an_location *location = &trace->locations[l];
        LC_TRY(lc_model_add_location(model, location->process, location->thread, location->name,
                                     NULL));
    }
    return LC_OK;
}

static enum lc_err build_model(struct lc_model **model, const struct lc_trace *trace,
                               const char *meta) {
    LC_TRY(lc_model_new(model));
    enum lc_err err = build_program(*model, trace);
    if (err == LC_OK)
        err = build_system(*model, trace);
    for (size_t m = 0; m < trace->results->n_metrics && err == LC_OK; m++)
        err = lc_metrics_add(*model, trace->results->metrics[m].name, NULL);
    if (err == LC_OK)
        err = lc_model_set_attr(*model, "latecomer.meta", meta);
    if (err == LC_OK)
        return LC_OK;
    lc_model_free(*model);
    *model = NULL;
    return err;
}

static int by_place(const void *a, const void *b) {
    const struct lc_result_cell *x = a, *y = b;
    if (x->cnode != y->cnode)
        return x->cnode < y->cnode ? -1 : 1;
    return x->location < y->location ? -1 : x->location > y->location;
}

static enum lc_err write_rows(struct lc_cubex_writer *writer, const struct lc_trace *trace,
                              const struct lc_model *model, const struct lc_result_metric *metric,
                              struct lc_result_cell *cells, size_t n) {
    uint32_t id = lc_model_find_metric(model, metric->name);
    const char *unit = model->metrics[id].unit;
    double scale = strcmp(unit, "sec") == 0 ? (double)trace->ticks_per_second : 1;
    double *row;
    LC_TRY(lc_alloc(&row, trace->n_locations, sizeof *row));
    enum lc_err err = lc_cubex_writer_metric(writer, id);
    if (n)
        qsort(cells, n, sizeof *cells, by_place);
    for (size_t i = 0; i < n && err == LC_OK;) {
        uint32_t cnode = cells[i].cnode;
        memset(row, 0, trace->n_locations * sizeof *row);
        for (; i < n && cells[i].cnode == cnode; i++)
            row[cells[i].location] =
                (metric->real ? cells[i].value.real : (double)cells[i].value.ticks) / scale;
        err = lc_cubex_writer_row(writer, cnode, row);
    }
    free(row);
    return err;
}

/* Declares the sums that contain metrics of the results. */
static enum lc_err declare_sums(struct lc_results *results) {
    for (size_t m = 0; m < results->n_metrics; m++) {
        char up[LC_METRIC_NAME];
        uint32_t handle = LC_NONE;
        if (lc_metrics_parent(results->metrics[m].name, up) && lc_metrics_is_sum(up))
            LC_TRY(lc_results_metric(results, up, &handle));
        results->metrics[m].part_of = handle;
        results->metrics[m].is_sum = lc_metrics_is_sum(results->metrics[m].name);
    }
    return LC_OK;
}

/* With nothing but sums between them. */
static bool is_part(const struct lc_results *results, size_t metric, uint32_t sum) {
    uint32_t up = results->metrics[metric].part_of;
    while (up != LC_NONE && up != sum)
        up = results->metrics[up].part_of;
    return up == sum;
}

/* Fills a declared sum from the metrics below it that are none themselves. */
static enum lc_err add_up(struct lc_results *results, uint32_t sum) {
    for (size_t m = 0; m < results->n_metrics; m++) {
        const struct lc_result_metric *part = &results->metrics[m];
        if (part->is_sum || !is_part(results, m, sum))
            continue;
        for (size_t i = 0; i < part->n_cells; i++) {
            const struct lc_result_cell *cell = &part->cells[i];
            LC_TRY(lc_results_add_ticks_real(results, sum, cell->cnode, cell->location,
                                             part->real ? cell->value.real
                                                        : (double)cell->value.ticks));
        }
    }
    return LC_OK;
}

static void clear_metric(struct lc_result_metric *metric) {
    free(metric->cells);
    lc_lookup_free(&metric->places);
    metric->cells = NULL;
    metric->n_cells = metric->cap_cells = 0;
}

/* A metric takes reals if it does on any rank. cells[m]: on all ranks together. */
static enum lc_err agree_metrics(struct lc_trace *trace, int64_t **cells) {
    struct lc_results *results = trace->results;
    size_t n = results->n_metrics;
    int64_t counts[2] = {(int64_t)n, -(int64_t)n};
    lc_transport_allreduce_i64(trace->comm, counts, 2, LC_OP_MAX);
    if (counts[0] != -counts[1])
        return lc_fail(LC_ERR_RANGE, "results: ranks disagree about the metrics: please report it");
    LC_TRY(lc_transport_agree(trace->comm, lc_alloc(cells, 2 * n, sizeof **cells)));
    for (size_t m = 0; m < n; m++) {
        (*cells)[m] = (int64_t)results->metrics[m].n_cells;
        (*cells)[n + m] = results->metrics[m].real;
    }
    lc_transport_allreduce_i64(trace->comm, *cells, 2 * n, LC_OP_SUM);
    for (size_t m = 0; m < n; m++)
        results->metrics[m].real = (*cells)[n + m] != 0;
    return LC_OK;
}

enum lc_err lc_cells_book(struct lc_trace *trace) {
    struct time_metrics *of_region;
    LC_TRY(lc_alloc(&of_region, trace->n_regions, sizeof *of_region));
    enum lc_err err = find_time_metrics(trace, of_region);
    if (err == LC_OK)
        err = book_cells(trace, of_region);
    free(of_region);
    return err;
}

/* Collective; `writer` and `model` on rank 0. */
static enum lc_err write_metric(const struct lc_trace *trace, struct lc_cubex_writer *writer,
                                const struct lc_model *model,
                                const struct lc_result_metric *metric) {
    const struct lc_transport *comm = trace->comm;
    struct lc_result_cell *cells = NULL;
    size_t bytes = 0;
    enum lc_err err = lc_transport_gather(comm, metric->cells, metric->n_cells * sizeof *cells,
                                          (void **)&cells, &bytes, NULL);
    if (err == LC_OK && comm->rank == 0)
        err = write_rows(writer, trace, model, metric, cells, bytes / sizeof *cells);
    free(cells);
    return lc_transport_agree(comm, err);
}

/* A sum exists only while it is written: all of them take more memory than their parts. */
static enum lc_err write_sum(struct lc_trace *trace, struct lc_cubex_writer *writer,
                             const struct lc_model *model, uint32_t sum) {
    struct lc_result_metric *metric = &trace->results->metrics[sum];
    metric->real = true;
    enum lc_err err = lc_transport_agree(trace->comm, add_up(trace->results, sum));
    if (err == LC_OK)
        err = write_metric(trace, writer, model, metric);
    clear_metric(metric);
    return err;
}

enum lc_err lc_analysis_write(struct lc_trace *trace, const char *path, const char *meta,
                              const struct lc_member *members, size_t n_members) {
    const struct lc_transport *comm = trace->comm;
    struct lc_model *model = NULL;
    struct lc_cubex_writer *writer = NULL;
    enum lc_err err = declare_sums(trace->results);
    if (err == LC_OK && comm->rank == 0) {
        err = build_model(&model, trace, meta);
        if (err == LC_OK)
            err = lc_cubex_writer_open(&writer, path, model);
    }
    err = lc_transport_agree(comm, err);
    int64_t *n_cells = NULL;
    if (err == LC_OK)
        err = agree_metrics(trace, &n_cells);
    for (size_t m = 0; n_cells != NULL && m < trace->results->n_metrics && err == LC_OK; m++)
        if (trace->results->metrics[m].is_sum)
            err = write_sum(trace, writer, model, (uint32_t)m);
        else if (n_cells[m] > 0)
            err = write_metric(trace, writer, model, &trace->results->metrics[m]);
    for (size_t i = 0; i < n_members && err == LC_OK && comm->rank == 0; i++)
        err = lc_cubex_writer_misc(writer, members[i].name, lc_strbuf_get(members[i].text),
                                   members[i].text->length);
    if (writer && err == LC_OK)
        err = lc_cubex_writer_close(writer);
    else if (writer)
        lc_cubex_writer_abort(writer);
    lc_model_free(model);
    free(n_cells);
    return lc_transport_agree(comm, err);
}
