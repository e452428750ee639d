#include "run/profile_convert.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/table_text.h"
#include "base/timer.h"
#include "format/omp_construct.h"
#include "model/cubex_write.h"
#include "model/metrics.h"
#include "run/blame_table.h"
#include "run/counter_table.h"
#include "run/estimate.h"
#include "format/mpi_function.h"
#include "run/json_string.h"
#include "run/line_table.h"
#include "run/omp_names.h"
#include "run/rules.h"
#include "run/sample_table.h"
#include "run/sampled.h"
#include "run/what_if_errors.h"
#include "symbols/debug_server.h"
#include "symbols/symbols.h"
#include "run/system.h"
#include "run/tree.h"

struct converter {
    const struct lc_raw_file *file;
    const struct lc_raw *defs;
    struct lc_model *model;
    struct lc_symbols *symbols;
    struct lc_sampled sampled;
    struct lc_named_tree tree;
    struct lc_system system;
    struct lc_minima *minima;
    struct lc_counter_table counters;
    struct lc_mpi_function *functions;  /* by raw name */
    uint32_t *location_top;             /* raw location -> cnode that gets the time of the root */
    uint32_t *location_program;         /* raw location -> raw node of its program; 0: unknown */
    const struct lc_raw_row **rows;     /* by cnode */
    size_t *first_row;                  /* n_cnodes + 1 */
    const struct lc_raw_value **values; /* by metric name, then cnode */
    size_t n_values;
    double *columns;
    struct lc_cubex_writer *writer;
    char *pairs; /* becomes pairs.json; NULL: none */
};

static uint32_t cnode_of_row(const struct converter *c, const struct lc_raw_row *row) {
    if (!lc_raw_is_above(c->defs, row->node))
        return c->tree.cnode_of[row->node];
    return c->location_top[row->location];
}

/* The root's time of a location belongs to the top of its own call paths: `main`, or a thread's
 * start function. */
static enum lc_err find_location_tops(struct converter *c) {
    size_t n = c->defs->n_locations;
    LC_TRY(lc_alloc(&c->location_top, n + 1, sizeof(uint32_t)));
    LC_TRY(lc_alloc(&c->location_program, n + 1, sizeof(uint32_t)));
    for (size_t i = 0; i < n; i++)
        c->location_top[i] = LC_NONE;
    for (size_t part = 0; part < lc_raw_file_parts(c->file); part++) {
        size_t n_rows;
        const struct lc_raw_row *rows = lc_raw_file_rows(c->file, part, &n_rows);
        for (size_t i = 0; i < n_rows; i++) {
            uint32_t program = c->tree.program_of[rows[i].node];
            if (program != 0)
                c->location_program[rows[i].location] = program;
            if (lc_raw_is_above(c->defs, rows[i].node))
                continue;
            uint32_t top = c->tree.top_of[c->tree.cnode_of[rows[i].node]];
            uint32_t *slot = &c->location_top[rows[i].location];
            if (*slot == LC_NONE || top == c->tree.cnode_of[program])
                *slot = top;
        }
    }
    for (size_t i = 0; i < n; i++)
        if (c->location_top[i] == LC_NONE)
            c->location_top[i] = c->tree.cnode_of[c->location_program[i]];
    return LC_OK;
}

/* Of the communicator of a collective; else 0. */
static uint32_t members_of(const struct lc_raw_row *row) {
    return row->flags >> LC_RAW_ROW_COMM_SHIFT & LC_RAW_COMM_MOST;
}

static uint32_t group_of(const struct lc_raw_row *row) {
    return row->flags >> LC_RAW_ROW_GROUP_SHIFT & LC_RAW_GROUP_OTHER;
}

static int compare_rows(const void *a, const void *b, void *context) {
    const struct converter *c = context;
    const struct lc_raw_row *x = *(const struct lc_raw_row *const *)a;
    const struct lc_raw_row *y = *(const struct lc_raw_row *const *)b;
    uint32_t x_column = c->system.column_of[x->location];
    uint32_t y_column = c->system.column_of[y->location];
    if (x_column != y_column)
        return x_column < y_column ? -1 : 1;
    if (x->size_class != y->size_class)
        return x->size_class < y->size_class ? -1 : 1;
    if (members_of(x) != members_of(y))
        return members_of(x) < members_of(y) ? -1 : 1;
    return (group_of(x) > group_of(y)) - (group_of(x) < group_of(y));
}

