/* Waiting of threads that may execute tasks meanwhile, and waiting for tasks: taskwait and the end
 * of a taskgroup (docs/definitions/wait-states.md#26-other-paradigms). Called by omp.c for one
 * process at a time.
 *
 * A wait in which tasks were executed is divided: what is before a task is for the thread that
 * made it, or ended one that it may have depended on, until that time, and has no cause from then
 * on; the rest as without tasks. Where the trace has no records of tasks it stays one, and the time
 * of the tasks is taken off. */
#ifndef LC_ANALYZE_OMP_TASKS_H
#define LC_ANALYZE_OMP_TASKS_H

#include "analyze/trace.h"
#include "analyze/wait_state.h"

struct lc_omp_tasks; /* of a process */

/* Points at which locations synchronise are numbered from *next_point. Freed with
 * lc_omp_tasks_free. Errors: LC_ERR_NOMEM. */
enum lc_err lc_omp_tasks_new(struct lc_omp_tasks **tasks, struct lc_trace *trace,
                             struct lc_loc *locs, uint32_t n_locs, uint64_t *next_point);
/* Frees them; NULL is allowed. */
void lc_omp_tasks_free(struct lc_omp_tasks *tasks);

/* Appends a wait in a call of the location, and those into which tasks divide it; nothing if there
 * was none. LC_ERR_NOMEM. */
enum lc_err lc_omp_wait_add(struct lc_omp_tasks *tasks, struct lc_loc *loc,
                            const struct lc_mpi_call *call, const struct lc_wait *wait);

/* The waits in taskwaits and taskgroups; they begin when the waiting task has made its last task,
 * and where that is not how they were recorded, the trace's health counts them. LC_ERR_NOMEM. */
enum lc_err lc_omp_task_waits(struct lc_omp_tasks *tasks);

#endif
