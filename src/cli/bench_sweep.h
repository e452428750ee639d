/* `latecomer bench sweep OP --vary NAME=A,B ..`: variants of a benchmark, launched in rounds in
 * random order, ranked with confidence (bench/launches.h). */
#ifndef LC_CLI_BENCH_SWEEP_H
#define LC_CLI_BENCH_SWEEP_H

#include <jansson.h>

#include "bench/fingerprint_text.h"
#include "cli/sweep_variants.h"

/* Launches all of it and writes DIR/sweep.json; *result: that object, a new reference. A variant
 * that fails is left out with a line; after an interruption whole rounds count, and *code is 1.
 * LC_ERR_USAGE, LC_ERR_IO, LC_ERR_NOT_FOUND: nothing was measured. */
enum lc_err lc_bench_sweep(const struct lc_sweep_options *options, json_t **result, int *code);

/* The ranking of each operation and size. */
void lc_bench_sweep_text(const json_t *sweep, const struct lc_bench_page *page);

#endif
