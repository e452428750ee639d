#include "bench/bench_collect.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/stats.h"
#include "base/strbuf.h"
#include "bench/bench_audit.h"
#include "bench/correlation.h"
#include "bench/runs_csv.h"

/* The clock is good enough if its error is below this part of the median run time. */
#define LC_CLOCK_SHARE 0.05

struct collector {
    struct lc_rank_part *parts;
    size_t n_parts;
    json_t *benchmark; /* borrowed */
    FILE *table;
    struct lc_collected *out;
};

struct one_job {
    const struct lc_job_part **part; /* [ranks] */
    uint32_t ranks;
    size_t n; /* repetitions that all ranks have */
    double *runs;
};

static const int64_t *row(const struct lc_job_part *part, size_t i) {
    return part->values + i * (2 + part->head.n_counters);
}

static double run_time(const struct one_job *job, size_t i) {
    int64_t first = INT64_MAX, last = INT64_MIN, local = 0;
    for (uint32_t r = 0; r < job->ranks; r++) {
        const int64_t *v = row(job->part[r], i);
        first = v[0] < first ? v[0] : first;
        last = v[1] > last ? v[1] : last;
        local = v[1] - v[0] > local ? v[1] - v[0] : local;
    }
    /* an operation that does nothing takes 0 ns of this clock: less than it can tell */
    return fmax(1, (double)(job->part[0]->head.global ? last - first : local));
}

/* Object `section` of all facts of rank 0 that belong to it. */
static json_t *facts_of(const struct collector *c, const char *section) {
    json_t *object = json_object();
    const struct lc_rank_part *root = &c->parts[0];
    for (size_t i = 0; i < root->n_facts; i++)
        if (strcmp(root->facts[i].section, section) == 0)
            json_object_set_new(object, root->facts[i].key, json_string(root->facts[i].value));
    return object;
}

static json_t *nodes_json(const struct collector *c) {
    json_t *nodes = json_array();
    for (size_t r = 0; r < c->n_parts; r++) {
        const char *name = c->parts[r].hello.node;
        json_t *node = NULL;
        for (size_t i = 0; i < json_array_size(nodes) && node == NULL; i++) {
            json_t *other = json_array_get(nodes, i);
            if (strcmp(json_string_value(json_object_get(other, "name")), name) == 0)
                node = other;
        }
        if (node == NULL) {
            node = json_pack("{s:s, s:[]}", "name", name, "ranks");
            json_array_append_new(nodes, node);
        }
        json_array_append_new(json_object_get(node, "ranks"), json_integer((json_int_t)r));
    }
    return nodes;
}

/* Tests with bent clocks: true error and its bound, per rank, as text. */
static void add_truth(const struct collector *c, json_t *clock) {
    json_t *list = json_array();
    for (size_t r = 0; r < c->n_parts; r++)
        for (size_t i = 0; i < c->parts[r].n_facts; i++)
            if (strcmp(c->parts[r].facts[i].section, "truth") == 0)
                json_array_append_new(list, json_string(c->parts[r].facts[i].value));
    if (json_array_size(list) > 0)
        json_object_set(clock, "truth_ns", list);
    json_decref(list);
}

static json_t *clock_json(const struct collector *c, const struct one_job *job, double *error) {
    json_t *clock = facts_of(c, "clock");
    double residual = 0, model_error = 0;
    *error = 0;
    for (uint32_t r = 0; r < job->ranks; r++) {
        *error = fmax(*error, job->part[r]->end.error_ns);
        residual = fmax(residual, fabs(job->part[r]->end.residual_ns));
        model_error = fmax(model_error, job->part[r]->end.model_error_ns);
    }
    json_object_set_new(clock, "error_ns", json_real(*error));
    json_object_set_new(clock, "residual_ns", json_real(residual));
    json_object_set_new(clock, "model_error_ns", json_real(model_error));
    add_truth(c, clock);
    return clock;
}

