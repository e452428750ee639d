/* Where the clocks of a thread in OpenMP grow, and the edges between threads of a process. now:
 * ticks, the same for all that one callback does. */
#ifndef LC_MEASURE_OPENMP_OMP_EDGES_H
#define LC_MEASURE_OPENMP_OMP_EDGES_H

#include "base/short_lock.h"
#include "measure/callpath/budget.h"
#include "measure/core/core.h"
#include "measure/openmp/omp_thread.h"

/* The thread has done nothing yet: whatever its clocks know comes from the fork, whose edge
 * follows. */
void lc_omp_begins(struct lc_omp_thread *o, uint64_t now);
/* Adds the time until now (ticks) to the thread's useful time. */
void lc_omp_worked(struct lc_omp_thread *o, uint64_t now);
/* It goes into the runtime: from now on the time is not useful. */
void lc_omp_enter(struct lc_omp_thread *o, uint64_t now);
/* The thread comes back from the runtime into the program; now: ticks. */
void lc_omp_leave(struct lc_omp_thread *o, uint64_t now);

/* What an event cost that began at `since` and ends here is measured. */
void lc_omp_measure(struct lc_omp_thread *o, uint64_t since);
/* An event is over that began at `since` (ticks): what one of several costs is measured
 * (budget.h). */
static inline void lc_omp_done(struct lc_omp_thread *o, uint64_t since) {
    if (lc_unlikely(--o->until_stamp == 0))
        lc_omp_measure(o, since);
}
/* An event begins that reads no clock: since when for lc_omp_done, if that will ask for it. */
static inline uint64_t lc_omp_since(const struct lc_omp_thread *o) {
    return lc_unlikely(o->until_stamp == 1) ? lc_budget_event_begins(o->t) : 0;
}

/* An acquisition was refused: it was never in the runtime. */
void lc_omp_refused(struct lc_omp_thread *o);
/* Is it in the runtime? */
bool lc_omp_in_runtime(const struct lc_omp_thread *o);
/* It has taken the place of a thread that has ended, with clocks of its own. */
void lc_omp_took_over(struct lc_omp_thread *o);

/* It runs the task from now on (of this interval, as far as its clocks go); NULL: none. */
void lc_omp_run(struct lc_omp_thread *o, struct lc_omp_task *task);
/* It begins a task, and runs it from now on. */
void lc_omp_run_first(struct lc_omp_thread *o, struct lc_omp_task *task);
/* Its first task: what it did before was this task's work, too. */
void lc_omp_first_task(struct lc_omp_thread *o, struct lc_omp_task *task);
/* Its share of a region has ended; forked: the task that forked it, where that goes on on this
 * thread, else NULL. It runs none. */
void lc_omp_share_ended(struct lc_omp_thread *o, struct lc_omp_task *task,
                        struct lc_omp_task *forked);
/* It goes on with the task that forked, behind its share, whose what-if clocks are not earlier. */
void lc_omp_back(struct lc_omp_thread *o, struct lc_omp_task *task);
/* The explicit task has ended. */
void lc_omp_task_ended(struct lc_omp_thread *o, struct lc_omp_task *task);
/* The task that begins is behind what its creator has done. */
void lc_omp_undeferred(struct lc_omp_thread *o, struct lc_omp_task *task,
                       struct lc_omp_task *creator);
/* The task that it runs follows what another one of this thread, which has ended, did. */
void lc_omp_follow(struct lc_omp_thread *o, const struct lc_omp_task *ended);

/* What this thread, and the task that it runs, tell others now. */
void lc_omp_point_now(struct lc_omp_thread *o, uint64_t now, struct lc_omp_point *point);
/* The point is not used any more. */
void lc_omp_point_drop(struct lc_omp_thread *o, struct lc_omp_point *point);
/* What all that have come to the joint tell; nobody comes any more. To be dropped, too. */
struct lc_omp_point lc_omp_point_of(const struct lc_omp_joint *joint);
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
