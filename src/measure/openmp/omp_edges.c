#include "measure/openmp/omp_edges.h"

#include <string.h>

#include "base/timer.h"
#include "measure/callpath/budget.h"
#include "measure/callpath/entry.h"
#include "measure/clocks/backlog.h"
#include "measure/clocks/call_state.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/clocks_hooks.h"
#include "measure/clocks/intervals.h"
#include "measure/core/core.h"
#include "measure/core/thread.h"
#include "measure/hot/polls.h"
#include "measure/openmp/tasks.h"
#include "measure/openmp/nodes.h"
#include "measure/openmp/omp_blame.h"
#include "measure/openmp/omp_clocks.h"
#include "measure/openmp/omp_later.h"
#include "measure/openmp/omp_self.h"
#include "measure/openmp/usual.h"
#include "measure/samples/sampler.h"

/* The time until then was spent in a function below the node where the thread is. */
static void part_of_it(void *context, uint64_t until, uint32_t node) {
    lc_omp_apply_at(context, LC_OMP_WORKED, NULL, NULL, until, node);
}

/* Where samples tell of functions in the work of the program, its time is divided among them. */
static inline void divide(struct lc_omp_thread *o, const struct lc_clk_thread *k, uint64_t since,
                          uint64_t now) {
    if (lc_likely(!lc_samples_new(o->t)) || o->at == NULL || !lc_omp_node_runs_code(o->at) ||
        k == NULL)
        return;
    lc_samples_split_at(o->t, o->at->node, since, now, part_of_it, o);
}

/* What it has worked is known now. */
static LC_COLD void worked_later(struct lc_omp_thread *o, struct lc_clk_thread *k,
                                 enum lc_omp_change what, uint64_t now) {
    uint64_t ticks = now > k->seen ? now - k->seen : 0;
    if (o->in_runtime)
        return;
    if (ticks > 0) {
        lc_omp_blame_work(o, ticks);
        divide(o, k, k->seen, now);
    }
    if (lc_clk_interval_now() != 0)
        k->worked += ticks;
    if (o->task != NULL && o->task->span != 0)
        o->task->work += k->worked - o->seen_worked;
    o->seen_worked = k->worked;
    k->seen += ticks;
    o->in_runtime = what == LC_OMP_ENTERS;
    lc_omp_later_at(o, what, NULL, NULL, now, lc_omp_node_now(o));
}

static struct lc_clk_thread *clocks_of(struct lc_omp_thread *o, uint64_t now) {
    struct lc_clk_thread *k = o->t->clocks;
    if (lc_likely(k != NULL))
        return k;
    uint32_t mode = atomic_load_explicit(&o->t->mode, memory_order_relaxed);
    if ((mode & LC_MODE_CLOCKS) == 0 || !lc_clk.ready)
        return NULL;
    struct lc_entry entry = {.items = NULL};
    struct lc_call call = {.thread = o->t, .entry = &entry, .begin = now, .end = now, .mode = mode};
    lc_clocks_thread_new(&call);
    if (o->t->clocks != NULL)
        lc_omp_apply(o, LC_OMP_BEGINS, o->task, NULL, now);
    return o->t->clocks;
}

void lc_omp_begins(struct lc_omp_thread *o, uint64_t now) {
    if (clocks_of(o, now) != NULL)
        lc_omp_apply(o, LC_OMP_BEGINS, o->task, NULL, now);
}

/* It has worked until now; enters: and goes into the runtime. */
static LC_COLD void work_until(struct lc_omp_thread *o, uint64_t now, bool enters) {
    struct lc_clk_thread *k = clocks_of(o, now);
    if (k == NULL)
        return;
    lc_polls_before(o->t, now); /* they end before it, on the clocks as well */
    if (lc_unlikely(lc_clk.backlog)) {
        worked_later(o, k, enters ? LC_OMP_ENTERS : LC_OMP_WORKED, now);
        return;
    }
    if (k->in_runtime)
        return;
    uint64_t last = k->l.last;
    divide(o, k, last, now);
    lc_omp_apply(o, enters ? LC_OMP_ENTERS : LC_OMP_WORKED, NULL, NULL, now);
    if (k->l.last > last)
        lc_omp_blame_work(o, k->l.last - last);
}

