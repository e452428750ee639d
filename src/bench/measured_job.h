/* One job of all ranks, from their parts: its repetitions in the order of time. Those whose run
 * time counts are apart from those around which counters were read. */
#ifndef LC_BENCH_MEASURED_JOB_H
#define LC_BENCH_MEASURED_JOB_H

#include "bench/fingerprint.h"
#include "bench/parts_read.h"
#include "bench/perturbation.h"

struct lc_measured_job {
    const struct lc_job_part **part; /* [ranks], borrowed */
    uint32_t ranks;
    size_t number; /* from 1: of all jobs */
    size_t n;      /* repetitions that all ranks have */
    size_t *runs;  /* [n_runs] which of them count, ascending */
    size_t n_runs;
    size_t *counted; /* [series.n] which of them have counters that are read, ascending */
    struct lc_counted_series series;
};

/* Sorts the n repetitions of `part`; everything else is made here. lc_measured_job_end().
 * LC_ERR_NOMEM. */
enum lc_err lc_measured_job_begin(struct lc_measured_job *job);
/* Frees what lc_measured_job_begin() made. */
void lc_measured_job_end(struct lc_measured_job *job);

struct lc_rep_times { /* ns on the global clock */
    int64_t first_start, last_start, last_end;
    int64_t longest;    /* of the ranks' own times */
    uint32_t last_rank; /* that left last */
};

/* Of repetition i < n. */
struct lc_rep_times lc_measured_job_times(const struct lc_measured_job *job, size_t i);

/* Its run time, in ns, 1 at least: an operation that does nothing takes less than this clock can
 * tell. */
double lc_measured_job_time(const struct lc_measured_job *job, size_t i);

/* What the fingerprint says of each repetition that counts, and of starting them: the key "each" of
 * `about`, and some of its "benchmark". LC_ERR_NOMEM. */
enum lc_err lc_measured_job_each(const struct lc_measured_job *job, json_t *about);

/* What the fingerprint says about repetitions with counters, and of each counter:
 * docs/definitions/micro-benchmark.md, section 3. f: of the run times of this job. New keys of
 * `about`. LC_ERR_NOMEM. */
enum lc_err lc_measured_job_counters(const struct lc_measured_job *job,
                                     const struct lc_fingerprint *f, json_t *about);

#endif
