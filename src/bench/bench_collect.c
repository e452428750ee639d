#include "bench/bench_collect.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/stats.h"
#include "base/strbuf.h"
#include "bench/interference.h"
#include "bench/runs_csv.h"

/* The clock is good enough if its error, and what it was off, are below this part of the median. */
#define LC_CLOCK_SHARE 0.05

struct collector {
    struct lc_rank_part *parts;
    size_t n_parts;
    json_t *benchmark; /* borrowed */
    const struct lc_code_names *names;
    FILE *table; /* NULL: it cannot be written */
    struct lc_collected *out;
};

/* Object `section` of all facts of a rank that belong to it; of job `number` (from 1) or of all. */
static json_t *facts_in(const struct lc_rank_part *part, const char *section, size_t number) {
    json_t *object = json_object();
    for (size_t i = 0; i < part->n_facts; i++) {
        const struct lc_fact *f = &part->facts[i];
        if (strcmp(f->section, section) == 0 && (f->job == 0 || f->job == number))
            json_object_set_new(object, f->key, json_string(f->value));
    }
    return object;
}

/* The same of rank 0, of no job. */
static json_t *facts_of(const struct collector *c, const char *section) {
    return facts_in(&c->parts[0], section, 0);
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
            node = json_pack("{s:s, s:[], s:o, s:o}", "name", name, "ranks", "machine",
                             facts_in(&c->parts[r], "machine", 0), "libraries",
                             facts_in(&c->parts[r], "libraries", 0));
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

static json_t *clock_json(const struct collector *c, const struct lc_measured_job *job,
                          double *error) {
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

static json_t *benchmark_json(const struct collector *c, const struct lc_measured_job *job) {
    json_t *b = json_deep_copy(c->benchmark);
    const struct lc_part_job *head = &job->part[0]->head;
    const struct lc_part_end *end = &job->part[0]->end;
    json_t *missing = facts_of(c, "missing"),
           *more = facts_in(&c->parts[0], "benchmark", job->number);
    json_object_update(b, more);
    json_object_set_new(b, "sync", json_string(head->sync));
    if (job->part[0]->ended && end->ended_ns > end->begun_ns)
        json_object_set_new(b, "job_s", json_real((end->ended_ns - end->begun_ns) * 1e-9));
    json_object_set_new(b, "run_time", json_string(head->global ? "global" : "local"));
    json_object_set_new(b, "repetitions", json_integer((json_int_t)job->n_runs));
    json_object_set_new(b, "invalid", json_integer((json_int_t)end->invalid));
    json_object_set_new(b, "late_first", json_integer((json_int_t)end->late_first));
    json_object_set_new(b, "stopped",
                        json_string(job->part[0]->ended ? end->stopped : "the job died"));
    json_object_set_new(b, "broadcast_ns", json_real(end->broadcast_ns));
    if (end->window_ns > 0)
        json_object_set_new(b, "window_ns", json_real(end->window_ns));
    json_object_set_new(b, "missing", missing);
    json_decref(more);
    return b;
}

/* Each rank's own run times, and how often it left last; of repetitions whose run time counts. */
static enum lc_err per_rank_json(const struct collector *c, const struct lc_measured_job *job,
                                 json_t *list) {
    double *own;
    LC_TRY(lc_alloc(&own, job->n_runs, sizeof own[0]));
    for (uint32_t r = 0; r < job->ranks; r++) {
        size_t last = 0, n = job->n_runs;
        for (size_t i = 0; i < n; i++) {
            const int64_t *v = lc_job_rep(job->part[r], job->runs[i]);
            bool latest = true;
            own[i] = (double)(v[LC_REP_END] - v[LC_REP_START]);
            for (uint32_t o = 0; o < job->ranks && latest; o++)
                latest = lc_job_rep(job->part[o], job->runs[i])[LC_REP_END] <= v[LC_REP_END];
            last += latest;
        }
        lc_stats_sort(own, n);
        json_array_append_new(
            list, json_pack("{s:f, s:f, s:f, s:f, s:f, s:s, s:o}", "median_ns",
                            lc_stats_quantile_sorted(own, n, 0.5), "min_ns", own[0], "q95_ns",
                            lc_stats_quantile_sorted(own, n, 0.95), "max_ns", own[n - 1],
                            "last_share", (double)last / (double)n, "cpus", c->parts[r].hello.cpus,
                            "placement", facts_in(&c->parts[r], "placement", 0)));
    }
    free(own);
    return LC_OK;
}

/* What makes probes wrong, of all ranks together; nothing where all is well. */
static void warn_of_probes(const struct lc_measured_job *job, json_t *warnings) {
    double unbalanced = 0, lost = 0, late = 0;
    for (uint32_t r = 0; r < job->ranks; r++) {
        const struct lc_probe_faults *faults = &job->part[r]->end.probes;
        unbalanced += (double)faults->unbalanced;
        lost += (double)faults->lost;
        late = fmax(late, (double)faults->late);
    }
    if (unbalanced > 0)
        json_array_append_new(
            warnings, json_sprintf("probes: %.0f starts or stops of timers without each other: "
                                   "times of these timers are wrong",
                                   unbalanced));
    if (lost > 0)
        json_array_append_new(warnings, json_sprintf("probes: %.0f records are lost: more threads "
                                                     "than there is memory for",
                                                     lost));
    if (late > 0)
        json_array_append_new(
            warnings, json_sprintf("probes of %.0f librar%s not measured: opened after the first "
                                   "job had begun; preload what is to be seen",
                                   late, late > 1 ? "ies" : "y"));
}

static void add_warnings(const struct collector *c, const struct lc_measured_job *job,
                         double clock_error, const struct lc_fingerprint *f, json_t *warnings) {
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
    double residual =
        json_number_value(json_object_get(json_object_get(f->about, "clock"), "residual_ns"));
    if (residual > LC_CLOCK_SHARE * f->median.value && job->part[0]->head.global)
        json_array_append_new(
            warnings, json_sprintf("the global clock was %.3g us off after the job (%.0f %% of the "
                                   "median): ranks began so far apart",
                                   residual / 1e3, 100 * residual / f->median.value));
    warn_of_probes(job, warnings);
    if (!job->part[0]->ended)
        json_array_append_new(warnings, json_string("the job died: what was measured until then"));
}

/* The part of the shorter of both that passes during the other: 1 where computing hides all of the
 * operation, 0 where one comes after the other (Intel MPI Benchmarks, IMB-NBC). */
static double overlap_share(double alone, double compute, double both) {
    return fmin(fmax((alone + compute - both) / fmin(alone, compute), 0), 1);
}

/* Of an overlap job, which computes as long as the operation took alone before. */
static void add_overlap(const struct lc_fingerprint *f) {
    json_t *b = json_object_get(f->about, "benchmark");
    const char *text = json_string_value(json_object_get(b, "overlap_compute_ns"));
    double compute = text != NULL ? strtod(text, NULL) : 0;
    if (!(compute > 0))
        return;
    json_object_set_new(b, "overlap_share",
                        json_real(overlap_share(compute, compute, f->median.value)));
    json_object_set_new(b, "overlap_share_ci",
                        json_pack("[f, f]", overlap_share(compute, compute, f->median.high),
                                  overlap_share(compute, compute, f->median.low)));
}

static enum lc_err make_fingerprint(struct collector *c, struct lc_measured_job *job) {
    struct lc_fingerprint *f;
    double clock_error, *runs;
    LC_TRY(lc_alloc(&runs, job->n_runs, sizeof runs[0]));
    for (size_t i = 0; i < job->n_runs; i++)
        runs[i] = lc_measured_job_time(job, job->runs[i]);
    json_t *mpi = facts_of(c, "mpi"), *ranks = json_array(), *warnings = json_array();
    json_object_set_new(mpi, "parameters", facts_of(c, "parameters"));
    json_object_set_new(mpi, "other_parameters", facts_of(c, "other_parameters"));
    json_t *about =
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "environment",
                  facts_of(c, "environment"), "nodes", nodes_json(c), "machine",
                  facts_of(c, "machine"), "mpi", mpi, "benchmark", benchmark_json(c, job), "clock",
                  clock_json(c, job, &clock_error), "per_rank", ranks, "warnings", warnings);
    LC_TRY(lc_fingerprint_new(&f, job->part[0]->head.operation, job->part[0]->head.bytes,
                              job->ranks, runs, job->n_runs, about));
    enum lc_err err = lc_grow(&c->out->all, &c->out->room, c->out->n + 1, sizeof c->out->all[0]);
    if (err != LC_OK) {
        lc_fingerprint_free(f);
        return err;
    }
    c->out->all[c->out->n++] = f;
    add_overlap(f);
    add_warnings(c, job, clock_error, f, warnings);
    LC_TRY(lc_interference_add(job, c->parts, f->about, warnings));
    LC_TRY(per_rank_json(c, job, ranks));
    LC_TRY(lc_measured_job_each(job, f->about));
    LC_TRY(lc_measured_job_counters(job, f, f->about));
    LC_TRY(lc_job_samples_add(job, c->parts, c->names, f->about));
    return c->table != NULL ? lc_runs_csv_job(c->table, f, job) : LC_OK;
}

static enum lc_err make_job(struct collector *c, struct lc_measured_job *job) {
    enum lc_err err = lc_measured_job_begin(job);
    if (err == LC_OK && job->n_runs > 0)
        err = make_fingerprint(c, job);
    lc_measured_job_end(job);
    return err;
}

/* The same job of all ranks; *n: repetitions that all have. False: some rank has another one. */
static bool join(const struct collector *c, size_t number, struct lc_measured_job *job) {
    job->n = SIZE_MAX;
    for (size_t r = 0; r < c->n_parts; r++) {
        const struct lc_rank_part *p = &c->parts[r];
        if (number >= p->n_jobs)
            return false;
        const struct lc_job_part *part = &p->jobs[number], *root = &c->parts[0].jobs[number];
        if (part->head.bytes != root->head.bytes ||
            part->head.n_counters != root->head.n_counters ||
            strcmp(part->head.operation, root->head.operation) != 0)
            return false;
        job->part[r] = part;
        job->n = part->n < job->n ? part->n : job->n;
    }
    return job->n > 0;
}

static enum lc_err make_all(struct collector *c) {
    struct lc_measured_job job = {.ranks = (uint32_t)c->n_parts};
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
        job.number = j + 1;
        if (join(c, j, &job))
            err = make_job(c, &job);
    }
    free(job.part);
    if (err == LC_OK && c->out->n == 0)
        err = lc_fail(LC_ERR_NOT_FOUND, "bench: no repetition was measured");
    return err;
}