/* The rows of part k of the file; after the last one those that samples made of them. */
static const struct lc_raw_row *rows_of_part(const struct converter *c, size_t k, size_t *n) {
    if (k < lc_raw_file_parts(c->file))
        return lc_raw_file_rows(c->file, k, n);
    *n = c->sampled.n_rows;
    return c->sampled.rows;
}

/* The row as it counts: less what samples gave to others. */
static const struct lc_raw_row *counted(const struct converter *c, const struct lc_raw_row *row) {
    const struct lc_sample_split *split =
        row->size_class == LC_RAW_CLASS_TIME && c->sampled.n_splits > 0
            ? lc_sampled_find(&c->sampled, row->node, row->location)
            : NULL;
    return split != NULL && split->source == row ? &split->row : row;
}

/* Pointers to all rows, grouped by cnode, then by column and class; and the minima on the way. */
static enum lc_err index_rows(struct converter *c) {
    size_t n_cnodes = c->tree.n_cnodes, total = 0;
    LC_TRY(lc_alloc(&c->first_row, n_cnodes + 2, sizeof c->first_row[0]));
    for (int pass = 0; pass < 2; pass++) {
        for (size_t part = 0; part <= lc_raw_file_parts(c->file); part++) {
            size_t n_rows;
            const struct lc_raw_row *rows = rows_of_part(c, part, &n_rows);
            for (size_t i = 0; i < n_rows; i++) {
                uint32_t cnode = cnode_of_row(c, &rows[i]);
                if (rows[i].size_class == LC_RAW_CLASS_SAMPLES ||
                    rows[i].size_class == LC_RAW_CLASS_ADDRESS ||
                    rows[i].size_class == LC_RAW_CLASS_COUNTERS)
                    continue;
                if (pass == 1) {
                    c->rows[c->first_row[cnode + 1]++] = counted(c, &rows[i]);
                    continue;
                }
                c->first_row[cnode + 2]++;
                total++;
                if (c->tree.mpi_name[cnode] != LC_NONE)
                    LC_TRY(lc_minima_see(c->minima, c->tree.mpi_name[cnode], &rows[i]));
            }
        }
        if (pass == 0) {
            for (size_t i = 2; i <= n_cnodes + 1; i++)
                c->first_row[i] += c->first_row[i - 1];
            LC_TRY(lc_alloc(&c->rows, total + 1, sizeof c->rows[0]));
        }
    }
    for (size_t i = 0; i < n_cnodes; i++)
        qsort_r(c->rows + c->first_row[i], c->first_row[i + 1] - c->first_row[i], sizeof c->rows[0],
                compare_rows, c);
    return LC_OK;
}

static uint32_t cnode_of_value(const struct converter *c, const struct lc_raw_value *value) {
    return !lc_raw_is_above(c->defs, value->node) ? c->tree.cnode_of[value->node]
                                                  : c->location_top[value->location];
}

static int compare_values(const void *a, const void *b, void *context) {
    const struct lc_raw_value *x = *(const struct lc_raw_value *const *)a;
    const struct lc_raw_value *y = *(const struct lc_raw_value *const *)b;
    if (x->metric != y->metric)
        return x->metric < y->metric ? -1 : 1;
    uint32_t x_cnode = cnode_of_value(context, x), y_cnode = cnode_of_value(context, y);
    if (x_cnode != y_cnode)
        return x_cnode < y_cnode ? -1 : 1;
    return (x > y) - (x < y);
}

