#include "measure/openmp/tasks.h"

#include "base/timer.h"
#include "measure/clocks/call_state.h"
#include "measure/clocks/clocks.h"
#include "measure/openmp/barrier.h"
#include "measure/openmp/omp_clocks.h"
#include "measure/openmp/omp_edges.h"
#include "measure/openmp/nodes.h"
#include "measure/openmp/omp_self.h"
#include "measure/openmp/omp_trace.h"
#include "measure/openmp/usual.h"
#include "measure/core/state_write.h"

static _Atomic bool any_explicit;

enum { SPARE = 64 }; /* references that a task takes at once for its children; or gives back */

/* Returns the task that created it, of whose record it was a user. */
static struct lc_omp_task *free_task(struct lc_omp_pools *mine, struct lc_omp_task *task) {
    struct lc_omp_task *parent = task->parent;
    if (task->table != NULL)
        lc_omp_table_free(mine, task);
    if (task->event != NULL)
        lc_omp_unkeep(mine, task->event);
    if (lc_unlikely(task->children.point.later != NULL))
        lc_omp_unkeep(mine, task->children.point.later);
    if (task->explicit_one) { /* its region lives as long as those that created it */
        if (lc_unlikely(task->created.later != NULL))
            lc_omp_unkeep(mine, task->created.later);
        if (task->group != NULL)
            lc_omp_unkeep(mine, task->group);
    } else if (task->holds_region) {
        lc_omp_unkeep(mine, task->region);
    }
    lc_omp_give(mine, &task->item);
    return parent;
}

/* One user of the record less; the last one frees it. mine: of the calling thread. */
static void unkeep_task(struct lc_omp_pools *mine, struct lc_omp_task *task) {
    while (task != NULL && lc_omp_references_end(&task->item, 1))
        task = free_task(mine, task);
}

/* Its last user was an event of the backlog. */
static void end_of_task(struct lc_omp_pools *mine, struct lc_omp_item *item) {
    unkeep_task(mine, free_task(mine, (struct lc_omp_task *)item));
}

/* Its lines of cache, which may be on another core: they come all at once, ahead of their use. */
static inline void claim(const struct lc_omp_task *task) {
    enum {
        BEGIN = offsetof(struct lc_omp_task, clock),
        END = offsetof(struct lc_omp_task, children)
    };
    for (size_t at = BEGIN; at < END; at += LC_OMP_LINE)
        lc_line_claim((const char *)task + at);
}

/* A task that this thread goes on with. */
static inline void claim_next(const struct lc_omp_task *task) {
    claim(task);
    __builtin_prefetch(&task->created);
    __builtin_prefetch((const char *)&task->created + LC_OMP_LINE);
}

/* A task that is about to end here: who waits for it will be told. */
static inline void claim_waiting(const struct lc_omp_task *task) {
    if (task->parent != NULL) {
        lc_line_claim(&task->parent->children);
        lc_line_claim((const char *)&task->parent->children + LC_OMP_LINE);
    }
    for (uint32_t i = 0; i < task->into.n; i++) {
        lc_line_claim(task->into.first[i]);
        lc_line_claim((const char *)task->into.first[i] + LC_OMP_LINE);
    }
}

struct lc_omp_task *lc_omp_task_new(struct lc_omp_thread *o) {
    struct lc_omp_task *task = lc_omp_take_part(&o->pools, LC_OMP_TASK, sizeof(struct lc_omp_task),
                                                offsetof(struct lc_omp_task, children));
    if (lc_likely(task != NULL)) {
        const struct lc_omp_task *next = (struct lc_omp_task *)o->pools.free[LC_OMP_TASK];
        if (next != NULL)
            claim(next);
        lc_omp_joint_begin(&task->children);
        task->created.later = NULL;
    }
    if (lc_unlikely(lc_clk.backlog))
        lc_omp_at_end(LC_OMP_TASK, end_of_task);
    return task;
}

