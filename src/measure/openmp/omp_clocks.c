#include "measure/openmp/omp_clocks.h"

#include <string.h>

#include "measure/clocks/call_state.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/intervals.h"
#include "measure/core/core.h"
#include "measure/core/thread.h"
#include "measure/openmp/omp_thread.h"
#include "measure/openmp/tasks.h"
#include "piggyback/logical.h"

/* Its clock in the phase is its own from now on. */
static void into_phase(struct lc_omp_task *task, const struct lc_logical *l) {
    if (lc_likely(task->phase == l->phase))
        return;
    task->phase = l->phase;
    task->phase_clock = 0;
}

/* As task_follows, from the begin of the current phase. */
static LC_COLD void task_follows_phase(struct lc_omp_thread *o, const struct lc_logical *l) {
    struct lc_omp_task *task = o->running;
    if (lc_unlikely(l->phase != o->phase)) {
        o->phase = l->phase;
        o->seen_phase_own = o->seen_phase_useful = o->phase_task_max = 0;
    }
    if (task != NULL && l->phase != 0) {
        uint64_t own = l->phase_own - o->seen_phase_own;
        into_phase(task, l);
        task->phase_clock += own;
        if (l->phase_useful > o->seen_phase_useful + own)
            lc_omp_raise(&task->phase_clock, l->phase_useful);
    }
    o->seen_phase_own = l->phase_own;
    o->seen_phase_useful = l->phase_useful;
}

/* The current task's clock, up to the thread's last event. */
static inline void task_follows(struct lc_omp_thread *o, const struct lc_logical *l) {
    struct lc_omp_task *task = o->running;
    if (lc_unlikely(l->interval != o->interval)) {
        o->interval = l->interval;
        o->seen_own = o->seen_useful = o->task_max = 0;
        memset(o->whatif_max, 0, sizeof o->whatif_max);
    }
    if (task != NULL) {
        if (lc_unlikely(task->interval != l->interval)) {
            task->interval = l->interval;
            task->clock = 0;
            if (!lc_clk.backlog)
                task->work = 0;
            task->n_spans = 0;
        }
        lc_omp_task_grows(o, task, l);
    }
    o->seen_own = l->own;
    o->seen_useful = l->useful;
    if (lc_unlikely((l->phase | o->phase) != 0))
        task_follows_phase(o, l);
}

/* Is the task, or the thread, still in another interval or phase than the clocks? */
static inline bool is_behind(const struct lc_omp_thread *o, const struct lc_logical *l) {
    const struct lc_omp_task *task = o->running;
    return ((o->interval ^ l->interval) | (o->phase ^ l->phase)) != 0 ||
           (task != NULL && ((task->interval ^ l->interval) | (task->phase ^ l->phase)) != 0);
}

void lc_omp_clock_begins(struct lc_omp_thread *o, struct lc_clk_thread *k, uint64_t now) {
    if (k->l.interval) {
        lc_logical_begin(&k->l, k->l.interval, now);
        lc_clk_phase_catch_up(k);
    }
    o->seen_own = o->seen_useful = 0;
}

void lc_omp_clock_worked(struct lc_omp_thread *o, struct lc_clk_thread *k, uint64_t now,
                         uint32_t node) {
    lc_clk_worked(k, now, node);
    task_follows(o, &k->l);
}

void lc_omp_clock_enters(struct lc_omp_thread *o, struct lc_clk_thread *k, uint64_t now,
                         uint32_t node) {
    lc_omp_clock_worked(o, k, now, node);
    lc_clk_own_lock(k);
    k->in_runtime = now;
    lc_clk_own_unlock(k);
}

void lc_omp_clock_leaves(struct lc_omp_thread *o, struct lc_clk_thread *k, uint64_t now) {
    lc_clk_left_runtime(k, now);
    if (lc_unlikely(is_behind(o, &k->l))) /* in the runtime clocks of work stand still */
        task_follows(o, &k->l);
}