static enum lc_err index_values(struct converter *c) {
    size_t total = 0, n;
    for (size_t part = 0; part < lc_raw_file_parts(c->file); part++) {
        lc_raw_file_values(c->file, part, &n);
        total += n;
    }
    LC_TRY(lc_alloc(&c->values, total + 1, sizeof c->values[0]));
    for (size_t part = 0; part < lc_raw_file_parts(c->file); part++) {
        const struct lc_raw_value *values = lc_raw_file_values(c->file, part, &n);
        for (size_t i = 0; i < n; i++)
            c->values[c->n_values++] = &values[i];
    }
    if (c->n_values != 0)
        qsort_r(c->values, c->n_values, sizeof c->values[0], compare_values, c);
    return LC_OK;
}

/* Values of the library for one metric, in the order of cnodes. */
struct value_range {
    const struct lc_raw_value *const *at;
    size_t left;
};

static struct value_range values_of_metric(const struct converter *c, const char *metric) {
    for (size_t i = 0; i < c->n_values;) {
        size_t end = i;
        while (end < c->n_values && c->values[end]->metric == c->values[i]->metric)
            end++;
        if (strcmp(c->defs->names[c->values[i]->metric], metric) == 0)
            return (struct value_range){c->values + i, end - i};
        i = end;
    }
    return (struct value_range){NULL, 0};
}

/* Takes the values of one cnode off the front; true if there were any. */
static bool add_values(struct converter *c, struct value_range *range, uint32_t cnode) {
    bool any = false;
    for (; range->left != 0 && cnode_of_value(c, *range->at) <= cnode; range->at++, range->left--) {
        c->columns[c->system.column_of[(*range->at)->location]] += (*range->at)->value;
        any = true;
    }
    return any;
}

static void combine(double *cell, double value, enum lc_rule_how how) {
    if (how == LC_RULE_SUM)
        *cell += value;
    else if (value != 0.0 &&
             (*cell == 0.0 || (how == LC_RULE_MINIMUM ? value < *cell : value > *cell)))
        *cell = value;
}

static enum lc_err write_rule(struct converter *c, const struct lc_metric_rule *rule) {
    uint32_t metric = lc_model_find_metric(c->model, rule->metric);
    struct value_range range = values_of_metric(c, rule->metric);
    LC_TRY(lc_cubex_writer_metric(c->writer, metric));
    for (uint32_t cnode = 0; cnode < c->tree.n_cnodes; cnode++) {
        uint32_t name = c->tree.mpi_name[cnode];
        const struct lc_mpi_function *function = name == LC_NONE ? NULL : &c->functions[name];
        memset(c->columns, 0, c->system.n_columns * sizeof c->columns[0]);
        for (size_t i = c->first_row[cnode]; i < c->first_row[cnode + 1]; i++)
            combine(&c->columns[c->system.column_of[c->rows[i]->location]],
                    rule->value(function, c->rows[i]), rule->how);
        add_values(c, &range, cnode);
        LC_TRY(lc_cubex_writer_row(c->writer, cnode, c->columns));
    }
    return LC_OK;
}

/* Inclusive: the rows of a subtree lie next to each other. */
static enum lc_err write_time(struct converter *c) {
    LC_TRY(lc_cubex_writer_metric(c->writer, lc_model_find_metric(c->model, "time")));
    for (uint32_t cnode = 0; cnode < c->tree.n_cnodes; cnode++) {
        memset(c->columns, 0, c->system.n_columns * sizeof c->columns[0]);
        for (size_t i = c->first_row[cnode]; i < c->first_row[c->tree.subtree_end[cnode]]; i++)
            c->columns[c->system.column_of[c->rows[i]->location]] += lc_rule_time_s(c->rows[i]);
        LC_TRY(lc_cubex_writer_row(c->writer, cnode, c->columns));
    }
    return LC_OK;
}

