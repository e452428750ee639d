/* Waiting of threads (docs/definitions/wait-states.md#26-other-paradigms): barriers, locks, idle
 * workers, taskwait; fork and join overhead. All threads of a process are on one analysis rank, so
 * nothing is exchanged. Called by waits.c. */
#ifndef LC_ANALYZE_OMP_H
#define LC_ANALYZE_OMP_H

#include "analyze/trace.h"

/* Finds the waits inside of teams of threads, and appends them to the locations. LC_ERR_NOMEM.
 * */
enum lc_err lc_omp_waits(struct lc_trace *trace);

#endif
