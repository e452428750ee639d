#include "bench/measured_job.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

double lc_measured_job_time(const struct lc_measured_job *job, size_t i) {
    int64_t first = INT64_MAX, last = INT64_MIN, local = 0;
    for (uint32_t r = 0; r < job->ranks; r++) {
        const int64_t *v = lc_job_rep(job->part[r], i);
        int64_t start = v[LC_REP_START], end = v[LC_REP_END];
        first = start < first ? start : first;
        last = end > last ? end : last;
        local = end - start > local ? end - start : local;
    }
    return fmax(1, (double)(job->part[0]->head.global ? last - first : local));
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
