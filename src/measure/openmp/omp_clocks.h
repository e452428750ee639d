/* What an event in OpenMP does to the clocks of a thread and to those of its tasks, when they have
 * come so far: at once (omp_edges.c), or later (omp_later.c). now: ticks; k: clocks of thread o. */
#ifndef LC_MEASURE_OPENMP_OMP_CLOCKS_H
#define LC_MEASURE_OPENMP_OMP_CLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "measure/clocks/call_state.h"
#include "measure/clocks/clocks.h"
#include "measure/openmp/omp_thread.h"
#include "measure/openmp/tasks.h"
#include "piggyback/logical.h"

/* Its edges are known: it begins with a fork. */
void lc_omp_clock_begins(struct lc_omp_thread *o, struct lc_clk_thread *k, uint64_t now);
/* Useful time until now, spent in the node. */
void lc_omp_clock_worked(struct lc_omp_thread *o, struct lc_clk_thread *k, uint64_t now,
                         uint32_t node);
/* Useful time until now, spent in the node; it goes into the runtime. */
void lc_omp_clock_enters(struct lc_omp_thread *o, struct lc_clk_thread *k, uint64_t now,
                         uint32_t node);
/* It comes back from the runtime. */
void lc_omp_clock_leaves(struct lc_omp_thread *o, struct lc_clk_thread *k, uint64_t now);

/* It runs `task` after `before` (NULL: none), with the what-if clocks that belong to the task;
 * fresh: the task begins. k may be NULL. */
void lc_omp_clock_runs(struct lc_omp_thread *o, struct lc_clk_thread *k, struct lc_omp_task *before,
                       struct lc_omp_task *task, bool fresh);
/* Its first task: what it did before was this task's work, too. */
void lc_omp_clock_first_task(struct lc_clk_thread *k, struct lc_omp_task *task);
/* The task that it runs follows another one, which has ended. */
void lc_omp_clock_follows(struct lc_omp_thread *o, struct lc_clk_thread *k,
                          const struct lc_omp_task *ended);
/* It goes on with the task that forked, behind its share. */
void lc_omp_clock_back(struct lc_omp_thread *o, struct lc_omp_task *task);
/* Its share of a region has ended; forked: the task that forked it, or NULL. */
void lc_omp_clock_share_ended(struct lc_omp_thread *o, const struct lc_omp_task *task,
                              struct lc_omp_task *forked);
/* An explicit task has ended. */
void lc_omp_clock_task_ended(struct lc_omp_thread *o, const struct lc_omp_task *task);
/* The task that begins is behind what its creator has done. */
void lc_omp_clock_undeferred(struct lc_omp_task *task, const struct lc_omp_task *creator);

/* What the thread, and the task that it runs, tell others now; all but `late`. */
void lc_omp_clock_point(struct lc_omp_thread *o, struct lc_clk_thread *k, uint64_t now,
                        struct lc_omp_point *point);
/* An edge from the point to the thread and the task that it runs. */
void lc_omp_clock_edge(struct lc_omp_thread *o, struct lc_clk_thread *k,
                       const struct lc_omp_point *point, uint64_t now);
/* The joint has the maxima of all points that have come. */
void lc_omp_clock_join(struct lc_omp_joint *joint, const struct lc_omp_point *point);

/* Parts of these, where there is no phase and no what-if clock; with the thread's own lock. task:
 * that it runs, of its interval, or NULL. */

/* Without a branch: which is larger, nobody can foresee. */
static inline void lc_omp_raise(uint64_t *to, uint64_t from) {
    *to = from > *to ? from : *to;
}

/* The task's clock, up to the thread's last event. Where the thread's clock grew by more than its
 * own work, an MPI call brought the edge. */
static inline void lc_omp_task_grows(const struct lc_omp_thread *o, struct lc_omp_task *task,
                                     const struct lc_logical *l) {
    uint64_t own = l->own - o->seen_own;
    task->clock += own;
    if (task->span != 0) {
        if (!lc_clk.backlog) /* else it was counted already (worked_later) */
            task->work += own;
        lc_omp_spans_have(task->spans, &task->n_spans, task->span);
        task->spans[task->span - 1] += own;
    }
    if (l->useful > o->seen_useful + own && l->useful > task->clock)
        task->clock = l->useful;
}

/* What both tell others now; all but `late`. */
static inline void lc_omp_clock_tell(const struct lc_omp_task *task, struct lc_clk_thread *k,
                                     uint64_t now, struct lc_omp_point *point) {
    lc_logical_stamp(&k->l, now, &point->stamp);
    point->later = NULL;
    point->process = k->l.process;
    point->task = task != NULL ? task->clock : 0;
    point->n_spans = task != NULL ? task->n_spans : 0;
    for (uint32_t i = 0; i < point->n_spans; i++)
        point->spans[i] = task->spans[i];
}

/* An edge from a point of the same interval. */
static inline void lc_omp_clock_take(struct lc_omp_thread *o, struct lc_clk_thread *k,
                                     struct lc_omp_task *task, const struct lc_omp_point *point,
                                     uint64_t now) {
    struct lc_logical *l = &k->l;
    uint64_t before = l->useful;
    bool won = lc_logical_edge(l, &point->stamp, now);
    lc_logical_adopt(l, &point->stamp, won, before, &lc_clk.mine);
    lc_omp_raise(&l->process, point->process);
    if (task != NULL) {
        lc_omp_raise(&task->clock, point->task);
        lc_omp_spans_raise(task->spans, &task->n_spans, point->spans, point->n_spans);
    }
    o->seen_useful = l->useful;
}

#endif
