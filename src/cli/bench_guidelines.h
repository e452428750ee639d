/* `latecomer bench guidelines [OP,..]`: is a collective slower than other operations that do the
 * same (its mock-ups)? [Träff et al. 2010]; docs/definitions/micro-benchmark.md. */
#ifndef LC_CLI_BENCH_GUIDELINES_H
#define LC_CLI_BENCH_GUIDELINES_H

#include <jansson.h>

#include "bench/fingerprint_text.h"
#include "cli/bench_start.h"

/* Launches each collective together with its mock-ups, in rounds, and writes DIR/guidelines.json;
 * *result: that object, a new reference. `each`: of one launch; operations NULL: all collectives;
 * `rounds` 0: default. What this MPI cannot do is left out with a line; after an interruption whole
 * rounds count, and *code is 1. LC_ERR_USAGE, LC_ERR_IO, LC_ERR_NOT_FOUND: nothing was measured. */
enum lc_err lc_bench_guidelines(const struct lc_bench_options *each, size_t rounds, json_t **result,
                                int *code);

/* Violations with their size, and how many guidelines hold. */
void lc_bench_guidelines_text(const json_t *guidelines, const struct lc_bench_page *page);

#endif
