#include "measure/openmp/omp_edges.h"

#include <string.h>

#include "measure/callpath/entry.h"
#include "measure/clocks/backlog.h"
#include "measure/clocks/call_state.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/clocks_hooks.h"
#include "measure/clocks/intervals.h"
#include "measure/clocks/phases.h"
#include "measure/core/core.h"
#include "measure/core/thread.h"
#include "measure/openmp/dependences.h"
#include "measure/openmp/nodes.h"
#include "measure/openmp/omp_blame.h"
#include "measure/openmp/task_spans.h"
#include "measure/samples/sampler.h"
#include "piggyback/logical.h"

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
            raise(&task->phase_clock, l->phase_useful);
    }
    o->seen_phase_own = l->phase_own;
    o->seen_phase_useful = l->phase_useful;
}

/* The current task's clock, up to the thread's last event. Where the thread's clock grew by more
 * than its own work, an MPI call brought the edge. */
static void task_follows(struct lc_omp_thread *o, const struct lc_logical *l) {
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
            memset(task->spans, 0, sizeof task->spans);
        }
        uint64_t own = l->own - o->seen_own;
        task->clock += own;
        if (task->span != 0) {
            if (!lc_clk.backlog) /* else it was counted already (worked_later) */
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

/* ---- what happens to clocks, now or when they have come so far */

/* Its edges are known: it begins with a fork. */
static void begins(struct lc_omp_thread *o, struct lc_clk_thread *k, uint64_t now) {
    if (k->l.interval) {
        lc_logical_begin(&k->l, k->l.interval, now);
        lc_clk_phase_catch_up(k);
    }
    o->seen_own = o->seen_useful = 0;
}

static void worked(struct lc_omp_thread *o, struct lc_clk_thread *k, uint64_t now, uint32_t node) {
    lc_clk_worked(k, now, node);
    task_follows(o, &k->l);
}

static void enter(struct lc_omp_thread *o, struct lc_clk_thread *k, uint64_t now, uint32_t node) {
    worked(o, k, now, node);
    lc_clk_own_lock();
    k->in_runtime = now;
    lc_clk_own_unlock();
}

static void leave(struct lc_omp_thread *o, struct lc_clk_thread *k, uint64_t now) {
    lc_clk_left_runtime(k, now);
    task_follows(o, &k->l);
}

/* With the what-if clocks that belong to the task. */
static void run(struct lc_omp_thread *o, struct lc_clk_thread *k, struct lc_omp_task *before,
                struct lc_omp_task *task, bool fresh) {
    if (fresh) {
        task->clock = task->phase_clock = 0;
        task->interval = k != NULL ? k->l.interval : 0;
        task->phase = k != NULL ? k->l.phase : 0;
    }
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

static void follow(struct lc_omp_thread *o, struct lc_clk_thread *k,
                   const struct lc_omp_task *ended) {
    struct lc_omp_task *task = o->running;
    if (task == NULL || ended->interval != k->l.interval || task->interval != ended->interval)
        return;
    raise(&task->clock, ended->clock);
    if (ended->phase == task->phase)
        raise(&task->phase_clock, ended->phase_clock);
    lc_omp_spans_raise(task->spans, ended->spans);
    lc_clk_own_lock();
    for (uint32_t s = 0; s < k->l.vec.n_whatif; s++)
        if (lc_clk.whatif_tasks & 1u << s)
            LC_SHOW(k->l.vec.whatif[s], lc_larger(k->l.vec.whatif[s], ended->whatif[s]));
    lc_clk_own_unlock();
}

static void first_task(struct lc_clk_thread *k, struct lc_omp_task *task) {
    task->clock = k->l.own;
    task->interval = k->l.interval;
    task->phase_clock = k->l.phase_own;
    task->phase = k->l.phase;
}

static void back(struct lc_omp_thread *o, struct lc_omp_task *task) {
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

static void share_ended(struct lc_omp_thread *o, const struct lc_omp_task *task,
                        struct lc_omp_task *forked) {
    if (forked != NULL && forked->interval == task->interval)
        lc_omp_spans_raise(forked->spans, task->spans);
    if (task->interval == o->interval && task->clock > o->task_max)
        o->task_max = task->clock;
    raise_in_phase(o, task);
    o->last_task_clock = task->clock;
    o->last_phase_clock = task->phase == o->phase ? task->phase_clock : 0;
}

static void task_ended(struct lc_omp_thread *o, const struct lc_omp_task *task) {
    if (task->interval == o->interval && task->clock > o->task_max)
        o->task_max = task->clock;
    raise_in_phase(o, task);
    lc_omp_span_ended(task, o->interval);
}

static void undeferred(struct lc_omp_task *task, const struct lc_omp_task *creator) {
    if (creator->interval == task->interval)
        raise(&task->clock, creator->clock);
}

static void point_at(struct lc_omp_thread *o, struct lc_clk_thread *k, uint64_t now,
                     struct lc_omp_point *point) {
    const struct lc_omp_task *task = o->running;
    lc_clk_own_lock();
    lc_logical_stamp(&k->l, now, &point->stamp);
    lc_clk_own_unlock();
    point->process = k->l.process;
    point->task = task != NULL ? task->clock : 0;
    point->phase_process = k->l.phase_process;
    point->phase_task = task != NULL && task->phase == k->l.phase ? task->phase_clock : 0;
    if (task != NULL)
        memcpy(point->spans, task->spans, sizeof point->spans);
    else
        memset(point->spans, 0, sizeof point->spans);
    for (uint32_t s = 0; s < k->l.vec.n_whatif; s++)
        point->whatif[s] = k->l.vec.whatif[s];
    point->later = NULL;
}

static void edge(struct lc_omp_thread *o, struct lc_clk_thread *k, const struct lc_omp_point *point,
                 uint64_t now) {
    struct lc_omp_task *task = o->running;
    struct lc_logical *l = &k->l;
    if (point->stamp.interval != l->interval || !l->interval)
        return;
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
    if (task != NULL && task->interval == l->interval) {
        raise(&task->clock, point->task);
        if (phase) {
            into_phase(task, l);
            raise(&task->phase_clock, point->phase_task);
        }
        lc_omp_spans_raise(task->spans, point->spans);
    }
    o->seen_useful = l->useful;
    o->seen_phase_useful = l->phase_useful;
}

/* Of the what-if clocks only those that there are. */
static void copy(struct lc_omp_point *to, const struct lc_omp_point *from) {
    to->later = NULL;
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

static void join(struct lc_omp_joint *joint, const struct lc_omp_point *point) {
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

/* ---- where clocks lag behind the program: the same in the order in which it happened, once they
 * have come so far (clocks/backlog.h) */

enum what {
    BEGINS,     /* record: the task that it runs */
    TAKES_OVER, /* from a thread that has ended */
    WORKED,
    ENTERS,
    LEAVES,
    REFUSED,
    RUNS,       /* record: the task, that of all until BACK */
    RUNS_FIRST, /* .. it begins */
    FIRST_TASK,
    FOLLOWS,
    SHARE_ENDED, /* other: the task that forked it */
    TASK_ENDED,
    UNDEFERRED, /* other: its creator */
    BACK,
    TELLS, /* record: where the point will be known (struct lc_omp_set) */
    EDGE,  /* .. it comes from */
    JOINS  /* record: the joint's; other: the point's */
};

struct event {
    struct lc_omp_thread *o;
    uint64_t now;
    void *record, *other; /* with a reference each */
    uint32_t node, what;
};
_Static_assert(sizeof(struct event) <= LC_EVENT_DATA, "it has to fit");

static void happens(struct lc_clk_thread *k, const struct event *e) {
    struct lc_omp_thread *o = e->o;
    struct lc_omp_task *task = e->record;
    struct lc_omp_set *set = e->record;
    switch (e->what) {
    case BEGINS:
        begins(o, k, e->now);
        o->running = task;
        break;
    case TAKES_OVER:
        o->seen_own = o->seen_useful = 0;
        o->running = NULL;
        break;
    case WORKED:
        if (!k->in_runtime)
            worked(o, k, e->now, e->node);
        break;
    case ENTERS:
        if (!k->in_runtime)
            enter(o, k, e->now, e->node);
        break;
    case LEAVES:
        if (k->in_runtime)
            leave(o, k, e->now);
        break;
    case REFUSED:
        k->in_runtime = 0;
        break;
    case RUNS:
    case RUNS_FIRST: {
        struct lc_omp_task *before = o->running;
        o->running = task;
        run(o, k, before, task, e->what == RUNS_FIRST);
        break;
    }
    case FIRST_TASK:
        o->running = task;
        first_task(k, task);
        break;
    case BACK:
        o->running = task;
        if (task != NULL)
            back(o, task);
        break;
    case FOLLOWS:
        follow(o, k, task);
        break;
    case SHARE_ENDED:
        share_ended(o, task, e->other);
        if (o->running == task)
            o->running = NULL;
        break;
    case TASK_ENDED:
        task_ended(o, task);
        break;
    case UNDEFERRED:
        undeferred(task, e->other);
        break;
    case TELLS:
        point_at(o, k, e->now, &set->joint.point);
        set->joint.any = true;
        set->joint.point.late = (struct lc_omp_late){e->now, k->index, e->node};
        break;
    case EDGE:
        if (set->joint.any)
            edge(o, k, &set->joint.point, e->now);
        break;
    case JOINS: {
        const struct lc_omp_set *from = e->other;
        if (from->joint.any)
            join(&set->joint, &from->joint.point);
        break;
    }
    }
}

/* Of whoever runs events: all that it gives back goes to the owners' lists. */
static struct lc_omp_pools nobody;

static void happens_later(struct lc_call *call, struct lc_clk_thread *k, void *data) {
    (void)call;
    struct event e;
    memcpy(&e, data, sizeof e);
    struct lc_omp_thread *o = e.o;
    struct lc_omp_task *before = o->running;
    bool kept = o->running_kept;
    happens(k, &e);
    if (o->running != before || !kept) {
        if (o->running != NULL)
            lc_omp_keep(&o->running->item);
        o->running_kept = o->running != NULL;
        if (kept)
            lc_omp_unkeep(&nobody, before);
    }
    lc_omp_unkeep(&nobody, e.record);
    lc_omp_unkeep(&nobody, e.other);
}

/* record, other: records, or NULL; now: 0: that of the thread's last event. */
static LC_COLD void later_at(struct lc_omp_thread *o, enum what what, void *record, void *other,
                             uint64_t now, uint32_t node) {
    static const struct lc_event_type type = {.run = happens_later};
    struct lc_clk_thread *k = o->t->clocks;
    if (k == NULL)
        return;
    if (record != NULL)
        lc_omp_keep(record);
    if (other != NULL)
        lc_omp_keep(other);
    struct event e = {o, now, record, other, node, what};
    struct lc_entry entry = {.items = NULL};
    struct lc_call call = {.entry = &entry, .begin = now != 0 ? now : k->seen};
    call.end = call.begin;
    lc_clk_backlog_submit(&type, k, &call, &e, sizeof e);
}

static void later(struct lc_omp_thread *o, enum what what, void *record, void *other,
                  uint64_t now) {
    later_at(o, what, record, other, now, o->at != NULL ? o->at->node : 0);
}

/* What a record that is not used any more refers to. */
static void forget(struct lc_omp_pools *mine, struct lc_omp_item *item) {
    struct lc_omp_region *region = (struct lc_omp_region *)item;
    if (item->kind == LC_OMP_REGION) {
        lc_omp_unkeep(mine, region->fork.later);
        for (size_t i = 0; i < 2; i++)
            lc_omp_unkeep(mine, region->barriers[i].joint.later);
    } else if (item->kind == LC_OMP_GROUP) {
        lc_omp_unkeep(mine, ((struct lc_omp_group *)item)->joint.later);
    } else if (item->kind == LC_OMP_SET) {
        lc_omp_unkeep(mine, ((struct lc_omp_set *)item)->joint.later);
    }
    lc_omp_give(mine, item);
}

static struct lc_omp_set *record_new(struct lc_omp_thread *o) {
    lc_omp_at_end(LC_OMP_REGION, forget);
    lc_omp_at_end(LC_OMP_GROUP, forget);
    lc_omp_at_end(LC_OMP_SET, forget);
    return lc_omp_take(&o->pools, LC_OMP_SET, sizeof(struct lc_omp_set));
}

/* The joint (with its lock) has a record of its own for each time that it begins anew. */
static LC_COLD void join_later(struct lc_omp_joint *joint, struct lc_omp_set *from) {
    struct lc_omp_thread *o = lc_self != NULL ? lc_self->openmp : NULL;
    if (!joint->any && joint->later != NULL) {
        lc_omp_unkeep(&nobody, joint->later);
        joint->later = NULL;
    }
    if (o == NULL || from == NULL)
        return;
    if (joint->later == NULL)
        joint->later = record_new(o);
    if (joint->later != NULL)
        later(o, JOINS, joint->later, from, 0);
}

/* The time until then was spent in a function below the node where the thread is. */
static void part_of_it(void *context, uint64_t until, uint32_t node) {
    struct lc_omp_thread *o = context;
    if (lc_unlikely(lc_clk.backlog))
        later_at(o, WORKED, NULL, NULL, until, node);
    else
        worked(o, o->t->clocks, until, node);
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
static LC_COLD void worked_later(struct lc_omp_thread *o, struct lc_clk_thread *k, enum what what,
                                 uint64_t now) {
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
    o->in_runtime = what == ENTERS;
    later(o, what, NULL, NULL, now);
}

static LC_COLD void leaves_later(struct lc_omp_thread *o, struct lc_clk_thread *k, uint64_t now) {
    if (!o->in_runtime)
        return;
    o->in_runtime = false;
    if (now > k->seen)
        k->seen = now;
    later(o, LEAVES, NULL, NULL, now);
}

static LC_COLD struct lc_omp_set *point_later(struct lc_omp_thread *o, uint64_t now) {
    struct lc_omp_set *set = record_new(o);
    if (set != NULL)
        later(o, TELLS, set, NULL, now);
    return set;
}

/* ---- now, where they do not lag */

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
    k = o->t->clocks;
    if (k == NULL)
        return NULL;
    if (lc_unlikely(lc_clk.backlog))
        later(o, BEGINS, o->task, NULL, now);
    else
        begins(o, k, now);
    return k;
}

void lc_omp_worked(struct lc_omp_thread *o, uint64_t now) {
    struct lc_clk_thread *k = clocks_of(o, now);
    if (k == NULL)
        return;
    if (lc_unlikely(lc_clk.backlog)) {
        worked_later(o, k, WORKED, now);
        return;
    }
    if (k->in_runtime)
        return;
    uint64_t last = k->l.last;
    divide(o, k, last, now);
    worked(o, k, now, o->at != NULL ? o->at->node : 0);
    if (k->l.last > last)
        lc_omp_blame_work(o, k->l.last - last);
}

void lc_omp_enter(struct lc_omp_thread *o, uint64_t now) {
    struct lc_clk_thread *k = clocks_of(o, now);
    o->entered = now;
    if (k == NULL)
        return;
    if (lc_unlikely(lc_clk.backlog)) {
        worked_later(o, k, ENTERS, now);
        return;
    }
    if (k->in_runtime)
        return;
    uint64_t last = k->l.last;
    divide(o, k, last, now);
    enter(o, k, now, o->at != NULL ? o->at->node : 0);
    if (k->l.last > last)
        lc_omp_blame_work(o, k->l.last - last);
}

void lc_omp_leave(struct lc_omp_thread *o, uint64_t now) {
    struct lc_clk_thread *k = clocks_of(o, now);
    if (k == NULL)
        return;
    if (lc_unlikely(lc_clk.backlog))
        leaves_later(o, k, now);
    else if (k->in_runtime)
        leave(o, k, now);
}

void lc_omp_refused(struct lc_omp_thread *o) {
    struct lc_clk_thread *k = o->t->clocks;
    if (lc_unlikely(lc_clk.backlog)) {
        o->in_runtime = false;
        later(o, REFUSED, NULL, NULL, 0);
    } else if (k != NULL) {
        k->in_runtime = 0;
    }
}

bool lc_omp_in_runtime(const struct lc_omp_thread *o) {
    const struct lc_clk_thread *k = o->t->clocks;
    return lc_unlikely(lc_clk.backlog) ? o->in_runtime : k != NULL && k->in_runtime != 0;
}

static void runs(struct lc_omp_thread *o, struct lc_omp_task *task, bool fresh) {
    o->task = task;
    if (lc_unlikely(lc_clk.backlog)) {
        later(o, fresh ? RUNS_FIRST : RUNS, task, NULL, 0);
        return;
    }
    struct lc_omp_task *before = o->running;
    o->running = task;
    run(o, o->t->clocks, before, task, fresh);
}

void lc_omp_run(struct lc_omp_thread *o, struct lc_omp_task *task) {
    runs(o, task, false);
}

void lc_omp_run_first(struct lc_omp_thread *o, struct lc_omp_task *task) {
    runs(o, task, true);
}

void lc_omp_follow(struct lc_omp_thread *o, const struct lc_omp_task *ended) {
    if (lc_unlikely(lc_clk.backlog))
        later(o, FOLLOWS, (void *)(uintptr_t)ended, NULL, 0);
    else if (o->t->clocks != NULL)
        follow(o, o->t->clocks, ended);
}

void lc_omp_first_task(struct lc_omp_thread *o, struct lc_omp_task *task) {
    o->task = task;
    if (lc_unlikely(lc_clk.backlog)) {
        later(o, FIRST_TASK, task, NULL, 0);
        return;
    }
    o->running = task;
    if (o->t->clocks != NULL)
        first_task(o->t->clocks, task);
}

void lc_omp_back(struct lc_omp_thread *o, struct lc_omp_task *task) {
    o->task = task;
    if (lc_unlikely(lc_clk.backlog)) {
        later(o, BACK, task, NULL, 0);
        return;
    }
    o->running = task;
    if (task != NULL)
        back(o, task);
}

void lc_omp_share_ended(struct lc_omp_thread *o, struct lc_omp_task *task,
                        struct lc_omp_task *forked) {
    if (lc_unlikely(lc_clk.backlog)) {
        later(o, SHARE_ENDED, task, forked, 0);
    } else {
        share_ended(o, task, forked);
        if (o->running == task)
            o->running = NULL;
    }
    if (o->task == task)
        o->task = NULL;
}

void lc_omp_task_ended(struct lc_omp_thread *o, struct lc_omp_task *task) {
    if (lc_unlikely(lc_clk.backlog))
        later(o, TASK_ENDED, task, NULL, 0);
    else
        task_ended(o, task);
}

void lc_omp_undeferred(struct lc_omp_thread *o, struct lc_omp_task *task,
                       struct lc_omp_task *creator) {
    if (lc_unlikely(lc_clk.backlog))
        later(o, UNDEFERRED, task, creator, 0);
    else
        undeferred(task, creator);
}

void lc_omp_point_now(struct lc_omp_thread *o, uint64_t now, struct lc_omp_point *point) {
    struct lc_clk_thread *k = o->t->clocks;
    const struct lc_omp_late here = {now, o->t->index, o->at != NULL ? o->at->node : 0};
    if (lc_unlikely(k == NULL || lc_clk.backlog)) {
        memset(point, 0, sizeof *point);
        point->stamp.enter = now;
        if (k != NULL) {
            point->stamp.interval = lc_clk_interval_now();
            point->later = point_later(o, now);
        }
    } else {
        point_at(o, k, now, point);
    }
    point->late = here;
}

void lc_omp_point_drop(struct lc_omp_thread *o, struct lc_omp_point *point) {
    lc_omp_unkeep(&o->pools, point->later);
    point->later = NULL;
}

struct lc_omp_point lc_omp_point_of(const struct lc_omp_joint *joint) {
    struct lc_omp_point point = joint->point;
    point.later = joint->later;
    if (lc_unlikely(point.later != NULL))
        lc_omp_keep(&point.later->item);
    return point;
}

void lc_omp_took_over(struct lc_omp_thread *o) {
    if (lc_clk.backlog)
        later(o, TAKES_OVER, NULL, NULL, 0);
    else
        o->seen_own = o->seen_useful = 0;
}

void lc_omp_edge(struct lc_omp_thread *o, const struct lc_omp_point *point, uint64_t now) {
    struct lc_clk_thread *k = o->t->clocks;
    if (lc_unlikely(point->later != NULL))
        later(o, EDGE, point->later, NULL, now);
    else if (k != NULL && lc_likely(!lc_clk.backlog))
        edge(o, k, point, now);
}

void lc_omp_edge_of(struct lc_omp_thread *o, const struct lc_omp_joint *joint, uint64_t now) {
    if (lc_unlikely(joint->later != NULL))
        later(o, EDGE, joint->later, NULL, now);
    else if (o->t->clocks != NULL && lc_likely(!lc_clk.backlog))
        edge(o, o->t->clocks, &joint->point, now);
}

bool lc_omp_edge_joint(struct lc_omp_thread *o, struct lc_omp_joint *joint, uint64_t now,
                       struct lc_omp_late *late) {
    struct lc_omp_point point;
    lc_omp_lock(&joint->lock);
    bool any = joint->any;
    if (any)
        copy(&point, &joint->point);
    if (any && lc_unlikely(joint->later != NULL))
        later(o, EDGE, joint->later, NULL, now);
    lc_omp_unlock(&joint->lock);
    if (any && lc_likely(!lc_clk.backlog))
        lc_omp_edge(o, &point, now);
    if (any && late != NULL)
        *late = point.late;
    return any;
}

void lc_omp_join_locked(struct lc_omp_joint *joint, const struct lc_omp_point *point) {
    if (lc_unlikely(point->later != NULL || joint->later != NULL))
        join_later(joint, point->later);
    join(joint, point);
}

void lc_omp_join(struct lc_omp_joint *joint, const struct lc_omp_point *point) {
    lc_omp_lock(&joint->lock);
    lc_omp_join_locked(joint, point);
    lc_omp_unlock(&joint->lock);
}