void lc_omp_clock_runs(struct lc_omp_thread *o, struct lc_clk_thread *k, struct lc_omp_task *before,
                       struct lc_omp_task *task, bool fresh) {
    if (fresh) {
        task->clock = task->phase_clock = 0;
        task->interval = k != NULL ? k->l.interval : 0;
        task->phase = k != NULL ? k->l.phase : 0;
    }
    if (lc_likely(lc_clk.whatif_tasks == 0) || k == NULL)
        return;
    lc_clk_own_lock(k);
    for (uint32_t s = 0; s < k->l.vec.n_whatif; s++) {
        if (!(lc_clk.whatif_tasks & 1u << s))
            continue;
        uint64_t *clock = &k->l.vec.whatif[s];
        lc_omp_raise(&o->whatif_max[s], *clock);
        if (before != NULL)
            before->whatif[s] = *clock;
        bool goes_on = !fresh && task != NULL && task->interval == k->l.interval;
        LC_SHOW(*clock, goes_on ? task->whatif[s] : 0);
    }
    k->l.stale = true;
    lc_clk_own_unlock(k);
}

void lc_omp_clock_follows(struct lc_omp_thread *o, struct lc_clk_thread *k,
                          const struct lc_omp_task *ended) {
    struct lc_omp_task *task = o->running;
    if (task == NULL || ended->interval != k->l.interval || task->interval != ended->interval)
        return;
    lc_omp_raise(&task->clock, ended->clock);
    if (ended->phase == task->phase)
        lc_omp_raise(&task->phase_clock, ended->phase_clock);
    lc_omp_spans_raise(task->spans, &task->n_spans, ended->spans, ended->n_spans);
    lc_clk_own_lock(k);
    for (uint32_t s = 0; s < k->l.vec.n_whatif; s++)
        if (lc_clk.whatif_tasks & 1u << s)
            LC_SHOW(k->l.vec.whatif[s], lc_larger(k->l.vec.whatif[s], ended->whatif[s]));
    lc_clk_own_unlock(k);
}

void lc_omp_clock_first_task(struct lc_clk_thread *k, struct lc_omp_task *task) {
    task->clock = k->l.own;
    task->interval = k->l.interval;
    task->phase_clock = k->l.phase_own;
    task->phase = k->l.phase;
}

void lc_omp_clock_back(struct lc_omp_thread *o, struct lc_omp_task *task) {
    if (o->last_task_clock > task->clock && task->interval == o->interval)
        task->clock = o->last_task_clock;
    if (o->last_phase_clock > task->phase_clock && task->phase == o->phase)
        task->phase_clock = o->last_phase_clock;
}

/* A task ends: the longest in the thread's phase. */
static void raise_in_phase(struct lc_omp_thread *o, const struct lc_omp_task *task) {
    if (task->phase == o->phase && task->phase_clock > o->phase_task_max)
        o->phase_task_max = task->phase_clock;
}

void lc_omp_clock_share_ended(struct lc_omp_thread *o, const struct lc_omp_task *task,
                              struct lc_omp_task *forked) {
    if (forked != NULL && forked->interval == task->interval)
        lc_omp_spans_raise(forked->spans, &forked->n_spans, task->spans, task->n_spans);
    if (task->interval == o->interval && task->clock > o->task_max)
        o->task_max = task->clock;
    raise_in_phase(o, task);
    o->last_task_clock = task->clock;
    o->last_phase_clock = task->phase == o->phase ? task->phase_clock : 0;
}

void lc_omp_clock_task_ended(struct lc_omp_thread *o, const struct lc_omp_task *task) {
    if (task->interval == o->interval && task->clock > o->task_max)
        o->task_max = task->clock;
    raise_in_phase(o, task);
    lc_omp_span_ended(o, task);
}

void lc_omp_clock_undeferred(struct lc_omp_task *task, const struct lc_omp_task *creator) {
    if (creator->interval == task->interval)
        lc_omp_raise(&task->clock, creator->clock);
}

