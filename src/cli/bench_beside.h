/* `latecomer bench --of EXPERIMENT`, `latecomer bench beside EXPERIMENT [RESULT..]`: operations
 * of a program beside the same measured alone, where all ranks arrive together: what is more is
 * arrival. docs/benchmarking.md. */
#ifndef LC_CLI_BENCH_BESIDE_H
#define LC_CLI_BENCH_BESIDE_H

#include <jansson.h>

#include "bench/fingerprint_text.h"
#include "cli/bench_start.h"

/* The operations in a result of `run` (FILE, DIR), those that took the most time first, each with
 * the fingerprint of its operation, size and communicator: from `results` (FILE or DIR each), or,
 * without any, measured now with the settings of `each`, in EXPERIMENT/bench unless these name a
 * directory. *table: the object, a new reference, which EXPERIMENT/beside.json holds, too, for
 * `show` and `report`; *code 1 where a measurement failed. LC_ERR_NOT_FOUND: no such operation;
 * LC_ERR_USAGE, and the errors of reading. */
enum lc_err lc_bench_beside(const char *experiment, char *const *results, size_t n_results,
                            const struct lc_bench_options *each, json_t **table, int *code);

/* Two lines for each call path. */
void lc_bench_beside_text(const json_t *table, const struct lc_bench_page *page);

#endif
