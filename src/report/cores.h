/* Had the threads of the run cores enough? From what `meta` says. */
#ifndef LC_REPORT_CORES_H
#define LC_REPORT_CORES_H

#include <jansson.h>

#include "report/view.h"

/* Threads that a rank computes with, measured or not; 1 if nothing is known. */
double lc_cores_threads_of(const json_t *meta, size_t rank);

/* The rank that has fewest of the cores that its threads need, LC_NONE: none lacks any, or
 * nothing is known; `cores`: how many it may use. */
uint32_t lc_cores_narrow(const json_t *meta, double *cores);
/* The rank that has fewest of the cores that its threads need, where it is bound: where it may use
 * fewer than a node has. LC_NONE: there is none, or nothing is known; `cores`: how many it may
 * use. */
uint32_t lc_cores_bound_narrowly(const json_t *meta, double *cores);

/* More ranks and threads than cores (0: not known how many)? */
bool lc_cores_oversubscribed(const struct lc_view *view, const json_t *meta, double *cores);

/* How many threads compute, measured or not, and on how many cores, where these are fewer and some
 * of the threads are not measured; false: not so, or not known. */
bool lc_cores_crowded(const struct lc_view *view, const json_t *meta, double *threads,
                      double *cores);

#endif
