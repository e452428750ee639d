/* runs.csv.zst, the long table `operation,bytes,iteration,rank,metric,value`: per rank runtime_ns,
 * start_ns and counters; with rank -1 global_ns, local_ns, skew_ns, last_rank and the metrics of
 * cumulative.h. */
#ifndef LC_BENCH_RUNS_CSV_H
#define LC_BENCH_RUNS_CSV_H

#include <stdio.h>

#include "bench/fingerprint.h"
#include "bench/parts_read.h"

/* Begins the table: *out is a stream that is compressed by Zstandard; closed by lc_runs_csv_end().
 * LC_ERR_IO. */
enum lc_err lc_runs_csv_begin(const char *file, FILE **out);
enum lc_err lc_runs_csv_end(const char *file, FILE *out); /* LC_ERR_IO */

/* All of one job, `part[rank]` of each rank with f->n repetitions at least. LC_ERR_NOMEM. */
enum lc_err lc_runs_csv_job(FILE *out, const struct lc_fingerprint *f,
                            const struct lc_job_part *const *part);

#endif
