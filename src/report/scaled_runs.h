/* Several runs beside each other: what is read of each, and what is computed over all of them.
 * Shared by the files of `scaling`. */
#ifndef LC_REPORT_SCALED_RUNS_H
#define LC_REPORT_SCALED_RUNS_H

#include <jansson.h>
#include <stdio.h>

#include "report/run_indicators.h"

struct lc_path_time {
    char *path, *shown; /* shown: short and printable */
    double own_s;       /* without what it calls, of all locations; start and end of MPI: none */
};

struct lc_scaled_run {
    char *file;
    json_t *pop, *meta;      /* pop: NULL: an analysis without factors */
    double ranks, executors; /* executors: threads of all ranks */
    double useful_s;         /* sum over all of them; NAN without factors, as what follows */
    double computational_scalability, global_efficiency;
    /* whose product the first one is; NAN: not counted */
    double ipc_scalability, instruction_scalability, frequency_scalability;
    struct lc_run_indicators indicators;
    struct lc_path_time *paths; /* by name */
    size_t n_paths;
};

struct lc_lost_path {
    const struct lc_path_time *path; /* of the run that has it */
    double first_s, last_s;          /* own time of all locations in the smallest and largest run */
    double lost_s;                   /* by which the largest takes more than it should */
    double share;                    /* of all that is lost, gains apart */
};

struct lc_lost { /* call paths that lost most between the smallest and the largest run */
    struct lc_lost_path *list; /* most first, those that gained last; n 0: no run is larger */
    size_t n;
    double lost_s; /* sum over all, gains subtracted */
};

struct lc_split {
    size_t *sizes;      /* ranks of each partition */
    double predicted_s; /* run time, from the nearest other run; NAN: there is no other */
    double measured_s;  /* mean of the runs with these sizes; NAN: none */
    size_t n_measured;
};

struct lc_sweep { /* sizes of the same partitions with the same number of ranks */
    const struct lc_scaled_run *first; /* its partitions give names and order */
    size_t n_parts, n_ranks;
    struct lc_split *splits; /* by size of the first, then the second, .. */
    size_t n, cap;
    size_t best; /* the split that takes least time, measured where it was measured */
};

struct lc_scaling {
    struct lc_scaled_run *runs;
    size_t n_runs, cap_runs;
    struct lc_lost lost;
    struct lc_sweep *sweeps;
    size_t n_sweeps;
};

/* Own times of call paths, into run->paths. Errors: LC_ERR_NOMEM. */
enum lc_err lc_scaling_read_paths(struct lc_scaled_run *run, struct lc_view *view,
                                  const struct lc_sums *sums);
/* Fills scaling->lost; weak: the work is meant to grow with the locations. LC_ERR_NOMEM. */
enum lc_err lc_scaling_find_lost(struct lc_scaling *scaling, bool weak);
/* Fills scaling->sweeps. LC_ERR_NOMEM. */
enum lc_err lc_scaling_sweep(struct lc_scaling *scaling);
/* Frees lost and sweeps, not the struct. */
void lc_scaling_free_computed(struct lc_scaling *scaling);
/* All of it as text. LC_ERR_NOMEM. */
enum lc_err lc_scaling_write_text(const struct lc_scaling *scaling, bool weak, FILE *out);

#endif