static enum lc_err write_estimates(struct converter *c) {
    for (int k = 0; lc_estimate_metrics[k] != NULL; k++) {
        LC_TRY(lc_cubex_writer_metric(c->writer,
                                      lc_model_find_metric(c->model, lc_estimate_metrics[k])));
        for (uint32_t cnode = 0; cnode < c->tree.n_cnodes; cnode++) {
            uint32_t name = c->tree.mpi_name[cnode];
            if (name == LC_NONE)
                continue;
            memset(c->columns, 0, c->system.n_columns * sizeof c->columns[0]);
            for (size_t i = c->first_row[cnode]; i < c->first_row[cnode + 1]; i++)
                if (lc_estimate_of(c->minima, name, c->rows[i]) == k)
                    c->columns[c->system.column_of[c->rows[i]->location]] +=
                        lc_minima_wait(c->minima, name, c->rows[i]);
            LC_TRY(lc_cubex_writer_row(c->writer, cnode, c->columns));
        }
    }
    return LC_OK;
}

/* "omp_time" and its parts, and what holds them. */
static const char *const omp_times[] = {"execution",    "omp_time",     "omp_synchronization",
                                        "omp_ebarrier", "omp_ibarrier", "omp_critical",
                                        "omp_lock_api", "omp_taskwait"};
enum { N_OMP_TIMES = sizeof omp_times / sizeof *omp_times };

static const char *omp_time_of(const struct converter *c, uint32_t cnode) {
    return lc_omp_time_metric(c->model->regions[c->model->cnodes[cnode].region].name);
}

static bool uses_openmp(const struct converter *c) {
    for (size_t i = 0; i < c->model->n_regions; i++)
        if (lc_omp_is_construct(c->model->regions[i].name))
            return true;
    return false;
}

/* Is it `metric`, or a part of it? */
static bool belongs(const char *part, const char *metric) {
    char up[LC_METRIC_NAME];
    while (part != NULL && strcmp(part, metric) != 0)
        part = lc_metrics_parent(part, up) ? up : NULL;
    return part != NULL;
}

static enum lc_err write_omp_times(struct converter *c) {
    for (size_t m = 0; uses_openmp(c) && m < N_OMP_TIMES; m++) {
        LC_TRY(lc_cubex_writer_metric(c->writer, lc_model_find_metric(c->model, omp_times[m])));
        for (uint32_t cnode = 0; cnode < c->tree.n_cnodes; cnode++) {
            if (m != 0 && !belongs(omp_time_of(c, cnode), omp_times[m]))
                continue;
            memset(c->columns, 0, c->system.n_columns * sizeof c->columns[0]);
            for (size_t i = c->first_row[cnode]; i < c->first_row[cnode + 1]; i++)
                c->columns[c->system.column_of[c->rows[i]->location]] += lc_rule_time_s(c->rows[i]);
            LC_TRY(lc_cubex_writer_row(c->writer, cnode, c->columns));
        }
    }
    return LC_OK;
}

static bool is_rule(const char *name) {
    for (size_t i = 0; lc_rules[i].metric != NULL; i++)
        if (strcmp(lc_rules[i].metric, name) == 0)
            return true;
    return false;
}

/* Metrics that the library measured itself. */
static enum lc_err write_measured_metrics(struct converter *c) {
    for (uint32_t m = 0; m < c->model->n_metrics; m++) {
        const char *name = c->model->metrics[m].name;
        struct value_range range = values_of_metric(c, name);
        if (range.left == 0 || is_rule(name) || strcmp(name, "time") == 0)
            continue;
        LC_TRY(lc_cubex_writer_metric(c->writer, m));
        for (uint32_t cnode = 0; cnode < c->tree.n_cnodes; cnode++) {
            memset(c->columns, 0, c->system.n_columns * sizeof c->columns[0]);
            if (add_values(c, &range, cnode))
                LC_TRY(lc_cubex_writer_row(c->writer, cnode, c->columns));
        }
    }
    return LC_OK;
}

