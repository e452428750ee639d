/* The fingerprint of one operation (MPI-MiBFi, [Roth 2021], section 4.7;
 * docs/definitions/micro-benchmark.md, section 3): what all of its forms show.
 *
 * Invariant: everything but `about` follows from runs[], and is computed again when a file is read:
 * no number of a file is believed but the run times. Made by `latecomer bench`, read by the writers
 * of its forms and by the comparison. */
#ifndef LC_BENCH_FINGERPRINT_H
#define LC_BENCH_FINGERPRINT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "bench/dependent.h"
#include "bench/modes.h"
#include "bench/patterns.h"
#include "bench/categories.h"

enum { LC_FINGERPRINT_QUANTILES = 7, LC_FINGERPRINT_BINS = 50 };
extern const int lc_fingerprint_percent[LC_FINGERPRINT_QUANTILES]; /* 1 5 25 50 75 95 99 */

struct lc_histogram {
    double low_ns, high_ns; /* of all bins, which have one width */
    size_t counts[LC_FINGERPRINT_BINS];
    size_t of[LC_FINGERPRINT_BINS][LC_CATEGORIES]; /* counts by category */
};

struct lc_fingerprint {
    char *operation;
    uint64_t bytes;
    uint32_t ranks;
    json_t *about; /* keys of the JSON that do not follow from the run times: nodes, machine, mpi,
                      benchmark, clock, per_rank, counters, counted, each, environment,
                      interference, samples, warnings */
    size_t n;
    double *runs; /* ns, > 0 */
    uint8_t *category;
    double *ascending;
    double mean;
    double quantiles[LC_FINGERPRINT_QUANTILES];
    struct lc_quantile_interval median, tail; /* 50 % and 95 % */
    struct lc_warmup warmup;
    struct {
        size_t count;
        double median; /* ns; 0 of none */
    } of[LC_CATEGORIES];
    struct lc_modes modes; /* without first and warm-up */
    size_t *change_points, n_change_points;
    struct lc_patterns patterns;
    struct {
        double low, q1, median, q3, high; /* whiskers: the last run within 1.5 quartile distances */
        size_t outside;
    } box;
    struct lc_histogram all, zoom; /* zoom: without outliers */
};

/* Takes runs[] (malloc'ed, n > 0, all finite and > 0) and a reference of `about` (may be NULL) also
 * if it fails; copies `operation`. lc_fingerprint_free(). LC_ERR_NOMEM, LC_ERR_FORMAT. */
enum lc_err lc_fingerprint_new(struct lc_fingerprint **made, const char *operation, uint64_t bytes,
                               uint32_t ranks, double *runs, size_t n, json_t *about);
/* Frees it with all it holds; NULL is allowed. */
void lc_fingerprint_free(struct lc_fingerprint *f);

/* The JSON object (a new reference); NULL without memory. */
json_t *lc_fingerprint_json(const struct lc_fingerprint *f);

/* From a file of that format, or a directory with just one in it; lc_fingerprint_free(). Errors:
 * LC_ERR_IO, LC_ERR_FORMAT. */
enum lc_err lc_fingerprint_read(const char *file, struct lc_fingerprint **made);

/* Writes an object to a file, first under another name; LC_ERR_IO. */
enum lc_err lc_bench_write_json(const json_t *object, const char *file);

#endif
