#include "measure/openmp/omp_edges.h"

#include <string.h>

#include "measure/clocks/call_state.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/clocks_hooks.h"
#include "measure/clocks/intervals.h"
#include "measure/clocks/phases.h"
#include "measure/core/core.h"
#include "measure/openmp/omp_blame.h"
#include "measure/openmp/task_spans.h"
#include "piggyback/logical.h"

/* Where clocks lag behind the program (several nodes) there are no edges of OpenMP: NULL. */
static struct lc_clk_thread *known_clocks(const struct lc_omp_thread *o) {
    return lc_unlikely(lc_clk.backlog) ? NULL : o->t->clocks;
}

static struct lc_clk_thread *clocks_of(struct lc_omp_thread *o, uint64_t now) {
    struct lc_clk_thread *k = known_clocks(o);
    if (lc_likely(k != NULL))
        return k;
    uint32_t mode = atomic_load_explicit(&o->t->mode, memory_order_relaxed);
    if ((mode & LC_MODE_CLOCKS) == 0 || !lc_clk.ready || lc_clk.backlog)
        return NULL;
    struct lc_call call = {.thread = o->t, .begin = now, .end = now, .mode = mode};
    lc_clocks_thread_new(&call);
    k = o->t->clocks;
    if (k != NULL && k->l.interval) { /* its edges are known: it begins with a fork */
        lc_logical_begin(&k->l, k->l.interval, now);
        lc_clk_phase_catch_up(k);
    }
    return k;
}

static void raise(uint64_t *to, uint64_t from) {
    if (from > *to)
        *to = from;
}

/* Its clock in the phase is its own from now on. */
static void into_phase(struct lc_omp_task *task, const struct lc_logical *l) {
    if (lc_likely(task->phase == l->phase))
        return;
    task->phase = l->phase;
    task->phase_clock = 0;
}

/* As task_follows, from the begin of the current phase. */
static void task_follows_phase(struct lc_omp_thread *o, const struct lc_logical *l) {
    struct lc_omp_task *task = o->task;
    if (lc_unlikely(l->phase != o->phase)) {
        o->phase = l->phase;
        o->seen_phase_own = o->seen_phase_useful = o->phase_task_max = 0;
    }
    if (task != NULL && l->phase != 0) {
        uint64_t own = l->phase_own - o->seen_phase_own;
        into_phase(task, l);
        task->phase_clock += own;
        if (l->phase_useful > o->seen_phase_useful + own)
            raise(&task->phase_clock, l->phase_useful);
    }
    o->seen_phase_own = l->phase_own;
    o->seen_phase_useful = l->phase_useful;
}

/* The current task's clock, up to the thread's last event. Where the thread's clock grew by more
 * than its own work, an MPI call brought the edge. */
static void task_follows(struct lc_omp_thread *o, const struct lc_logical *l) {
    struct lc_omp_task *task = o->task;
    if (lc_unlikely(l->interval != o->interval)) {
        o->interval = l->interval;
        o->seen_own = o->seen_useful = o->task_max = 0;
        memset(o->whatif_max, 0, sizeof o->whatif_max);
    }
    if (task != NULL) {
        if (lc_unlikely(task->interval != l->interval)) {
            task->interval = l->interval;
            task->clock = task->work = 0;
            memset(task->spans, 0, sizeof task->spans);
        }
        uint64_t own = l->own - o->seen_own;
        task->clock += own;
        if (task->span != 0) {
            task->work += own;
            task->spans[task->span - 1] += own;
        }
        if (l->useful > o->seen_useful + own && l->useful > task->clock)
            task->clock = l->useful;
    }
    o->seen_own = l->own;
    o->seen_useful = l->useful;
    task_follows_phase(o, l);
}