void lc_omp_task_keep(struct lc_omp_task *task) {
    if (task->spare == 0) {
        atomic_fetch_add_explicit(&task->item.references, SPARE, memory_order_relaxed);
        task->spare = SPARE;
    }
    task->spare--;
}

void lc_omp_task_over(struct lc_omp_thread *o, struct lc_omp_task *task) {
    uint32_t spare = task->spare;
    task->spare = 0;
    if (!task->explicit_one)
        lc_omp_parent_unkeep(o);
    if (!lc_omp_references_end(&task->item, spare + 1))
        return;
    /* Its parent loses one, too, but not at once: that line of cache is everybody's. */
    struct lc_omp_task *parent = free_task(&o->pools, task);
    if (parent != o->parent || o->parent_loses == SPARE) {
        lc_omp_parent_unkeep(o);
        o->parent = parent;
    }
    o->parent_loses++;
}

void lc_omp_parent_unkeep(struct lc_omp_thread *o) {
    struct lc_omp_task *parent = o->parent;
    uint32_t n = o->parent_loses;
    o->parent = NULL;
    o->parent_loses = 0;
    if (parent != NULL && lc_omp_references_end(&parent->item, n))
        unkeep_task(&o->pools, free_task(&o->pools, parent));
}

void lc_omp_tell_ended(struct lc_omp_thread *o) {
    if (lc_likely(!o->ended.any))
        return;
    o->ended.any = false;
    lc_omp_barrier_join(o->ended_in, o->ended_barrier, &o->ended.point, false);
}

/* The end of an early task, for its barrier. */
static void gather_ended(struct lc_omp_thread *o, const struct lc_omp_task *task,
                         const struct lc_omp_point *end) {
    if (o->ended_in != task->region || o->ended_barrier != task->barrier) {
        lc_omp_tell_ended(o);
        o->ended_in = task->region;
        o->ended_barrier = task->barrier;
    }
    lc_omp_clock_join(&o->ended, end);
}

uint64_t lc_omp_task_chain(uint32_t interval, uint64_t *whatif) {
    uint64_t longest = 0;
    lc_omp_spans_close();
    for (struct lc_omp_thread *o = lc_omp_threads(); o != NULL; o = o->next)
        for (uint32_t s = 0; s < lc_clk.n_whatif && o->interval == interval; s++)
            whatif[s] = o->whatif_max[s] > whatif[s] ? o->whatif_max[s] : whatif[s];
    if (!atomic_load_explicit(&any_explicit, memory_order_relaxed))
        return 0;
    for (struct lc_omp_thread *o = lc_omp_threads(); o != NULL; o = o->next) {
        if (o->interval != interval)
            continue;
        const struct lc_omp_task *task = o->running;
        uint64_t now = task != NULL && task->interval == interval ? task->clock : 0;
        const struct lc_thread *t = o->t;
        const struct lc_clk_thread *k = t != NULL ? t->clocks : NULL;
        if (now > 0 && k != NULL && !k->in_runtime) /* what it has done since the last event */
            now += k->l.own - o->seen_own +
                   (lc_clk.switch_ticks > k->l.last ? lc_clk.switch_ticks - k->l.last : 0);
        longest = o->task_max > longest ? o->task_max : longest;
        longest = now > longest ? now : longest;
    }
    return longest;
}

uint64_t lc_omp_phase_chain(uint32_t phase, uint64_t now) {
    uint64_t longest = 0;
    if (!atomic_load_explicit(&any_explicit, memory_order_relaxed))
        return 0;
    for (struct lc_omp_thread *o = lc_omp_threads(); o != NULL; o = o->next) {
        const struct lc_thread *t = o->t;
        const struct lc_clk_thread *k = t != NULL ? t->clocks : NULL;
        bool seen = o->phase == phase;
        uint64_t chain = seen ? o->phase_task_max : 0;
        if (k != NULL && k->l.phase == phase && o->running != NULL) {
            uint64_t at = seen && o->running->phase == phase ? o->running->phase_clock : 0;
            at += k->l.phase_own - (seen ? o->seen_phase_own : 0);
            if (!k->in_runtime && now > k->l.last)
                at += now - k->l.last;
            chain = at > chain ? at : chain;
        }
        longest = chain > longest ? chain : longest;
    }
    return longest;
}