static enum lc_err add_metrics(struct converter *c) {
    uint32_t id;
    LC_TRY(lc_metrics_add(c->model, "time", &id));
    for (size_t i = 0; uses_openmp(c) && i < N_OMP_TIMES; i++)
        LC_TRY(lc_metrics_add(c->model, omp_times[i], &id));
    for (size_t i = 0; lc_rules[i].metric != NULL; i++)
        LC_TRY(lc_metrics_add(c->model, lc_rules[i].metric, &id));
    LC_TRY(lc_counter_table_metrics(&c->counters, c->model));
    if (c->sampled.n_samples > 0)
        LC_TRY(lc_metrics_add(c->model, "time_error", &id));
    for (size_t i = 0; lc_estimate_metrics[i] != NULL; i++)
        LC_TRY(lc_metrics_add(c->model, lc_estimate_metrics[i], &id));
    /* Also where they are zero. */
    for (size_t i = 0; c->defs->pop != NULL && i < LC_RAW_MEASURED; i++)
        LC_TRY(lc_metrics_add(c->model, lc_raw_measured[i], &id));
    for (size_t i = 0; i < c->n_values; i++) {
        if (i != 0 && c->values[i]->metric == c->values[i - 1]->metric)
            continue;
        const char *name = c->defs->names[c->values[i]->metric];
        enum lc_err err = lc_metrics_add(c->model, name, &id);
        if (err != LC_OK && err != LC_ERR_NOT_FOUND) /* tables such as blame are no metrics */
            return err;
    }
    return LC_OK;
}

/* One line per (call path, location, class, communicator's members and group); rows of a cnode are
 * in that order. */
static void print_classes(const struct converter *c, uint32_t cnode, const char *path, FILE *out) {
    size_t i = c->first_row[cnode], end = c->first_row[cnode + 1];
    while (i < end) {
        struct lc_raw_row sum = *c->rows[i];
        uint64_t bytes = sum.bytes_sent + sum.bytes_rcvd;
        for (i++; i < end && compare_rows(&c->rows[i], &c->rows[i - 1], (void *)(uintptr_t)c) == 0;
             i++) {
            const struct lc_raw_row *row = c->rows[i];
            sum.count += row->count;
            sum.sum_ns += row->sum_ns;
            sum.min_ns = row->min_ns < sum.min_ns ? row->min_ns : sum.min_ns;
            sum.max_ns = row->max_ns > sum.max_ns ? row->max_ns : sum.max_ns;
            bytes += row->bytes_sent + row->bytes_rcvd;
        }
        if (lc_rule_is_call(&sum))
            fprintf(out, "%s\t%u\t%u\t%llu\t%.9f\t%.9f\t%.9f\t%llu\t%u\t%u\n", path,
                    c->system.column_of[sum.location], sum.size_class,
                    (unsigned long long)sum.count, (double)sum.sum_ns * 1e-9,
                    (double)sum.min_ns * 1e-9, (double)sum.max_ns * 1e-9, (unsigned long long)bytes,
                    members_of(&sum), group_of(&sum));
    }
}

/* The table goes through a file, so that memory does not grow with it. */
static enum lc_err write_size_classes(struct converter *c, FILE *out) {
    fputs("callpath\tlocation\tclass\tcount\tsum_s\tmin_s\tmax_s\tbytes\tmembers\tgroup\n", out);
    for (uint32_t cnode = 0; cnode < c->tree.n_cnodes; cnode++) {
        if (c->tree.mpi_name[cnode] == LC_NONE || c->first_row[cnode] == c->first_row[cnode + 1])
            continue;
        char *path = lc_model_callpath(c->model, cnode);
        if (path == NULL)
            return lc_fail(LC_ERR_NOMEM, "memory: cannot make a call path");
        struct lc_strbuf cell = {0};
        lc_table_put(&cell, path);
        if (lc_strbuf_ok(&cell))
            print_classes(c, cnode, lc_strbuf_get(&cell), out);
        free(path);
        bool whole = lc_strbuf_ok(&cell);
        lc_strbuf_free(&cell);
        if (!whole)
            return lc_fail(LC_ERR_NOMEM, "memory: cannot make a call path");
    }
    long length = ftell(out);
    if (fflush(out) != 0 || ferror(out) || length <= 0)
        return lc_fail_errno(LC_ERR_IO, "size classes: cannot be written");
    void *map = mmap(NULL, (size_t)length, PROT_READ, MAP_PRIVATE, fileno(out), 0);
    if (map == MAP_FAILED)
        return lc_fail_errno(LC_ERR_IO, "size classes: cannot be read back");
    enum lc_err err = lc_cubex_writer_misc(c->writer, "size_classes.tsv", map, (size_t)length);
    munmap(map, (size_t)length);
    return err;
}