void lc_omp_worked(struct lc_omp_thread *o, uint64_t now) {
    struct lc_clk_thread *k = clocks_of(o, now);
    if (k == NULL || k->in_runtime)
        return;
    uint64_t last = k->l.last;
    lc_clk_worked(k, now, o->at != NULL ? o->at->node : 0);
    if (k->l.last > last)
        lc_omp_blame_work(o, k->l.last - last);
    task_follows(o, &k->l);
}

void lc_omp_enter(struct lc_omp_thread *o, uint64_t now) {
    struct lc_clk_thread *k = clocks_of(o, now);
    o->entered = now;
    if (k == NULL || k->in_runtime)
        return;
    lc_omp_worked(o, now);
    lc_clk_own_lock();
    k->in_runtime = now;
    lc_clk_own_unlock();
}

void lc_omp_leave(struct lc_omp_thread *o, uint64_t now) {
    struct lc_clk_thread *k = clocks_of(o, now);
    if (k == NULL || !k->in_runtime)
        return;
    lc_clk_left_runtime(k, now);
    task_follows(o, &k->l);
}

void lc_omp_run(struct lc_omp_thread *o, struct lc_omp_task *task) {
    struct lc_clk_thread *k = known_clocks(o);
    struct lc_omp_task *before = o->task;
    o->task = task;
    if (lc_likely(lc_clk.whatif_tasks == 0) || k == NULL)
        return;
    lc_clk_own_lock();
    for (uint32_t s = 0; s < k->l.vec.n_whatif; s++) {
        if (!(lc_clk.whatif_tasks & 1u << s))
            continue;
        uint64_t *clock = &k->l.vec.whatif[s];
        raise(&o->whatif_max[s], *clock);
        if (before != NULL)
            before->whatif[s] = *clock;
        LC_SHOW(*clock, task != NULL && task->interval == k->l.interval ? task->whatif[s] : 0);
    }
    k->l.stale = true;
    lc_clk_own_unlock();
}

void lc_omp_follow(struct lc_omp_thread *o, const struct lc_omp_task *ended) {
    struct lc_clk_thread *k = known_clocks(o);
    if (k == NULL || ended->interval != k->l.interval || o->task->interval != ended->interval)
        return;
    raise(&o->task->clock, ended->clock);
    if (ended->phase == o->task->phase)
        raise(&o->task->phase_clock, ended->phase_clock);
    lc_omp_spans_raise(o->task->spans, ended->spans);
    lc_clk_own_lock();
    for (uint32_t s = 0; s < k->l.vec.n_whatif; s++)
        if (lc_clk.whatif_tasks & 1u << s)
            LC_SHOW(k->l.vec.whatif[s], lc_larger(k->l.vec.whatif[s], ended->whatif[s]));
    lc_clk_own_unlock();
}

void lc_omp_point_now(struct lc_omp_thread *o, uint64_t now, struct lc_omp_point *point) {
    struct lc_clk_thread *k = known_clocks(o);
    const struct lc_omp_late here = {now, o->t->index, o->at != NULL ? o->at->node : 0};
    if (k == NULL) {
        memset(point, 0, sizeof *point);
        point->stamp.enter = now;
        point->late = here;
        return;
    }
    point->late = here;
    lc_clk_own_lock();
    lc_logical_stamp(&k->l, now, &point->stamp);
    lc_clk_own_unlock();
    point->process = k->l.process;
    point->task = o->task != NULL ? o->task->clock : 0;
    point->phase_process = k->l.phase_process;
    point->phase_task = o->task != NULL && o->task->phase == k->l.phase ? o->task->phase_clock : 0;
    if (o->task != NULL)
        memcpy(point->spans, o->task->spans, sizeof point->spans);
    else
        memset(point->spans, 0, sizeof point->spans);
    for (uint32_t s = 0; s < k->l.vec.n_whatif; s++)
        point->whatif[s] = k->l.vec.whatif[s];
}

