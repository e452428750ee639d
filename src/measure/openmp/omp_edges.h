/* Where the clocks of a thread in OpenMP grow, and the edges between threads of a process. now:
 * ticks, the same for all that one callback does. */
#ifndef LC_MEASURE_OPENMP_OMP_EDGES_H
#define LC_MEASURE_OPENMP_OMP_EDGES_H

#include "measure/openmp/omp_lock.h"
#include "measure/openmp/omp_thread.h"

/* Adds the time until now (ticks) to the thread's useful time. */
void lc_omp_worked(struct lc_omp_thread *o, uint64_t now);
/* It goes into the runtime: from now on the time is not useful. */
void lc_omp_enter(struct lc_omp_thread *o, uint64_t now);
/* The thread comes back from the runtime into the program; now: ticks. */
void lc_omp_leave(struct lc_omp_thread *o, uint64_t now);

/* It runs the task from now on (of this interval, as far as its clocks go); NULL: none. */
void lc_omp_run(struct lc_omp_thread *o, struct lc_omp_task *task);
/* The task that it runs follows what another one of this thread, which has ended, did. */
void lc_omp_follow(struct lc_omp_thread *o, const struct lc_omp_task *ended);

/* What this thread, and the task that it runs, tell others now. */
void lc_omp_point_now(struct lc_omp_thread *o, uint64_t now, struct lc_omp_point *point);
/* An edge that ends here, for the thread and the task that it runs. */
void lc_omp_edge(struct lc_omp_thread *o, const struct lc_omp_point *point, uint64_t now);
/* false: nobody has come to the joint. late, unless NULL: who came last. */
bool lc_omp_edge_joint(struct lc_omp_thread *o, struct lc_omp_joint *joint, uint64_t now,
                       struct lc_omp_late *late);

/* What a point tells is added to the joint: the maxima of all that have come. */
void lc_omp_join(struct lc_omp_joint *joint, const struct lc_omp_point *point);
/* lc_omp_join where the caller holds the lock. */
void lc_omp_join_locked(struct lc_omp_joint *joint, const struct lc_omp_point *point);

#endif