static enum lc_err write_size_table(struct converter *c, const char *cubex_path) {
    char *path;
    if (asprintf(&path, "%s.XXXXXX", cubex_path) < 0)
        return lc_fail(LC_ERR_NOMEM, "memory: cannot make a name");
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    free(path);
    FILE *out = fd < 0 ? NULL : fdopen(fd, "w+");
    if (out == NULL) {
        if (fd >= 0)
            close(fd);
        return lc_fail_errno(LC_ERR_IO, "size classes: cannot be written");
    }
    enum lc_err err = write_size_classes(c, out);
    fclose(out);
    return err;
}

static enum lc_err set_json(struct converter *c, const char *key, const json_t *object) {
    char *text = json_dumps(object, JSON_REAL_PRECISION(17));
    if (text == NULL)
        return lc_fail(LC_ERR_NOMEM, "memory: cannot write JSON");
    enum lc_err err = lc_model_set_attr(c->model, key, text);
    free(text);
    return err;
}

/* Loops of pop.iterations get the call paths that they are in, values `loop.<k>`; their outliers
 * those that took longer, `loop.<k>.<i>`. */
static enum lc_err name_loops(const struct converter *c, json_t *pop) {
    json_t *loops = json_object_get(pop, "iterations"), *loop;
    for (size_t i = 0; i < c->n_values && json_array_size(loops) > 0; i++) {
        const char *name = c->defs->names[c->values[i]->metric];
        size_t k;
        if (strncmp(name, "loop.", 5) != 0)
            continue;
        json_array_foreach(loops, k, loop) {
            if (json_integer_value(json_object_get(loop, "loop")) != atoll(name + 5))
                continue;
            char *path = lc_model_callpath(c->model, cnode_of_value(c, c->values[i]));
            if (path == NULL)
                return lc_fail(LC_ERR_NOMEM, "memory: cannot make a call path");
            const char *outlier = strchr(name + 5, '.');
            json_t *of = outlier == NULL ? loop
                                         : json_array_get(json_object_get(loop, "outliers"),
                                                          (size_t)atoll(outlier + 1));
            json_object_set_new(of, "callpath", lc_meta_string(path));
            free(path);
        }
    }
    return LC_OK;
}

/* pop.pairs becomes a member of its own, pairs.json: it may be long. */
static enum lc_err take_pairs(struct converter *c, json_t *pop) {
    const json_t *pairs = json_object_get(pop, "pairs");
    if (json_array_size(json_object_get(pairs, "rows")) > 0) {
        c->pairs = json_dumps(pairs, JSON_COMPACT | JSON_REAL_PRECISION(9));
        if (c->pairs == NULL)
            return lc_fail(LC_ERR_NOMEM, "memory: cannot write JSON");
    }
    json_object_del(pop, "pairs");
    return LC_OK;
}

/* Which programs there are, and for each rank which one: where there are several. */
static void describe_programs(const struct converter *c, json_t *meta) {
    const struct lc_programs *programs = &c->tree.programs;
    size_t n_ranks = c->model->n_processes;
    json_t *names = json_array(), *of = json_array();
    for (size_t i = 0; i < programs->n; i++)
        json_array_append_new(names, lc_meta_string(programs->names[i]));
    for (size_t p = 0; p < n_ranks; p++)
        json_array_append_new(of, json_null());
    for (size_t i = 0; i < c->defs->n_locations; i++)
        if (c->location_program[i] != 0)
            json_array_set_new(of, c->model->locations[c->system.column_of[i]].process,
                               json_integer((json_int_t)programs->of[c->location_program[i]]));
    if (programs->n > 1) {
        json_object_set(meta, "programs", names);
        json_object_set(meta, "program_of_rank", of);
    }
    json_decref(names);
    json_decref(of);
}

