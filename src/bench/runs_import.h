/* Run times measured elsewhere: `latecomer bench import`. */
#ifndef LC_BENCH_RUNS_IMPORT_H
#define LC_BENCH_RUNS_IMPORT_H

#include <stddef.h>

#include "base/err.h"

struct lc_imported {
    double *runs; /* ns, one per repetition: the largest of all ranks; free() */
    size_t n;
    unsigned ranks;      /* 1 where the file has no ranks */
    char operation[128]; /* "" if the file does not say */
    unsigned long long bytes;
};

/* A text with one number a line, ns; or a table with a line of names: iteration, rank, metric,
 * value, maybe operation and bytes before them, of which rows with the metric runtime_ns count;
 * counted_runtime_ns (bench/runs_csv.h) stands where a repetition has no run time.
 * Repetitions may stand in any order; all of them are of one operation and size. Or the raw
 * output of ReproMPI's mpibenchmark (test, nrep, msize, runtime_sec or the times of each process,
 * in s; those with an error code have no run time). LC_ERR_IO,
 * LC_ERR_FORMAT with file and line, LC_ERR_NOMEM. */
enum lc_err lc_runs_import(const char *file, struct lc_imported *imported);

#endif
