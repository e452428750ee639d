/* What reading counters does to the run times they stand beside: `--audit` measures blocks of
 * repetitions with and without them (lc_audit_counted() of parts.h). */
#ifndef LC_BENCH_BENCH_AUDIT_H
#define LC_BENCH_BENCH_AUDIT_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* From run times (ns) and the block of each repetition: the relative change of the median by
 * counters with its 95 % interval, from pairs of neighbouring blocks: {"perturbation", "ci",
 * "with_ns", "without_ns", "pairs"}; *audit: a new reference. LC_ERR_NOMEM. */
enum lc_err lc_bench_audit(const double *runs, const int64_t *blocks, size_t n, json_t **audit);

#endif