/* What the conversion itself found out, as keys of meta. */
static enum lc_err describe(struct converter *c, json_t *meta) {
    json_t *missing = json_array(), *no_lines = json_array();
    for (size_t i = 0; i < lc_symbols_modules(c->symbols); i++) {
        enum lc_module_state state;
        const char *path = lc_symbols_module(c->symbols, i, &state);
        if (*path == '\0')
            continue;
        if (state == LC_MODULE_NO_DEBUG)
            json_array_append_new(no_lines, lc_meta_string(path));
        else if (state != LC_MODULE_FULL)
            json_array_append_new(missing, lc_meta_string(path));
    }
    json_object_set_new(meta, "missing_symbols", missing);
    json_object_set_new(meta, "missing_lines", no_lines);
    if (lc_debug_server_gave_up())
        json_object_set_new(meta, "debuginfod_gave_up", json_true());
    describe_programs(c, meta);
    if (c->sampled.n_samples > 0)
        json_object_set_new(meta, "samples", json_integer((json_int_t)c->sampled.n_samples));
    json_object_set_new(meta, "unnamed_functions", json_integer((json_int_t)c->tree.n_unnamed));
    struct lc_strbuf text = {0};
    lc_minima_describe(c->minima, &text);
    json_t *estimates = json_loads(lc_strbuf_get(&text), 0, NULL);
    lc_strbuf_free(&text);
    if (estimates != NULL)
        json_object_set_new(meta, "estimates", estimates);
    LC_TRY(lc_model_set_attr(c->model, "Creator", "latecomer " LC_VERSION));
    json_t *pop = c->defs->pop == NULL ? NULL : json_loads(c->defs->pop, 0, NULL);
    lc_counter_table_sums(&c->counters, &c->tree, pop);
    enum lc_err err = pop == NULL ? LC_OK : name_loops(c, pop);
    if (err == LC_OK && pop != NULL)
        err = take_pairs(c, pop);
    const struct lc_blame_table table = {
        .defs = c->defs, .values = c->values, .n_values = c->n_values, .model = c->model};
    if (err == LC_OK && pop != NULL)
        err = lc_what_if_errors(pop, &c->sampled, &c->tree, &table);
    if (err == LC_OK && pop != NULL)
        err = set_json(c, "latecomer.pop", pop);
    json_decref(pop);
    return err;
}

/* Samples split the time of the program's code, not that of MPI or the OpenMP runtime. */
static enum lc_err read_samples(struct converter *c) {
    bool *exact;
    LC_TRY(lc_alloc(&exact, c->defs->n_nodes + 1, sizeof exact[0]));
    for (size_t i = 0; i < c->defs->n_nodes; i++) {
        const struct lc_raw_node *node = &c->defs->nodes[i];
        exact[i] =
            node->kind == LC_RAW_FRAME || node->kind == LC_RAW_SCRIPT ||
            (node->kind == LC_RAW_REGION && lc_omp_time_metric(c->defs->names[node->ref]) == NULL);
    }
    enum lc_err err = lc_sampled_read(&c->sampled, c->file, exact);
    free(exact);
    return err;
}

static enum lc_err read_counters(struct converter *c) {
    json_t *pop = c->defs->pop == NULL ? NULL : json_loads(c->defs->pop, 0, NULL);
    enum lc_err err =
        lc_counter_table_read(&c->counters, c->file, &c->tree, c->system.column_of, pop);
    json_decref(pop);
    return err;
}

static enum lc_err prepare(struct converter *c, const struct lc_conversion *job) {
    c->file = job->raw;
    c->defs = lc_raw_file_defs(job->raw);
    LC_TRY(lc_model_new(&c->model));
    LC_TRY(lc_symbols_new(&c->symbols));
    LC_TRY(read_samples(c));
    LC_TRY(lc_tree_build(&c->tree, c->defs, c->sampled.samples, c->symbols, c->model));
    LC_TRY(lc_system_build(&c->system, c->defs, job->ranks, &job->hosts, c->model, job->meta));
    LC_TRY(lc_minima_new(&c->minima, c->defs));
    LC_TRY(lc_alloc(&c->functions, c->defs->n_names + 1, sizeof c->functions[0]));
    for (size_t i = 0; i < c->defs->n_names; i++)
        c->functions[i] = *lc_mpi_find(c->defs->names[i]);
    LC_TRY(lc_alloc(&c->columns, c->system.n_columns + 1, sizeof c->columns[0]));
    LC_TRY(find_location_tops(c));
    LC_TRY(index_rows(c));
    LC_TRY(index_values(c));
    LC_TRY(read_counters(c));
    return add_metrics(c);
}

