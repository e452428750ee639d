/* Other work beside the ranks while a job was measured ([Roth 2021], section 4.4). */
#ifndef LC_BENCH_INTERFERENCE_H
#define LC_BENCH_INTERFERENCE_H

#include "bench/measured_job.h"

/* What the fingerprint says of it: docs/definitions/micro-benchmark.md, section 3. Adds the key
 * "interference" to `about`, and lines to `warnings`. */
void lc_interference_add(const struct lc_measured_job *job, json_t *about, json_t *warnings);

#endif
