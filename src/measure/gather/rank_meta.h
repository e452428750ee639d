/* The library's part of meta.json: what each rank contributes, and the JSON text that rank 0 makes
 * of it. */
#ifndef LC_MEASURE_GATHER_RANK_META_H
#define LC_MEASURE_GATHER_RANK_META_H

#include <stdint.h>

#include "measure/core/core.h"
#include "measure/mpi/grid.h"
#include "measure/mpi/groups.h"

enum { LC_META_STEPS = 8 };

/* Call sites of one function that were measured with less detail to stay within the budget. */
struct lc_meta_step {
    uint32_t fn, detail; /* enum lc_fn, enum lc_detail */
    uint64_t sites;
};

struct lc_meta_rank {
    char host[64];
    char cpus[128]; /* binding, as "0-3,8" */
    uint64_t calls, lost;
    struct lc_path_counts paths;
    uint64_t region_errors, pcontrol_ignored, switches, in_callbacks, spawned;
    double cost_ns;    /* of one measured call: mean of samples, calibrated where there are none */
    double counted_ns; /* of one that is counted only, calibrated */
    double own_s;      /* of rare work between calls */
    double sampling_s; /* of which for samples of the code between events */
    double remade_s;   /* of which for call paths that had been forgotten */
    double ns_per_tick;
    int32_t pid, threads;
    int32_t required_level, provided_level;
    struct lc_meta_step steps[LC_META_STEPS];
    uint32_t n_steps, steps_left_out;
    uint32_t samples_rarer; /* by the budget: so many times, of the thread with most; 0: no */
    struct lc_grid grid;
    struct lc_groups groups;
    uint32_t tsc;
    uint32_t
        busy_threads; /* of the whole process, measured or not: have a tenth of the CPU time of the
                              busiest one; 0: unknown */
};

/* What this rank says about its run. */
void lc_meta_rank_fill(struct lc_meta_rank *own);
/* JSON of the run, from all n ranks; the caller frees it. NULL: no memory. */
char *lc_meta_text(const struct lc_meta_rank *all, int n);

#endif