void lc_omp_task_create(union ompt_data *creator, const struct ompt_frame *frame,
                        union ompt_data *data, int flags, int has_dependences, const void *code) {
    (void)creator;
    (void)frame;
    (void)has_dependences;
    struct lc_omp_thread *o = lc_omp_self();
    if (o == NULL || o->task == NULL || (flags & (OMPT_TASK_INITIAL | OMPT_TASK_IMPLICIT)))
        return;
    struct lc_omp_task *parent = o->task, *task = lc_omp_task_new(o);
    if (task == NULL)
        return;
    uint64_t now = lc_ticks();
    bool usual = lc_omp_work_and_tell(o, now, &task->created);
    lc_omp_book_as(o, usual, now);
    task->explicit_one = true;
    task->undeferred = (flags & OMPT_TASK_UNDEFERRED) != 0;
    task->untied = (flags & OMPT_TASK_UNTIED) != 0;
    task->parent = parent;
    task->region = parent->region;
    task->group = parent->group;
    task->barrier = parent->barrier;
    lc_omp_task_keep(parent);
    if (task->group != NULL)
        lc_omp_keep(&task->group->item);
    if ((flags & OMPT_TASK_TASKWAIT) != 0) {
        unkeep_task(&o->pools, parent->awaits);
        parent->awaits = task;
        lc_omp_enter(o, now);
        lc_omp_push(o, LC_OMP_AT_TASKWAIT, code, now);
        lc_omp_wait_begin(o, false, now);
        lc_omp_done(o, now);
        return;
    }
    o->has_tasks = true;
    if (o->at != NULL) {
        struct lc_omp_node *node =
            lc_omp_node_get(o, task->region != NULL ? task->region->node : 0, LC_OMP_AT_TASK, code);
        task->node = node != NULL ? node->node : 0;
        task->span = node != NULL ? lc_omp_span_of(node) : 0;
        lc_omp_add(o, node, LC_MEASURED_OMP_CREATED, 1);
        lc_omp_trace_created(o, task, code, now);
    }
    data->ptr = task;
    lc_omp_done(o, now);
}

/* Is this list of dependences, of n > 0 parts, that of an iteration? */
static bool is_iteration(const struct ompt_dependence *list) {
    return list[0].type == OMPT_DEPEND_SOURCE || list[0].type == OMPT_DEPEND_SINK;
}

void lc_omp_dependences(union ompt_data *data, const struct ompt_dependence *list, int n) {
    struct lc_omp_thread *o = lc_omp_self();
    struct lc_omp_task *task = data != NULL ? data->ptr : NULL;
    if (o != NULL && n > 0 && is_iteration(list)) {
        lc_omp_iteration(o, list, n);
        return;
    }
    if (o != NULL && task == NULL && o->task != NULL)
        task = o->task->awaits;
    if (o != NULL && task != NULL && task->explicit_one && n > 0) {
        uint64_t since = lc_omp_since(o);
        lc_omp_depend(o, task, list, n);
        lc_omp_done(o, since);
    }
}

/* The end of a taskwait with dependences, of the task that the thread runs. */
static void waited_for_dependences(struct lc_omp_thread *o, uint64_t now) {
    struct lc_omp_task *construct = o->task != NULL ? o->task->awaits : NULL;
    if (construct == NULL)
        return;
    lc_omp_leave(o, now);
    struct lc_omp_late last = lc_omp_depend_begin(o, construct, now);
    lc_omp_wait_end_tasks(o, &last);
    lc_omp_pop(o, now);
    struct lc_omp_point here;
    lc_omp_point_now(o, now, &here);
    lc_omp_depend_end(o, construct, &here);
    o->task->awaits = NULL;
    lc_omp_point_drop(o, &here);
    unkeep_task(&o->pools, construct);
}

