/* The directory of a micro-benchmark's result: bench.json (list of jobs), a fingerprint per job as
 * JSON and as a sheet (SVG), all run times of all ranks (runs.csv.zst). */
#ifndef LC_BENCH_BENCH_RESULT_H
#define LC_BENCH_BENCH_RESULT_H

#include "base/strbuf.h"
#include "bench/fingerprint.h"

/* Makes the directory `wanted`, or `wanted`-2, .. where it exists already and holds anything;
 * appends its name. LC_ERR_IO. */
enum lc_err lc_bench_directory(const char *wanted, struct lc_strbuf *directory);

/* The list of jobs, to be begun with NULL: adds a job and writes its files. LC_ERR_IO. */
enum lc_err lc_bench_add_job(const char *directory, const struct lc_fingerprint *f, json_t **jobs);

/* Adds what the result in DIRECTORY/PART lists to the list of DIRECTORY; nothing, if there is
 * none. */
void lc_bench_add_part(const char *part, json_t *jobs);

/* Writes bench.json; `complete` is false after an interruption. Takes the reference. LC_ERR_IO. */
enum lc_err lc_bench_end(const char *directory, json_t *jobs, bool complete);

/* The fingerprints of FILE or DIR, in the order of bench.json; the caller frees each and the array.
 * LC_ERR_NOT_FOUND, LC_ERR_FORMAT, LC_ERR_IO. */
enum lc_err lc_bench_read_all(const char *operand, struct lc_fingerprint ***all, size_t *n);

/* The text at a key, printable: tables of several launches are read from files, too. "?": there is
 * none. */
void lc_bench_put_text(const json_t *object, const char *key, struct lc_strbuf *out);

#endif
