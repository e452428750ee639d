/* Other work beside the ranks while a job was measured ([Roth 2021], section 4.4). */
#ifndef LC_BENCH_INTERFERENCE_H
#define LC_BENCH_INTERFERENCE_H

#include "bench/measured_job.h"

/* What the fingerprint says of it: docs/definitions/micro-benchmark.md, section 3. Adds the key
 * "interference" to `about`, and lines to `warnings`. parts: [job->ranks]. LC_ERR_NOMEM. */
enum lc_err lc_interference_add(const struct lc_measured_job *job, const struct lc_rank_part *parts,
                                json_t *about, json_t *warnings);

/* Did a rank of the fingerprint, whose `about` that is, wait for a CPU in more than half of the
 * time? */
bool lc_interference_prevails(const json_t *about);

#endif