/* LLVM's runtime has one place per thread for the data of `taskwait depend`, and ends the program
 * unless it is empty. A worker in the last barrier of a region keeps the data of its implicit task
 * there, too, copied when it has told of the barrier: they are empty until its first task switch.
 * (That of the construct is known by the task that waits, for others may wait meanwhile.) */
void lc_omp_task_hide(struct lc_omp_thread *o, union ompt_data *data) {
    struct lc_omp_task *task = o->task;
    if (data == NULL || task == NULL || data->ptr != task || task->number == 0)
        return;
    o->hidden = task;
    data->ptr = NULL;
}

void lc_omp_task_unhide(struct lc_omp_thread *o, union ompt_data *data) {
    if (o->hidden == NULL)
        return;
    if (data != NULL && data->ptr == NULL)
        data->ptr = o->hidden;
    o->hidden = NULL;
}

/* The thread goes from one task to another: what belongs to the task goes with it. */
static void put_down(struct lc_omp_thread *o, struct lc_omp_task *task, uint64_t now) {
    task->in_runtime = lc_omp_in_runtime(o);
    task->place = o->at;
    task->depth = o->n_outer;
    task->left = now;
    lc_omp_span_stops(task);
    if (!task->untied)
        return;
    task->on = o; /* another one may take it up */
    task->node = o->at != NULL ? o->at->node : task->node;
    lc_omp_point_drop(o, &task->created);
    lc_omp_point_now(o, now, &task->created);
}

/* It did something else from `left` until now, which was no waiting for the last thread. */
static void come_back(struct lc_omp_task *task, uint64_t now) {
    uint64_t until = now;
    if (task->in_barrier && task->region != NULL) {
        struct lc_omp_come come = lc_omp_barrier_look(task->region, task->barrier - 1, false);
        bool all = come.n == atomic_load_explicit(&task->region->team, memory_order_relaxed);
        if (all && come.last.when < until) /* nobody is waited for any more */
            until = come.last.when;
    }
    task->back = now;
    task->elsewhere += until > task->left ? until - task->left : 0;
}

/* An untied task that another thread had put down: nodes are each thread's own. */
static void take_over(struct lc_omp_thread *o, struct lc_omp_task *task) {
    uint32_t node = task->node, inside = task->depth - task->base;
    task->base = o->n_outer;
    task->depth = task->base + inside;
    task->place = lc_omp_node_known(o, node);
    for (uint32_t i = task->depth; i-- > task->base && node != LC_NONE;) {
        node = lc_state_nodes()[node].parent;
        if (i < LC_OMP_DEEPEST)
            o->outer[i] = lc_omp_node_known(o, node);
    }
}

static void take_up(struct lc_omp_thread *o, struct lc_omp_task *task, uint64_t now) {
    lc_omp_run(o, task);
    lc_omp_span_runs(task);
    if (task->untied && task->on != NULL) {
        lc_omp_edge(o, &task->created, now);
        if (task->on != o && o->at != NULL)
            take_over(o, task);
    }
    if (task->place != NULL) {
        o->at = task->place;
        o->n_outer = task->depth;
    }
    if (task->came != 0)
        come_back(task, now);
    if (task->in_runtime)
        lc_omp_enter(o, now);
}

/* Will the task end before the thread comes to the barrier that waits for it? below: the task that
 * the thread runs until now. */
static bool is_early(const struct lc_omp_task *task, const struct lc_omp_task *below) {
    return !task->untied && below != NULL && below->region == task->region &&
           below->barrier == task->barrier && (below->early || !below->explicit_one);
}