/* The fingerprint of `empty` that was measured as another was; NULL: none. */
static const struct lc_fingerprint *empty_beside(const struct collector *c,
                                                 const struct lc_fingerprint *f) {
    for (size_t i = 0; i < c->out->n; i++) {
        const struct lc_fingerprint *e = c->out->all[i];
        if (strcmp(e->operation, "empty") == 0 && e->bytes == f->bytes && e != f &&
            json_equal(json_object_get(json_object_get(e->about, "benchmark"), "sync"),
                       json_object_get(json_object_get(f->about, "benchmark"), "sync")))
            return e;
    }
    return NULL;
}

/* Where it was asked for: the median without what the benchmark itself takes. */
static void subtract_empty(const struct collector *c) {
    if (!json_is_true(json_object_get(c->benchmark, "less_empty")))
        return;
    for (size_t i = 0; i < c->out->n; i++) {
        const struct lc_fingerprint *f = c->out->all[i], *e = empty_beside(c, f);
        if (e == NULL || strcmp(f->operation, "empty") == 0)
            continue;
        json_t *b = json_object_get(f->about, "benchmark");
        json_object_set_new(b, "empty_ns", json_real(e->median.value));
        json_object_set_new(b, "median_less_empty_ns",
                            json_real(f->median.value - e->median.value));
        json_object_set_new(
            b, "median_less_empty_ci_ns",
            json_pack("[f, f]", f->median.low - e->median.high, f->median.high - e->median.low));
    }
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

enum lc_err lc_bench_collect(const char *directory, json_t *benchmark,
                             const struct lc_code_names *names, struct lc_collected *out) {
    *out = (struct lc_collected){0};
    struct collector c = {.benchmark = benchmark, .names = names, .out = out};
    struct lc_strbuf table = {0};
    lc_strbuf_printf(&table, "%s/runs.csv.zst", directory);
    enum lc_err err = read_parts(&c, directory), written = LC_OK;
    if (err == LC_OK)
        written = lc_runs_csv_begin(lc_strbuf_get(&table), &c.table);
    if (err == LC_OK)
        err = make_all(&c);
    if (err == LC_OK)
        subtract_empty(&c);
    if (c.table != NULL)
        written = lc_runs_csv_end(lc_strbuf_get(&table), c.table);
    err = err != LC_OK ? err : written;
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