LC_COLD struct lc_clk_thread *lc_omp_usual_look(struct lc_omp_thread *o, struct lc_clk_thread *k) {
    bool usual = k->epoch == lc_clk.epoch && k->l.interval != 0 && o->interval == k->l.interval &&
                 (k->l.phase | o->phase | k->l.vec.n_whatif | lc_clk.n_whatif) == 0 &&
                 !lc_clk.backlog && !k->todo && k->began == UINT64_MAX;
    o->usual_epoch = usual ? k->epoch + 1 : 0;
    if (usual)
        return k;
    lc_clk_own_unlock(k);
    return NULL;
}

void lc_omp_worked(struct lc_omp_thread *o, uint64_t now) {
    struct lc_clk_thread *k = lc_omp_usual_in_task(o);
    if (lc_unlikely(k == NULL)) {
        work_until(o, now, false);
        return;
    }
    if (lc_likely(k->in_runtime == 0))
        lc_omp_usual_worked(o, k, now);
    lc_omp_usual_over(k);
}

void lc_omp_enter(struct lc_omp_thread *o, uint64_t now) {
    struct lc_clk_thread *k = lc_omp_usual_in_task(o);
    if (lc_unlikely(k == NULL)) {
        o->entered = now;
        work_until(o, now, true);
        return;
    }
    lc_omp_usual_enter(o, k, now);
    lc_omp_usual_over(k);
}

static LC_COLD void leave(struct lc_omp_thread *o, uint64_t now) {
    struct lc_clk_thread *k = clocks_of(o, now);
    if (k == NULL || (lc_clk.backlog && !o->in_runtime))
        return;
    if (lc_unlikely(lc_clk.backlog)) {
        o->in_runtime = false;
        k->seen = lc_larger(k->seen, now);
    }
    lc_omp_apply(o, LC_OMP_LEAVES, NULL, NULL, now);
}

void lc_omp_leave(struct lc_omp_thread *o, uint64_t now) {
    struct lc_clk_thread *k = o->running == NULL ? lc_omp_usual(o) : lc_omp_usual_in_task(o);
    if (lc_unlikely(k == NULL)) {
        leave(o, now);
        return;
    }
    lc_omp_usual_leave(k, now);
    lc_omp_usual_over(k);
}

LC_COLD void lc_omp_measure(struct lc_omp_thread *o, uint64_t since) {
    if (lc_omp_measured_by_call) { /* as good as never looked at again */
        o->until_stamp = o->stands_for = 0;
        return;
    }
    uint64_t own = o->t->counts.own_ticks;
    if (own != o->own_ticks) { /* perhaps in this event, and is told already: the next one */
        o->own_ticks = own;
        o->stands_for++;
        o->until_stamp = 1;
        return;
    }
    uint64_t now = lc_ticks();
    lc_budget_events(o->t, now > since ? now - since : 0, o->stands_for);
    o->until_stamp = o->stands_for = lc_budget_gap(&o->gaps);
}

void lc_omp_refused(struct lc_omp_thread *o) {
    o->in_runtime = false;
    lc_omp_apply(o, LC_OMP_REFUSED, NULL, NULL, 0);
}

bool lc_omp_in_runtime(const struct lc_omp_thread *o) {
    const struct lc_clk_thread *k = o->t->clocks;
    return lc_unlikely(lc_clk.backlog) ? o->in_runtime : k != NULL && k->in_runtime != 0;
}

void lc_omp_run(struct lc_omp_thread *o, struct lc_omp_task *task) {
    o->task = task;
    lc_omp_apply(o, LC_OMP_RUNS, task, NULL, 0);
}

void lc_omp_run_first(struct lc_omp_thread *o, struct lc_omp_task *task) {
    o->task = task;
    lc_omp_apply(o, LC_OMP_RUNS_FIRST, task, NULL, 0);
}