static json_t *benchmark_json(const struct collector *c, const struct one_job *job) {
    json_t *b = json_deep_copy(c->benchmark);
    const struct lc_part_job *head = &job->part[0]->head;
    const struct lc_part_end *end = &job->part[0]->end;
    json_t *missing = facts_of(c, "missing"), *more = facts_of(c, "benchmark");
    json_object_update(b, more);
    json_object_set_new(b, "sync", json_string(head->sync));
    json_object_set_new(b, "run_time", json_string(head->global ? "global" : "local"));
    json_object_set_new(b, "repetitions", json_integer((json_int_t)job->n));
    json_object_set_new(b, "invalid", json_integer((json_int_t)end->invalid));
    json_object_set_new(b, "stopped",
                        json_string(job->part[0]->ended ? end->stopped : "the job died"));
    json_object_set_new(b, "broadcast_ns", json_real(end->broadcast_ns));
    if (end->window_ns > 0)
        json_object_set_new(b, "window_ns", json_real(end->window_ns));
    json_object_set_new(b, "missing", missing);
    json_decref(more);
    return b;
}

/* Each rank's own run times, and how often it left last. */
static enum lc_err per_rank_json(const struct collector *c, const struct one_job *job,
                                 json_t *list) {
    double *own;
    LC_TRY(lc_alloc(&own, job->n, sizeof own[0]));
    for (uint32_t r = 0; r < job->ranks; r++) {
        size_t last = 0;
        for (size_t i = 0; i < job->n; i++) {
            bool latest = true;
            own[i] = (double)(row(job->part[r], i)[1] - row(job->part[r], i)[0]);
            for (uint32_t o = 0; o < job->ranks && latest; o++)
                latest = row(job->part[o], i)[1] <= row(job->part[r], i)[1];
            last += latest;
        }
        lc_stats_sort(own, job->n);
        json_array_append_new(
            list,
            json_pack("{s:f, s:f, s:f, s:f, s:f, s:s}", "median_ns",
                      lc_stats_quantile_sorted(own, job->n, 0.5), "min_ns", own[0], "q95_ns",
                      lc_stats_quantile_sorted(own, job->n, 0.95), "max_ns", own[job->n - 1],
                      "last_share", (double)last / (double)job->n, "cpus", c->parts[r].hello.cpus));
    }
    free(own);
    return LC_OK;
}

static json_t *number_or_null(double value) {
    return isnan(value) ? json_null() : json_real(value);
}

/* The place of the counter that numbers blocks, or UINT32_MAX. */
static uint32_t audit_place(const struct one_job *job) {
    const struct lc_part_job *head = &job->part[0]->head;
    for (uint32_t c = 0; c < head->n_counters; c++)
        if (strcmp(head->counter[c], LC_AUDIT_COUNTER) == 0)
            return c;
    return UINT32_MAX;
}

static bool was_counted(const struct one_job *job, uint32_t audit, size_t i) {
    return audit == UINT32_MAX || lc_audit_counted(row(job->part[0], i)[2 + audit]);
}

static enum lc_err add_audit(const struct one_job *job, json_t *benchmark) {
    uint32_t place = audit_place(job);
    int64_t *blocks;
    json_t *audit;
    if (place == UINT32_MAX)
        return LC_OK;
    LC_TRY(lc_alloc(&blocks, job->n, sizeof blocks[0]));
    for (size_t i = 0; i < job->n; i++)
        blocks[i] = row(job->part[0], i)[2 + place];
    enum lc_err err = lc_bench_audit(job->runs, blocks, job->n, &audit);
    free(blocks);
    if (err == LC_OK)
        json_object_set_new(benchmark, "audit", audit);
    return err;
}

/* Of one counter (values per repetition), over all repetitions that it was read in, and per
 * category. */
static enum lc_err correlate(const struct one_job *job, const struct lc_fingerprint *f,
                             const double *values, double *x, double *y, json_t *counter) {
    uint32_t audit = audit_place(job);
    json_t *pearson = json_object(), *spearman = json_object();
    json_object_set_new(counter, "pearson", pearson);
    json_object_set_new(counter, "spearman", spearman);
    for (int category = -1; category < LC_CATEGORIES; category++) {
        struct lc_correlation result;
        size_t n = 0;
        for (size_t i = 0; i < f->n; i++)
            if ((category < 0 || f->category[i] == category) && was_counted(job, audit, i)) {
                x[n] = values[i];
                y[n++] = f->runs[i];
            }
        LC_TRY(lc_correlate(x, y, n, &result));
        const char *key = category < 0 ? "all" : lc_category_name((enum lc_category)category);
        json_object_set_new(pearson, key, number_or_null(result.pearson));
        json_object_set_new(spearman, key, number_or_null(result.spearman));
    }
    return LC_OK;
}

