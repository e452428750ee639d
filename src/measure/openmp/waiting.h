/* Waiting of a task in a barrier, taskwait or taskgroup: since when, and what its thread did
 * meanwhile. Called by the callbacks of these constructs (team.c, tasks.c). */
#ifndef LC_MEASURE_OPENMP_WAITING_H
#define LC_MEASURE_OPENMP_WAITING_H

#include "measure/openmp/omp_thread.h"

/* The task that the thread runs begins to wait; now: ticks. */
void lc_omp_wait_begin(struct lc_omp_thread *o, bool in_barrier, uint64_t now);
/* Books how long `task` waited since it came for the last one, less what its thread did meanwhile;
 * kind: enum lc_measured_wait. */
void lc_omp_wait_book(struct lc_omp_thread *o, const struct lc_omp_task *task, uint32_t kind,
                      const struct lc_omp_late *last);
/* The thread's task has waited for other tasks, the last of which ended at `last` (when 0: none):
 * what the thread did after that was no waiting for it. Books it as taskwait. */
void lc_omp_wait_end_tasks(struct lc_omp_thread *o, const struct lc_omp_late *last);

#endif