static void begin_task(struct lc_omp_thread *o, struct lc_omp_task *task, bool was_in_runtime,
                       uint64_t now) {
    task->early = is_early(task, o->task);
    bool usual = lc_omp_usual_begins(o, task, &task->created, now);
    if (lc_unlikely(!usual)) {
        if (was_in_runtime)
            lc_omp_leave(o, now);
        lc_omp_run_first(o, task);
    }
    lc_omp_span_runs(task);
    task->begun = true;
    if (!atomic_load_explicit(&any_explicit, memory_order_relaxed))
        atomic_store_explicit(&any_explicit, true, memory_order_relaxed);
    if (lc_unlikely(!usual))
        lc_omp_edge(o, &task->created, now);
    if (task->undeferred) /* libgomp creates all tasks of a loop, then runs them */
        lc_omp_undeferred(o, task, task->parent);
    uint64_t ready = task->created.late.when;
    if (task->after.n != 0)
        ready = lc_larger(ready, lc_omp_depend_begin(o, task, now).when);
    task->base = o->n_outer;
    if (o->at != NULL) {
        struct lc_omp_node *node = lc_omp_node_known(o, task->node);
        o->at = node != NULL ? node : o->at;
        o->at->row->count++;
        task->place = o->at;
        o->tasks++;
        lc_omp_add(o, o->at, LC_MEASURED_OMP_TASK_READY, now > ready ? now - ready : 0);
        lc_omp_add(o, o->at, LC_MEASURED_OMP_STOLEN, task->created.late.thread != o->t->index);
    }
}

/* Its end is known to all who wait for it. */
static void publish_end(struct lc_omp_thread *o, struct lc_omp_task *task,
                        const struct lc_omp_point *end) {
    if (task->into.n != 0)
        lc_omp_depend_end(o, task, end);
    if (task->parent != NULL)
        lc_omp_join(&task->parent->children, end);
    if (task->group != NULL)
        lc_omp_join(&task->group->joint, end);
    if (task->region != NULL && task->early && end->later == NULL)
        gather_ended(o, task, end);
    else if (task->region != NULL)
        lc_omp_barrier_join(task->region, task->barrier, end, false);
}

/* A detached task is complete when it has ended and its event is fulfilled, in either order; the
 * runtime tells of one after the other (it holds a lock of the task meanwhile). */
static void join_event(struct lc_omp_thread *o, struct lc_omp_task *task,
                       const struct lc_omp_point *point) {
    if (task->event == NULL)
        task->event = lc_omp_set_new(o);
    if (task->event != NULL)
        lc_omp_join(&task->event->joint, point);
}

static void end_task(struct lc_omp_thread *o, struct lc_omp_task *task, bool complete,
                     uint64_t now) {
    struct lc_omp_point end;
    bool usual = lc_omp_work_and_tell(o, now, &end);
    lc_omp_book_as(o, usual, now);
    lc_omp_task_ended(o, task);
    lc_omp_span_stops(task);
    lc_omp_add(o, o->at, LC_MEASURED_OMP_TASK_WORK, task->work);
    if (!complete) { /* detached: whoever fulfils the event completes it */
        join_event(o, task, &end);
        lc_omp_point_drop(o, &end);
        return;
    }
    if (lc_unlikely(task->event != NULL)) { /* fulfilled before */
        join_event(o, task, &end);
        lc_omp_point_drop(o, &end);
        end = lc_omp_point_of(&task->event->joint);
    }
    lc_omp_trace_done(o, task, now);
    publish_end(o, task, &end);
    lc_omp_point_drop(o, &end);
}

/* The event of a detached task is fulfilled, by this thread in another task. */
static void fulfil(struct lc_omp_thread *o, struct lc_omp_task *task, bool last, uint64_t now) {
    struct lc_omp_point here;
    lc_omp_work_and_tell(o, now, &here);
    join_event(o, task, &here);
    if (!last) {
        lc_omp_point_drop(o, &here);
        return;
    }
    task->early = false; /* any thread */
    if (task->event != NULL) {
        lc_omp_point_drop(o, &here);
        here = lc_omp_point_of(&task->event->joint);
    }
    lc_omp_trace_done(o, task, now);
    publish_end(o, task, &here);
    lc_omp_point_drop(o, &here);
    lc_omp_task_over(o, task);
}

