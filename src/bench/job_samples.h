/* Where the operation of a job spends its time, from the samples of all ranks: the key "samples" of
 * a fingerprint (docs/definitions/micro-benchmark.md, section 1). */
#ifndef LC_BENCH_JOB_SAMPLES_H
#define LC_BENCH_JOB_SAMPLES_H

#include "base/strbuf.h"
#include "bench/measured_job.h"

/* Who knows the names of code. */
struct lc_code_names {
    /* The function at an address of a file; false: it is not known. */
    bool (*function)(void *context, const char *file, uint64_t address, struct lc_strbuf *name);
    void *context;
};

/* New key of `about`, if there are samples. names: NULL: files are all there is.
 * LC_ERR_NOMEM. */
enum lc_err lc_job_samples_add(const struct lc_measured_job *job, const struct lc_rank_part *ranks,
                               const struct lc_code_names *names, json_t *about);

#endif
