/* Which kind of time the time of a region is: execution, of that MPI or OpenMP, of that
 * synchronisation, communication, management or file access, and so on. Used by write.c. */
#ifndef LC_ANALYZE_TIME_TREE_H
#define LC_ANALYZE_TIME_TREE_H

#include "analyze/trace.h"

enum { LC_TIME_DEPTH = 4 }; /* metrics that contain each other, at most */

/* Name of the innermost metric that the time of a region belongs to; static text. It belongs to the
 * parents of that metric as well. */
const char *lc_time_metric(const struct lc_an_region *region);

/* Names of all metrics of the tree, ended by NULL. */
extern const char *const lc_time_tree[];

#endif
