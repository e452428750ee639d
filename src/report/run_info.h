/* What a result says about the run as a whole: the objects `meta` and `pop` of the JSON. */
#ifndef LC_REPORT_RUN_INFO_H
#define LC_REPORT_RUN_INFO_H

#include "report/view.h"

struct json_t;
struct lc_sums;

/* The attribute `latecomer.meta` as an object; what is missing there is taken from the definitions
 * (files of other tools). The caller gives it back with json_decref. Errors: LC_ERR_FORMAT. */
enum lc_err lc_json_meta(const struct lc_view *view, struct json_t **meta);
/* The attribute `latecomer.pop`, or NULL where there is none; to be given back as well. Errors:
 * LC_ERR_FORMAT. */
enum lc_err lc_json_pop(const struct lc_view *view, struct json_t **pop);

/* The run time T in seconds: `elapsed_s` of `pop` (NULL: none), else the time of the location that
 * lived longest. */
double lc_run_elapsed(const struct json_t *pop, const struct lc_view *view,
                      const struct lc_sums *sums);

/* Seconds that the tool took in calls that only asked while the rank waited (`overhead`: of
 * `meta`): it asked less often, and nobody lost them. Of calls that were counted only, which cost
 * less, as many as can be are taken for such ones. */
double lc_run_idle_overhead(const struct json_t *overhead, const struct lc_sums *sums);

/* Processes that the run started with MPI_Comm_spawn: they are in no result of this
 * MPI_COMM_WORLD. */
double lc_run_spawned(const struct json_t *meta);

#endif