void lc_omp_follow(struct lc_omp_thread *o, const struct lc_omp_task *ended) {
    lc_omp_apply(o, LC_OMP_FOLLOWS, (void *)(uintptr_t)ended, NULL, 0);
}

void lc_omp_first_task(struct lc_omp_thread *o, struct lc_omp_task *task) {
    o->task = task;
    lc_omp_apply(o, LC_OMP_FIRST_TASK, task, NULL, 0);
}

void lc_omp_back(struct lc_omp_thread *o, struct lc_omp_task *task) {
    o->task = task;
    lc_omp_apply(o, LC_OMP_BACK, task, NULL, 0);
}

void lc_omp_share_ended(struct lc_omp_thread *o, struct lc_omp_task *task,
                        struct lc_omp_task *forked) {
    lc_omp_apply(o, LC_OMP_SHARE_ENDED, task, forked, 0);
    if (o->task == task)
        o->task = NULL;
}

void lc_omp_task_ended(struct lc_omp_thread *o, struct lc_omp_task *task) {
    lc_omp_apply(o, LC_OMP_TASK_ENDED, task, NULL, 0);
}

void lc_omp_undeferred(struct lc_omp_thread *o, struct lc_omp_task *task,
                       struct lc_omp_task *creator) {
    lc_omp_apply(o, LC_OMP_UNDEFERRED, task, creator, 0);
}

void lc_omp_point_now(struct lc_omp_thread *o, uint64_t now, struct lc_omp_point *point) {
    struct lc_clk_thread *k = o->t->clocks;
    const struct lc_omp_late here = {now, o->t->index, o->at != NULL ? o->at->node : 0};
    if (lc_unlikely(k == NULL || lc_clk.backlog)) {
        memset(point, 0, sizeof *point);
        point->stamp.enter = now;
        if (k != NULL) {
            point->stamp.interval = lc_clk_interval_now();
            point->later = lc_omp_point_later(o, now);
        }
    } else {
        lc_omp_clock_point(o, k, now, point);
    }
    point->late = here;
}

void lc_omp_point_drop(struct lc_omp_thread *o, struct lc_omp_point *point) {
    if (lc_likely(point->later == NULL))
        return;
    lc_omp_unkeep(&o->pools, point->later);
    point->later = NULL;
}

struct lc_omp_point lc_omp_point_of(const struct lc_omp_joint *joint) {
    struct lc_omp_point point = joint->point;
    if (lc_unlikely(point.later != NULL))
        lc_omp_keep(&point.later->item);
    return point;
}

void lc_omp_took_over(struct lc_omp_thread *o) {
    lc_omp_apply(o, LC_OMP_TAKES_OVER, NULL, NULL, 0);
}

void lc_omp_edge(struct lc_omp_thread *o, const struct lc_omp_point *point, uint64_t now) {
    struct lc_clk_thread *k = o->t->clocks;
    if (lc_unlikely(point->later != NULL))
        lc_omp_later_at(o, LC_OMP_EDGE, point->later, NULL, now, 0);
    else if (k != NULL && lc_likely(!lc_clk.backlog))
        lc_omp_clock_edge(o, k, point, now);
}

bool lc_omp_edge_joint(struct lc_omp_thread *o, struct lc_omp_joint *joint, uint64_t now,
                       struct lc_omp_late *late) {
    lc_short_lock(&joint->lock);
    bool any = joint->any;
    if (any)
        lc_omp_edge(o, &joint->point, now);
    if (any && late != NULL)
        *late = joint->point.late;
    lc_short_unlock(&joint->lock);
    return any;
}

void lc_omp_join_locked(struct lc_omp_joint *joint, const struct lc_omp_point *point) {
    if (lc_unlikely(point->later != NULL || joint->point.later != NULL))
        lc_omp_join_later(joint, point->later);
    lc_omp_clock_join(joint, point);
}

void lc_omp_join(struct lc_omp_joint *joint, const struct lc_omp_point *point) {
    lc_short_lock(&joint->lock);
    lc_omp_join_locked(joint, point);
    lc_short_unlock(&joint->lock);
}
