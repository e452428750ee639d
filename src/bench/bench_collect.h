/* From the parts that the ranks of the harness wrote to fingerprints and the long table. */
#ifndef LC_BENCH_BENCH_COLLECT_H
#define LC_BENCH_BENCH_COLLECT_H

#include <jansson.h>

#include "bench/fingerprint.h"
#include "bench/job_samples.h"

struct lc_collected {
    struct lc_fingerprint **all; /* one per job that has run times */
    size_t n, room;
    bool complete; /* every job ended as it should */
};

/* Reads DIR/parts, makes the fingerprints and writes DIR/runs.csv.zst. `benchmark` (borrowed): the
 * command's settings, part of each fingerprint. names: of code in samples, or NULL.
 * lc_collected_free(), also after a failure. LC_ERR_IO, LC_ERR_FORMAT, LC_ERR_NOT_FOUND: no run
 * times; LC_ERR_NOMEM. */
enum lc_err lc_bench_collect(const char *directory, json_t *benchmark,
                             const struct lc_code_names *names, struct lc_collected *c);
/* Frees what it holds, not the struct. */
void lc_collected_free(struct lc_collected *c);

#endif