void lc_omp_task_schedule(union ompt_data *before, int status, union ompt_data *next) {
    struct lc_omp_thread *o = lc_omp_self();
    if (o == NULL)
        return;
    uint64_t now = lc_ticks();
    if (status == OMPT_STATUS_TASKWAIT_COMPLETE) {
        waited_for_dependences(o, now);
        lc_omp_done(o, now);
        return;
    }
    bool of_event = status == OMPT_STATUS_EARLY_FULFILL || status == OMPT_STATUS_LATE_FULFILL;
    if (!of_event)
        lc_omp_task_unhide(o, before);
    struct lc_omp_task *from = before != NULL ? before->ptr : NULL;
    struct lc_omp_task *to = next != NULL ? next->ptr : NULL;
    if (of_event) {
        if (from != NULL && from->explicit_one)
            fulfil(o, from, status == OMPT_STATUS_LATE_FULFILL, now);
        lc_omp_done(o, now);
        return;
    }
    if (to != NULL && to != o->task)
        claim_next(to);
    if (from != NULL && from->explicit_one && status == OMPT_STATUS_COMPLETE)
        claim_waiting(from);
    bool was_in_runtime = lc_omp_in_runtime(o);
    bool ended = status == OMPT_STATUS_COMPLETE || status == OMPT_STATUS_CANCEL ||
                 status == OMPT_STATUS_DETACH;
    struct lc_omp_task *done = NULL;
    if (from != NULL && from == o->task && ended && from->explicit_one) {
        end_task(o, from, status != OMPT_STATUS_DETACH, now);
        done = status != OMPT_STATUS_DETACH ? from : NULL;
    } else {
        if (!was_in_runtime)
            lc_omp_worked(o, now);
        lc_omp_book(o, now);
        if (from != NULL && from == o->task)
            put_down(o, from, now);
    }
    if (to != NULL && to != o->task && to->explicit_one && !to->begun) {
        begin_task(o, to, was_in_runtime, now);
        lc_omp_trace_switch(o, now);
    } else {
        if (was_in_runtime)
            lc_omp_leave(o, now);
        if (to != NULL && to != o->task) {
            take_up(o, to, now);
            lc_omp_trace_switch(o, now);
        }
    }
    if (done != NULL) {
        if (done->undeferred && o->task == done->parent && o->task != NULL)
            lc_omp_follow(o, done); /* its creator has waited for it */
        before->ptr = NULL;
        lc_omp_task_over(o, done);
    }
    lc_omp_done(o, now);
}

void lc_omp_wait_begin(struct lc_omp_thread *o, bool in_barrier, uint64_t now) {
    if (o->task == NULL)
        return;
    o->task->came = now;
    o->task->elsewhere = o->task->back = 0;
    o->task->in_barrier = in_barrier;
}

void lc_omp_wait_book(struct lc_omp_thread *o, const struct lc_omp_task *task, uint64_t came,
                      uint32_t kind, const struct lc_omp_late *last) {
    uint64_t waited = last->when > came ? last->when - came : 0;
    lc_omp_waited(o, o->at, kind, waited > task->elsewhere ? waited - task->elsewhere : 0, last);
}

void lc_omp_wait_end_tasks(struct lc_omp_thread *o, const struct lc_omp_late *last) {
    struct lc_omp_task *task = o->task;
    uint64_t from = task->left > last->when ? task->left : last->when;
    if (task->came != 0 && task->back > from)
        task->elsewhere -= task->back - from;
    if (task->came != 0)
        lc_omp_wait_book(o, task, task->came, LC_MEASURED_OMP_TASKWAIT, last);
    task->came = 0;
}