static enum lc_err counters_json(const struct one_job *job, const struct lc_fingerprint *f,
                                 json_t *counters) {
    double *memory;
    LC_TRY(lc_alloc(&memory, 3 * job->n, sizeof memory[0]));
    enum lc_err err = LC_OK;
    for (uint32_t c = 0; c < job->part[0]->head.n_counters && err == LC_OK; c++) {
        const char *name = job->part[0]->head.counter[c];
        if (c == audit_place(job)) /* is no counter */
            continue;
        bool largest = strstr(name, "gap") != NULL; /* others are added up over ranks */
        double total = 0;
        json_t *counter = json_object(), *list = json_array();
        for (size_t i = 0; i < job->n; i++) {
            double value = 0;
            for (uint32_t r = 0; r < job->ranks; r++) {
                double own = (double)row(job->part[r], i)[2 + c];
                value = largest ? fmax(value, own) : value + own;
            }
            memory[i] = value;
            total += value;
            json_array_append_new(list, json_real(value));
        }
        json_object_set_new(counter, "total", json_real(total));
        json_object_set_new(counter, "over_ranks", json_string(largest ? "largest" : "sum"));
        json_object_set_new(counter, "values", list);
        err = correlate(job, f, memory, memory + job->n, memory + 2 * job->n, counter);
        json_object_set_new(counters, name, counter);
    }
    free(memory);
    return err;
}

static void add_warnings(const struct collector *c, const struct one_job *job, double clock_error,
                         const struct lc_fingerprint *f, json_t *warnings) {
    const char *wanted = json_string_value(json_object_get(c->benchmark, "sync_wanted"));
    json_t *facts = facts_of(c, "warning");
    const char *key;
    json_t *value;
    json_object_foreach(facts, key, value) json_array_append_new(warnings, json_string(key));
    json_decref(facts);
    if (wanted != NULL && strcmp(wanted, job->part[0]->head.sync) != 0)
        json_array_append_new(warnings,
                              json_sprintf("%s did not work (nearly all repetitions began late): "
                                           "synchronised by %s",
                                           wanted, job->part[0]->head.sync));
    if (clock_error > LC_CLOCK_SHARE * f->median.value && job->part[0]->head.global)
        json_array_append_new(
            warnings, json_sprintf("the global clock is known to %.3g us only", clock_error / 1e3));
    if (!job->part[0]->ended)
        json_array_append_new(warnings, json_string("the job died: what was measured until then"));
}

static enum lc_err make_job(struct collector *c, struct one_job *job) {
    struct lc_fingerprint *f;
    double clock_error;
    LC_TRY(lc_alloc(&job->runs, job->n, sizeof job->runs[0]));
    for (size_t i = 0; i < job->n; i++)
        job->runs[i] = run_time(job, i);
    json_t *mpi = facts_of(c, "mpi"), *ranks = json_array(), *counters = json_object(),
           *warnings = json_array();
    json_object_set_new(mpi, "parameters", facts_of(c, "parameters"));
    json_t *about = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "nodes", nodes_json(c),
                              "machine", facts_of(c, "machine"), "mpi", mpi, "benchmark",
                              benchmark_json(c, job), "clock", clock_json(c, job, &clock_error),
                              "per_rank", ranks, "counters", counters, "warnings", warnings);
    LC_TRY(lc_fingerprint_new(&f, job->part[0]->head.operation, job->part[0]->head.bytes,
                              job->ranks, job->runs, job->n, about));
    enum lc_err err = lc_grow(&c->out->all, &c->out->room, c->out->n + 1, sizeof c->out->all[0]);
    if (err != LC_OK) {
        lc_fingerprint_free(f);
        return err;
    }
    c->out->all[c->out->n++] = f;
    add_warnings(c, job, clock_error, f, warnings);
    LC_TRY(add_audit(job, json_object_get(f->about, "benchmark")));
    LC_TRY(per_rank_json(c, job, ranks));
    LC_TRY(counters_json(job, f, counters));
    return lc_runs_csv_job(c->table, f, job->part);
}

