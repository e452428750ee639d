#include "bench/measured_job.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/stats.h"

struct lc_rep_times lc_measured_job_times(const struct lc_measured_job *job, size_t i) {
    struct lc_rep_times t = {
        .first_start = INT64_MAX, .last_start = INT64_MIN, .last_end = INT64_MIN};
    for (uint32_t r = 0; r < job->ranks; r++) {
        const int64_t *v = lc_job_rep(job->part[r], i);
        int64_t start = v[LC_REP_START], end = v[LC_REP_END];
        t.first_start = start < t.first_start ? start : t.first_start;
        t.last_start = start > t.last_start ? start : t.last_start;
        t.last_rank = end > t.last_end ? r : t.last_rank;
        t.last_end = end > t.last_end ? end : t.last_end;
        t.longest = end - start > t.longest ? end - start : t.longest;
    }
    return t;
}

double lc_measured_job_time(const struct lc_measured_job *job, size_t i) {
    struct lc_rep_times t = lc_measured_job_times(job, i);
    return fmax(1, (double)(job->part[0]->head.global ? t.last_end - t.first_start : t.longest));
}

enum lc_err lc_measured_job_begin(struct lc_measured_job *job) {
    job->n_runs = 0;
    job->runs = job->counted = NULL;
    job->series = (struct lc_counted_series){.n = 0};
    enum lc_err err = lc_alloc(&job->runs, job->n, sizeof job->runs[0]);
    if (err == LC_OK)
        err = lc_alloc(&job->counted, job->n, sizeof job->counted[0]);
    if (err == LC_OK)
        err = lc_alloc(&job->series.runs, job->n, sizeof job->series.runs[0]);
    if (err == LC_OK)
        err = lc_alloc(&job->series.at, job->n, sizeof job->series.at[0]);
    for (size_t i = 0; i < job->n && err == LC_OK; i++)
        if (lc_job_rep(job->part[0], i)[LC_REP_COUNTED]) {
            job->counted[job->series.n] = i;
            job->series.at[job->series.n] = job->n_runs;
            job->series.runs[job->series.n++] = lc_measured_job_time(job, i);
        } else {
            job->runs[job->n_runs++] = i;
        }
    return err;
}

void lc_measured_job_end(struct lc_measured_job *job) {
    free(job->runs);
    free(job->counted);
    free(job->series.runs);
    free(job->series.at);
}

/* Sorts the values. */
static json_t *spread_json(double *values, size_t n) {
    if (n == 0)
        return json_null();
    lc_stats_sort(values, n);
    return json_pack("{s:f, s:f}", "median", lc_stats_quantile_sorted(values, n, 0.5), "q95",
                     lc_stats_quantile_sorted(values, n, 0.95));
}

/* From the start of one repetition to that of the next, whichever they are: those that were invalid
 * and done again between them are in it, but in few of them. */
static json_t *apart_json(const struct lc_measured_job *job, double *memory) {
    size_t n = 0;
    for (size_t i = 0; i + 1 < job->n; i++)
        memory[n++] = (double)(lc_measured_job_times(job, i + 1).first_start -
                               lc_measured_job_times(job, i).first_start);
    return spread_json(memory, n);
}

enum lc_err lc_measured_job_each(const struct lc_measured_job *job, json_t *about) {
    json_t *global = json_array(), *local = json_array(), *skew = json_array(),
           *last = json_array(), *benchmark = json_object_get(about, "benchmark");
    double *memory;
    json_object_set_new(about, "each",
                        json_pack("{s:o, s:o, s:o, s:o}", "global_ns", global, "local_ns", local,
                                  "skew_ns", skew, "last_rank", last));
    LC_TRY(lc_alloc(&memory, job->n, sizeof memory[0]));
    for (size_t i = 0; i < job->n_runs; i++) {
        struct lc_rep_times t = lc_measured_job_times(job, job->runs[i]);
        memory[i] = (double)(t.last_start - t.first_start);
        json_array_append_new(global, json_integer(t.last_end - t.first_start));
        json_array_append_new(local, json_integer(t.longest));
        json_array_append_new(skew, json_integer(t.last_start - t.first_start));
        json_array_append_new(last, json_integer(t.last_rank));
    }
    json_object_set_new(benchmark, "start_skew_ns", spread_json(memory, job->n_runs));
    json_object_set_new(benchmark, "start_to_start_ns", apart_json(job, memory));
    free(memory);
    return LC_OK;
}
