/* runs.csv.zst, the long table `operation,bytes,iteration,rank,metric,value`: per rank runtime_ns,
 * start_ns and counters; with rank -1 global_ns, local_ns, skew_ns, last_rank and the metrics of
 * cumulative.h. Repetitions stand in the order of time; those around which counters were read have
 * counted_runtime_ns, counted_global_ns, counted_local_ns instead. */
#ifndef LC_BENCH_RUNS_CSV_H
#define LC_BENCH_RUNS_CSV_H

#include <stdio.h>

#include "bench/measured_job.h"

/* Begins the table: *out is a stream that is compressed by Zstandard; closed by lc_runs_csv_end().
 * LC_ERR_IO. */
enum lc_err lc_runs_csv_begin(const char *file, FILE **out);
enum lc_err lc_runs_csv_end(const char *file, FILE *out); /* LC_ERR_IO */

/* All repetitions of one job. f: its fingerprint. LC_ERR_NOMEM. */
enum lc_err lc_runs_csv_job(FILE *out, const struct lc_fingerprint *f,
                            const struct lc_measured_job *job);

#endif
