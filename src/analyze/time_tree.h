/* Which kind of time the time of a region is: execution, of that MPI or OpenMP, of that
 * synchronisation, communication, management or file access, and so on. Used by write.c. */
#ifndef LC_ANALYZE_TIME_TREE_H
#define LC_ANALYZE_TIME_TREE_H

#include "analyze/trace.h"

enum { LC_TIME_DEPTH = 4 }; /* metrics that contain each other, at most */

/* Names of the metrics that the time of a region belongs to, from `execution` down; the number of
 * them. */
size_t lc_time_metrics(const struct lc_an_region *region, const char *names[LC_TIME_DEPTH]);

/* All names that lc_time_metrics can give, ended by NULL. */
extern const char *const lc_time_tree[];

#endif