void lc_omp_edge(struct lc_omp_thread *o, const struct lc_omp_point *point, uint64_t now) {
    struct lc_clk_thread *k = known_clocks(o);
    if (k == NULL || point->stamp.interval != k->l.interval || !k->l.interval)
        return;
    struct lc_logical *l = &k->l;
    lc_clk_own_lock();
    bool won = lc_logical_edge(l, &point->stamp, now);
    for (uint32_t s = 0; s < l->vec.n_whatif; s++)
        if (point->whatif[s] > l->vec.whatif[s])
            LC_SHOW(l->vec.whatif[s], point->whatif[s]);
    lc_logical_adopt(l, &point->stamp, won, &lc_clk.mine);
    if (point->process > l->process)
        l->process = point->process;
    bool phase = l->phase != 0 && point->stamp.phase == l->phase;
    if (phase)
        raise(&l->phase_process, point->phase_process);
    lc_clk_own_unlock();
    if (o->task != NULL && o->task->interval == l->interval) {
        raise(&o->task->clock, point->task);
        if (phase) {
            into_phase(o->task, l);
            raise(&o->task->phase_clock, point->phase_task);
        }
        lc_omp_spans_raise(o->task->spans, point->spans);
    }
    o->seen_useful = l->useful;
    o->seen_phase_useful = l->phase_useful;
}

/* Of the what-if clocks only those that there are. */
static void copy(struct lc_omp_point *to, const struct lc_omp_point *from) {
    to->stamp = from->stamp;
    to->late = from->late;
    to->process = from->process;
    to->task = from->task;
    to->phase_process = from->phase_process;
    to->phase_task = from->phase_task;
    for (uint32_t s = 0; s < lc_clk.n_whatif; s++)
        to->whatif[s] = from->whatif[s];
    memcpy(to->spans, from->spans, sizeof to->spans);
}

bool lc_omp_edge_joint(struct lc_omp_thread *o, struct lc_omp_joint *joint, uint64_t now,
                       struct lc_omp_late *late) {
    struct lc_omp_point point;
    lc_omp_lock(&joint->lock);
    bool any = joint->any;
    if (any)
        copy(&point, &joint->point);
    lc_omp_unlock(&joint->lock);
    if (any)
        lc_omp_edge(o, &point, now);
    if (any && late != NULL)
        *late = point.late;
    return any;
}

void lc_omp_join_locked(struct lc_omp_joint *joint, const struct lc_omp_point *point) {
    struct lc_omp_point *all = &joint->point;
    struct lc_stamp *to = &all->stamp;
    const struct lc_stamp *from = &point->stamp;
    if (!joint->any || from->interval > to->interval) {
        copy(all, point);
        joint->any = true;
        return;
    }
    raise(&to->enter, from->enter);
    if (point->late.when > all->late.when)
        all->late = point->late;
    if (from->interval < to->interval)
        return;
    if (from->useful > to->useful) {
        to->useful = from->useful;
        to->node = from->node;
        to->vector = from->vector;
    }
    raise(&to->outside_omp, from->outside_omp);
    if (from->phase == to->phase) {
        raise(&to->phase_useful, from->phase_useful);
        raise(&all->phase_process, point->phase_process);
        raise(&all->phase_task, point->phase_task);
    } else if (from->enter >= to->enter) {
        to->phase = from->phase;
        to->phase_useful = from->phase_useful;
        all->phase_process = point->phase_process;
        all->phase_task = point->phase_task;
    }
    raise(&all->process, point->process);
    raise(&all->task, point->task);
    lc_omp_spans_raise(all->spans, point->spans);
    for (uint32_t s = 0; s < lc_clk.n_whatif; s++)
        raise(&all->whatif[s], point->whatif[s]);
}

void lc_omp_join(struct lc_omp_joint *joint, const struct lc_omp_point *point) {
    lc_omp_lock(&joint->lock);
    lc_omp_join_locked(joint, point);
    lc_omp_unlock(&joint->lock);
}