/* The same job of all ranks; *n: repetitions that all have. False: some rank has another one. */
static bool join(const struct collector *c, size_t number, struct one_job *job) {
    job->n = SIZE_MAX;
    for (size_t r = 0; r < c->n_parts; r++) {
        const struct lc_rank_part *p = &c->parts[r];
        if (number >= p->n_jobs)
            return false;
        const struct lc_job_part *part = &p->jobs[number], *root = &c->parts[0].jobs[number];
        if (part->head.bytes != root->head.bytes || part->head.n_counters > root->head.n_counters ||
            strcmp(part->head.operation, root->head.operation) != 0)
            return false;
        job->part[r] = part;
        job->n = part->n < job->n ? part->n : job->n;
        if (part->head.n_counters < root->head.n_counters)
            return false;
    }
    return job->n > 0;
}

static enum lc_err make_all(struct collector *c) {
    struct one_job job = {.ranks = (uint32_t)c->n_parts};
    LC_TRY(lc_alloc(&job.part, c->n_parts, sizeof(void *)));
    enum lc_err err = LC_OK;
    c->out->complete = c->parts[0].n_jobs > 0;
    for (size_t j = 0; j < c->parts[0].n_jobs && err == LC_OK; j++) {
        const struct lc_job_part *root = &c->parts[0].jobs[j];
        bool begun_again = !root->ended && j + 1 < c->parts[0].n_jobs;
        if (begun_again) /* with another synchronisation */
            continue;
        c->out->complete =
            c->out->complete && root->ended && strcmp(root->end.stopped, "interrupted") != 0;
        if (join(c, j, &job))
            err = make_job(c, &job);
    }
    free(job.part);
    if (err == LC_OK && c->out->n == 0)
        err = lc_fail(LC_ERR_NOT_FOUND, "bench: no repetition was measured");
    return err;
}

static enum lc_err read_parts(struct collector *c, const char *directory) {
    struct lc_strbuf file = {0};
    uint32_t size = 1;
    size_t room = 0;
    enum lc_err err = LC_OK;
    for (uint32_t r = 0; r < size && err == LC_OK; r++) {
        lc_strbuf_clear(&file);
        lc_strbuf_printf(&file, "%s/parts/rank-%u", directory, r);
        err = lc_grow(&c->parts, &room, r + 1, sizeof c->parts[0]);
        if (err != LC_OK)
            break;
        c->n_parts = r + 1;
        err = lc_rank_part_read(lc_strbuf_get(&file), &c->parts[r]);
        if (err == LC_OK && r == 0)
            size = c->parts[0].hello.size;
        if (err == LC_OK && (c->parts[r].hello.rank != r || c->parts[r].hello.size != size))
            err = lc_fail(LC_ERR_FORMAT, "bench: %s: belongs to another rank or job",
                          lc_strbuf_get(&file));
    }
    lc_strbuf_free(&file);
    return err;
}

enum lc_err lc_bench_collect(const char *directory, json_t *benchmark, struct lc_collected *out) {
    *out = (struct lc_collected){0};
    struct collector c = {.benchmark = benchmark, .out = out};
    struct lc_strbuf table = {0};
    lc_strbuf_printf(&table, "%s/runs.csv.zst", directory);
    enum lc_err err = read_parts(&c, directory);
    if (err == LC_OK)
        err = lc_runs_csv_begin(lc_strbuf_get(&table), &c.table);
    if (err == LC_OK)
        err = make_all(&c);
    if (c.table != NULL) {
        enum lc_err closed = lc_runs_csv_end(lc_strbuf_get(&table), c.table);
        err = err != LC_OK ? err : closed;
    }
    for (size_t r = 0; r < c.n_parts; r++)
        lc_rank_part_free(&c.parts[r]);
    free(c.parts);
    lc_strbuf_free(&table);
    return err;
}

void lc_collected_free(struct lc_collected *c) {
    for (size_t i = 0; i < c->n; i++)
        lc_fingerprint_free(c->all[i]);
    free(c->all);
    *c = (struct lc_collected){0};
}