static enum lc_err write_tables(struct converter *c) {
    uint32_t *cnodes;
    LC_TRY(lc_alloc(&cnodes, c->n_values + 1, sizeof cnodes[0]));
    for (size_t i = 0; i < c->n_values; i++)
        cnodes[i] = cnode_of_value(c, c->values[i]);
    const struct lc_blame_table table = {c->defs, c->values, c->n_values,
                                         cnodes,  c->model,  c->symbols};
    enum lc_err err = lc_blame_table_write(&table, c->writer);
    if (err == LC_OK)
        err = lc_gain_table_write(&table, c->writer);
    if (err == LC_OK)
        err = lc_path_table_write(&table, c->writer);
    if (err == LC_OK)
        err = lc_sample_table_write(&c->sampled, &c->tree, &table, c->writer);
    if (err == LC_OK)
        err = lc_line_table_write(&c->sampled, &c->tree, c->file, &table, c->writer);
    free(cnodes);
    return err;
}

static enum lc_err write_all(struct converter *c, const struct lc_conversion *job) {
    LC_TRY(describe(c, job->meta));
    LC_TRY(lc_cubex_writer_open(&c->writer, job->path, c->model));
    LC_TRY(write_time(c));
    LC_TRY(write_omp_times(c));
    for (size_t i = 0; lc_rules[i].metric != NULL; i++)
        LC_TRY(write_rule(c, &lc_rules[i]));
    LC_TRY(write_estimates(c));
    LC_TRY(write_measured_metrics(c));
    if (c->sampled.n_samples > 0)
        LC_TRY(lc_time_errors_write(&c->sampled, &c->tree, c->model, c->system.column_of,
                                    c->columns, c->system.n_columns, c->writer));
    LC_TRY(
        lc_counter_table_write(&c->counters, c->model, c->columns, c->system.n_columns, c->writer));
    LC_TRY(write_tables(c));
    if (c->pairs != NULL)
        LC_TRY(lc_cubex_writer_misc(c->writer, "pairs.json", c->pairs, strlen(c->pairs)));
    return write_size_table(c, job->path);
}

/* What is known of the run, when all but that is written. */
static enum lc_err write_meta(struct converter *c, const struct lc_conversion *job) {
    json_t *own = json_object_get(job->meta, "start_and_end");
    if (own != NULL && job->begin_ns != 0)
        json_object_set_new(own, "result_s",
                            json_real((double)(lc_monotonic_raw_ns() - job->begin_ns) * 1e-9));
    return set_json(c, "latecomer.meta", job->meta);
}

enum lc_err lc_convert_profile(const struct lc_conversion *job) {
    struct converter c = {0};
    enum lc_err err = prepare(&c, job);
    if (err == LC_OK)
        err = write_all(&c, job);
    if (err == LC_OK)
        err = write_meta(&c, job);
    if (err == LC_OK)
        err = lc_cubex_writer_close(c.writer);
    else if (c.writer != NULL)
        lc_cubex_writer_abort(c.writer);
    free(c.location_top);
    free(c.location_program);
    free(c.rows);
    free(c.first_row);
    free(c.values);
    free(c.columns);
    free(c.functions);
    free(c.pairs);
    lc_minima_free(c.minima);
    lc_counter_table_free(&c.counters);
    lc_system_free(&c.system);
    lc_sampled_free(&c.sampled);
    lc_tree_free(&c.tree);
    lc_symbols_free(c.symbols);
    lc_model_free(c.model);
    return err;
}