void lc_omp_clock_point(struct lc_omp_thread *o, struct lc_clk_thread *k, uint64_t now,
                        struct lc_omp_point *point) {
    const struct lc_omp_task *task = o->running;
    lc_clk_own_lock(k);
    lc_omp_clock_tell(task, k, now, point);
    lc_clk_own_unlock(k);
    if (lc_unlikely(k->l.phase != 0)) {
        point->phase_process = k->l.phase_process;
        point->phase_task = task != NULL && task->phase == k->l.phase ? task->phase_clock : 0;
    }
    for (uint32_t s = 0; s < k->l.vec.n_whatif; s++)
        point->whatif[s] = k->l.vec.whatif[s];
}

void lc_omp_clock_edge(struct lc_omp_thread *o, struct lc_clk_thread *k,
                       const struct lc_omp_point *point, uint64_t now) {
    struct lc_omp_task *task = o->running;
    struct lc_logical *l = &k->l;
    if (point->stamp.interval != l->interval || !l->interval)
        return;
    lc_clk_own_lock(k);
    for (uint32_t s = 0; s < l->vec.n_whatif; s++)
        if (point->whatif[s] > l->vec.whatif[s])
            LC_SHOW(l->vec.whatif[s], point->whatif[s]);
    lc_omp_clock_take(o, k, task != NULL && task->interval == l->interval ? task : NULL, point,
                      now);
    bool phase = l->phase != 0 && point->stamp.phase == l->phase;
    if (phase)
        lc_omp_raise(&l->phase_process, point->phase_process);
    lc_clk_own_unlock(k);
    if (phase && task != NULL && task->interval == l->interval) {
        into_phase(task, l);
        lc_omp_raise(&task->phase_clock, point->phase_task);
    }
    o->seen_phase_useful = l->phase_useful;
}

/* All but `later`, of the what-if clocks only those that there are. */
static inline void copy(struct lc_omp_point *to, const struct lc_omp_point *from) {
    to->stamp = from->stamp;
    to->late = from->late;
    to->process = from->process;
    to->task = from->task;
    if (lc_unlikely(from->stamp.phase != 0)) {
        to->phase_process = from->phase_process;
        to->phase_task = from->phase_task;
    }
    for (uint32_t s = 0; s < lc_clk.n_whatif; s++)
        to->whatif[s] = from->whatif[s];
    to->n_spans = from->n_spans;
    for (uint32_t i = 0; i < from->n_spans; i++)
        to->spans[i] = from->spans[i];
}

/* Both are in a phase, or one is. */
static LC_COLD void join_phase(struct lc_omp_point *all, const struct lc_omp_point *point) {
    struct lc_stamp *to = &all->stamp;
    const struct lc_stamp *from = &point->stamp;
    if (from->phase == to->phase) {
        lc_omp_raise(&to->phase_useful, from->phase_useful);
        lc_omp_raise(&all->phase_process, point->phase_process);
        lc_omp_raise(&all->phase_task, point->phase_task);
    } else if (from->enter >= to->enter) {
        to->phase = from->phase;
        to->phase_useful = from->phase_useful;
        all->phase_process = point->phase_process;
        all->phase_task = point->phase_task;
    }
}

void lc_omp_clock_join(struct lc_omp_joint *joint, const struct lc_omp_point *point) {
    struct lc_omp_point *all = &joint->point;
    struct lc_stamp *to = &all->stamp;
    const struct lc_stamp *from = &point->stamp;
    if (!joint->any || from->interval > to->interval) {
        copy(all, point);
        joint->any = true;
        return;
    }
    lc_omp_raise(&to->enter, from->enter);
    if (point->late.when > all->late.when)
        all->late = point->late;
    if (from->interval < to->interval)
        return;
    if (from->useful > to->useful) {
        to->useful = from->useful;
        to->node = from->node;
        to->vector = from->vector;
    }
    lc_omp_raise(&to->outside_omp, from->outside_omp);
    if (lc_unlikely((from->phase | to->phase) != 0))
        join_phase(all, point);
    lc_omp_raise(&all->process, point->process);
    lc_omp_raise(&all->task, point->task);
    lc_omp_spans_raise(all->spans, &all->n_spans, point->spans, point->n_spans);
    for (uint32_t s = 0; s < lc_clk.n_whatif; s++)
        lc_omp_raise(&all->whatif[s], point->whatif[s]);
}
