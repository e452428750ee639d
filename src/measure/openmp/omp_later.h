/* What happens to the clocks of a thread in OpenMP: at once, or, where clocks lag behind the
 * program (clocks/backlog.h), in the order in which the program did it, once they have come so far.
 * What waits for that in the queue is kept by counted records (omp_thread.h). */
#ifndef LC_MEASURE_OPENMP_OMP_LATER_H
#define LC_MEASURE_OPENMP_OMP_LATER_H

#include <stdbool.h>
#include <stdint.h>

#include "measure/clocks/call_state.h"
#include "measure/clocks/clocks.h"
#include "measure/core/core.h"
#include "measure/core/thread.h"
#include "measure/openmp/nodes.h"
#include "measure/openmp/omp_clocks.h"
#include "measure/openmp/omp_thread.h"

/* What happens: each is a function of omp_clocks.h. */
enum lc_omp_change {
    LC_OMP_BEGINS,     /* record: the task that it runs */
    LC_OMP_TAKES_OVER, /* from a thread that has ended */
    LC_OMP_WORKED,
    LC_OMP_ENTERS,
    LC_OMP_LEAVES,
    LC_OMP_REFUSED,
    LC_OMP_RUNS,       /* record: the task, that of all until LC_OMP_BACK */
    LC_OMP_RUNS_FIRST, /* .. it begins */
    LC_OMP_FIRST_TASK,
    LC_OMP_FOLLOWS,
    LC_OMP_SHARE_ENDED, /* other: the task that forked it */
    LC_OMP_TASK_ENDED,
    LC_OMP_UNDEFERRED, /* other: its creator */
    LC_OMP_BACK,
    LC_OMP_TELLS, /* record: where the point will be known (struct lc_omp_set) */
    LC_OMP_EDGE,  /* .. it comes from */
    LC_OMP_JOINS  /* record: the joint's; other: the point's */
};

/* The change itself. k: clocks of the thread, NULL: it has none; now: ticks; node: where it is. */
static inline __attribute__((always_inline)) void
lc_omp_happens(struct lc_omp_thread *o, struct lc_clk_thread *k, enum lc_omp_change what,
               void *record, void *other, uint64_t now, uint32_t node) {
    struct lc_omp_task *task = record;
    struct lc_omp_set *set = record;
    const struct lc_omp_set *from = other;
    struct lc_omp_task *before = o->running;
    switch (what) {
    case LC_OMP_BEGINS:
        lc_omp_clock_begins(o, k, now);
        o->running = task;
        break;
    case LC_OMP_TAKES_OVER:
        o->seen_own = o->seen_useful = 0;
        o->usual_epoch = 0;
        o->running = NULL;
        break;
    case LC_OMP_WORKED:
        if (!k->in_runtime)
            lc_omp_clock_worked(o, k, now, node);
        break;
    case LC_OMP_ENTERS:
        if (!k->in_runtime)
            lc_omp_clock_enters(o, k, now, node);
        break;
    case LC_OMP_LEAVES:
        if (k->in_runtime)
            lc_omp_clock_leaves(o, k, now);
        break;
    case LC_OMP_REFUSED:
        if (k != NULL)
            k->in_runtime = 0;
        break;
    case LC_OMP_RUNS:
    case LC_OMP_RUNS_FIRST:
        o->running = task;
        lc_omp_clock_runs(o, k, before, task, what == LC_OMP_RUNS_FIRST);
        break;
    case LC_OMP_FIRST_TASK:
        o->running = task;
        if (k != NULL)
            lc_omp_clock_first_task(k, task);
        break;
    case LC_OMP_BACK:
        o->running = task;
        if (task != NULL)
            lc_omp_clock_back(o, task);
        break;
    case LC_OMP_FOLLOWS:
        if (k != NULL)
            lc_omp_clock_follows(o, k, task);
        break;
    case LC_OMP_SHARE_ENDED:
        lc_omp_clock_share_ended(o, task, other);
        if (o->running == task)
            o->running = NULL;
        break;
    case LC_OMP_TASK_ENDED:
        lc_omp_clock_task_ended(o, task);
        break;
    case LC_OMP_UNDEFERRED:
        lc_omp_clock_undeferred(task, other);
        break;
    case LC_OMP_TELLS:
        lc_omp_clock_point(o, k, now, &set->joint.point);
        set->joint.any = true;
        set->joint.point.late = (struct lc_omp_late){now, k->index, node};
        break;
    case LC_OMP_EDGE:
        if (set->joint.any)
            lc_omp_clock_edge(o, k, &set->joint.point, now);
        break;
    case LC_OMP_JOINS:
        if (from->joint.any)
            lc_omp_clock_join(&set->joint, &from->joint.point);
        break;
    }
}

/* Queues it; nothing where the thread has no clocks. record, other: as the kind says, or NULL; both
 * are kept until it has happened. now 0: the time of the thread's last event. */
void lc_omp_later_at(struct lc_omp_thread *o, enum lc_omp_change what, void *record, void *other,
                     uint64_t now, uint32_t node);

/* Does it now, or in its turn. */
static inline __attribute__((always_inline)) void lc_omp_apply_at(struct lc_omp_thread *o,
                                                                  enum lc_omp_change what,
                                                                  void *record, void *other,
                                                                  uint64_t now, uint32_t node) {
    if (lc_unlikely(lc_clk.backlog))
        lc_omp_later_at(o, what, record, other, now, node);
    else
        lc_omp_happens(o, o->t->clocks, what, record, other, now, node);
}

/* Applies the change in the node that the thread is in. */
static inline __attribute__((always_inline)) void lc_omp_apply(struct lc_omp_thread *o,
                                                               enum lc_omp_change what,
                                                               void *record, void *other,
                                                               uint64_t now) {
    lc_omp_apply_at(o, what, record, other, now, lc_omp_node_now(o));
}

/* Where the point of the thread will be known, to be unkept; NULL: no memory. */
struct lc_omp_set *lc_omp_point_later(struct lc_omp_thread *o, uint64_t now);
/* The joint's part of lc_omp_join_locked: it has a record of its own for each time that it begins
 * anew. from: of the point; NULL: there was no memory for one. */
void lc_omp_join_later(struct lc_omp_joint *joint, struct lc_omp_set *from);

#endif
