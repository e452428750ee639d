#include "measure/openmp/omp_edges.h"

#include <string.h>

#include "measure/clocks/call_state.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/clocks_hooks.h"
#include "measure/clocks/intervals.h"
#include "measure/core.h"
#include "measure/openmp/omp_blame.h"
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
    if (k != NULL && k->l.interval) /* its edges are known: it begins with a fork */
        lc_logical_begin(&k->l, k->l.interval, now);
    return k;
}

/* The current task's clock, up to the thread's last event. Where the thread's clock grew by more
 * than its own work, an MPI call brought the edge. */
static void task_follows(struct lc_omp_thread *o, const struct lc_logical *l) {
    struct lc_omp_task *task = o->task;
    if (lc_unlikely(l->interval != o->interval)) {
        o->interval = l->interval;
        o->seen_own = o->seen_useful = o->task_max = 0;
    }
    if (task != NULL) {
        if (lc_unlikely(task->interval != l->interval)) {
            task->interval = l->interval;
            task->clock = 0;
        }
        uint64_t own = l->own - o->seen_own;
        task->clock += own;
        if (l->useful > o->seen_useful + own && l->useful > task->clock)
            task->clock = l->useful;
    }
    o->seen_own = l->own;
    o->seen_useful = l->useful;
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
    k->in_runtime = now;
}

void lc_omp_leave(struct lc_omp_thread *o, uint64_t now) {
    struct lc_clk_thread *k = clocks_of(o, now);
    if (k == NULL || !k->in_runtime)
        return;
    lc_clk_left_runtime(k, now);
    task_follows(o, &k->l);
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
    lc_logical_stamp(&k->l, now, &point->stamp);
    point->process = k->l.process;
    point->task = o->task != NULL ? o->task->clock : 0;
    for (uint32_t s = 0; s < k->l.vec.n_whatif; s++)
        point->whatif[s] = k->l.vec.whatif[s];
}

void lc_omp_edge(struct lc_omp_thread *o, const struct lc_omp_point *point, uint64_t now) {
    struct lc_clk_thread *k = known_clocks(o);
    if (k == NULL || point->stamp.interval != k->l.interval || !k->l.interval)
        return;
    struct lc_logical *l = &k->l;
    bool won = lc_logical_edge(l, &point->stamp, now);
    for (uint32_t s = 0; s < l->vec.n_whatif; s++)
        if (point->whatif[s] > l->vec.whatif[s])
            l->vec.whatif[s] = point->whatif[s];
    lc_logical_adopt(l, &point->stamp, won, &lc_clk.mine);
    if (point->process > l->process)
        l->process = point->process;
    if (o->task != NULL && o->task->interval == l->interval && point->task > o->task->clock)
        o->task->clock = point->task;
    o->seen_useful = l->useful;
}

bool lc_omp_edge_joint(struct lc_omp_thread *o, struct lc_omp_joint *joint, uint64_t now,
                       struct lc_omp_late *late) {
    struct lc_omp_point point;
    lc_omp_lock(&joint->lock);
    bool any = joint->any;
    if (any)
        point = joint->point;
    lc_omp_unlock(&joint->lock);
    if (any)
        lc_omp_edge(o, &point, now);
    if (any && late != NULL)
        *late = point.late;
    return any;
}

static void raise(uint64_t *to, uint64_t from) {
    if (from > *to)
        *to = from;
}

void lc_omp_join_locked(struct lc_omp_joint *joint, const struct lc_omp_point *point) {
    struct lc_omp_point *all = &joint->point;
    struct lc_stamp *to = &all->stamp;
    const struct lc_stamp *from = &point->stamp;
    if (!joint->any || from->interval > to->interval) {
        *all = *point;
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
    } else if (from->enter >= to->enter) {
        to->phase = from->phase;
        to->phase_useful = from->phase_useful;
    }
    raise(&all->process, point->process);
    raise(&all->task, point->task);
    for (uint32_t s = 0; s < lc_clk.n_whatif; s++)
        raise(&all->whatif[s], point->whatif[s]);
}

void lc_omp_join(struct lc_omp_joint *joint, const struct lc_omp_point *point) {
    lc_omp_lock(&joint->lock);
    lc_omp_join_locked(joint, point);
    lc_omp_unlock(&joint->lock);
}
