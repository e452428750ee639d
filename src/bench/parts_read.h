/* The parts of all ranks, read again: what lc_part_put() wrote. Records that are cut off at the end
 * of a file, and what contradicts another rank, are not there. */
#ifndef LC_BENCH_PARTS_READ_H
#define LC_BENCH_PARTS_READ_H

#include <stdbool.h>

#include "bench/parts.h"

struct lc_job_part { /* one rank's of one job */
    struct lc_part_job head;
    struct lc_part_end end;
    bool ended;
    int64_t *values; /* [n][LC_REP_COUNTERS + n_counters]: times on the corrected global clock */
    size_t n, room;
    struct lc_part_load *loads; /* [n_loads] */
    size_t *load_reps;          /* [n_loads] repetitions before each */
    size_t n_loads, loads_room, load_reps_room;
    struct lc_part_sample *samples; /* [n_samples] */
    size_t n_samples, samples_room;
};

/* Its repetition i < n. */
static inline const int64_t *lc_job_rep(const struct lc_job_part *part, size_t i) {
    return part->values + i * (LC_REP_COUNTERS + part->head.n_counters);
}

struct lc_fact {
    const char *section, *key, *value; /* in the memory of the rank's file */
    size_t job;                        /* number from 1, or 0: of all jobs */
};

struct lc_rank_part {
    struct lc_part_hello hello;
    struct lc_job_part *jobs;
    size_t n_jobs, jobs_room;
    struct lc_fact *facts;
    size_t n_facts, facts_room;
    char *data;
};

/* One rank's file. lc_rank_part_free(), also after a failure. LC_ERR_IO, LC_ERR_FORMAT,
 * LC_ERR_NOMEM. */
enum lc_err lc_rank_part_read(const char *file, struct lc_rank_part *part);
/* Frees what it holds, not the struct. */
void lc_rank_part_free(struct lc_rank_part *part);

#endif
