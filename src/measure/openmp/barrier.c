#include "measure/openmp/barrier.h"

#include "base/short_lock.h"
#include "base/timer.h"
#include "measure/clocks/call_state.h"
#include "measure/clocks/clocks.h"
#include "measure/core/core.h"
#include "measure/openmp/nodes.h"
#include "measure/openmp/omp_blame.h"
#include "measure/openmp/omp_clocks.h"
#include "measure/openmp/omp_edges.h"
#include "measure/openmp/omp_self.h"
#include "measure/openmp/omp_trace.h"
#include "measure/openmp/tasks.h"
#include "measure/openmp/team.h"
#include "measure/openmp/usual.h"

void lc_omp_barrier_join(struct lc_omp_region *region, uint32_t number,
                         const struct lc_omp_point *point, bool thread) {
    struct lc_omp_barrier *b = &region->barriers[number & 1];
    lc_short_lock(&b->joint.lock);
    if (b->number != number + 1) { /* the first that comes to it */
        b->number = number + 1;
        b->joint.any = false;
        b->arrived = 0;
        b->last.when = 0;
    }
    lc_omp_join_locked(&b->joint, point);
    b->arrived += thread;
    if (thread && point->late.when >= b->last.when)
        b->last = point->late;
    lc_short_unlock(&b->joint.lock);
}

/* A thread comes: it tells this. thread: its number in the team. */
static void come_to(struct lc_omp_region *region, uint32_t number, uint32_t thread,
                    const struct lc_omp_point *point) {
    struct lc_omp_seat *seat = lc_omp_barrier_seat(region, number, thread, point);
    if (lc_likely(seat != NULL))
        lc_omp_seat_take(seat, number, point);
    else
        lc_omp_barrier_join(region, number, point, true);
}

/* The thread has not come after all; what it told will be told again, with more. */
static void take_back(struct lc_omp_region *region, uint32_t number, uint32_t thread) {
    struct lc_omp_barrier *b = &region->barriers[number & 1];
    if (thread < LC_OMP_SEATS && lc_omp_seat_taken(&b->seats[thread], number)) {
        atomic_store_explicit(&b->seats[thread].number, 0, memory_order_relaxed);
        return;
    }
    lc_short_lock(&b->joint.lock);
    if (b->number == number + 1)
        b->arrived--;
    lc_short_unlock(&b->joint.lock);
}

struct lc_omp_come lc_omp_barrier_look(struct lc_omp_region *region, uint32_t number,
                                       bool all_over) {
    struct lc_omp_barrier *b = &region->barriers[number & 1];
    if (all_over)
        lc_short_lock_free(&b->joint.lock);
    else
        lc_short_lock(&b->joint.lock);
    struct lc_omp_come come = {0};
    if (b->number == number + 1)
        come = (struct lc_omp_come){b->arrived, b->last, b->joint.point.stamp.enter};
    if (!all_over)
        lc_short_unlock(&b->joint.lock);
    for (uint32_t i = 0, n = lc_omp_seats_of(region); i < n; i++) {
        if (!lc_omp_seat_taken(&b->seats[i], number))
            continue;
        struct lc_omp_late late = lc_omp_seat_late(&b->seats[i]);
        come.n++;
        if (late.when >= come.last.when)
            come.last = late;
        if (late.when > come.over)
            come.over = late.when;
    }
    return come;
}

/* The thread leaves the barrier, to which all have come: the edges from the others. Returns who of
 * these came last; when 0: nobody. */
static struct lc_omp_late leave_all(struct lc_omp_thread *o, struct lc_omp_region *region,
                                    uint32_t number, uint32_t thread, uint64_t now) {
    const struct lc_omp_barrier *b = &region->barriers[number & 1];
    const struct lc_omp_seat *own = thread < LC_OMP_SEATS ? &b->seats[thread] : NULL;
    struct lc_omp_joint others;
    struct lc_omp_late last = {0};
    lc_omp_joint_begin(&others);
    lc_short_lock_free(&b->joint.lock);
    if (lc_unlikely(b->number == number + 1)) {
        lc_omp_edge(o, &b->joint.point, now);
        last = b->last;
    }
    for (uint32_t i = 0, n = lc_omp_seats_of(region); i < n; i++) {
        const struct lc_omp_seat *seat = &b->seats[i];
        if (seat == own || /* which tells it nothing */
            lc_unlikely(!lc_omp_seat_taken(seat, number)))
            continue;
        if (lc_likely(!others.any)) {
            lc_omp_seat_tells(seat, &others.point);
            others.any = true;
        } else {
            struct lc_omp_point point;
            lc_omp_seat_tells(seat, &point);
            lc_omp_clock_join(&others, &point);
        }
        if (LC_SEEN(seat->when) >= last.when)
            last = lc_omp_seat_late(seat);
    }
    if (others.any)
        lc_omp_edge(o, &others.point, now);
    lc_omp_barrier_ahead(region, number + 1, thread);
    return last;
}

void lc_omp_barrier_followed(struct lc_omp_thread *o, struct lc_omp_region *region, uint32_t number,
                             uint64_t now) {
    leave_all(o, region, number, LC_NONE, now);
}

/* Perhaps the last one of a team; before 5.1 that is told as those of worksharing are. */
static bool may_be_last(int kind) {
    return kind == OMPT_SYNC_IMPLICIT || kind == OMPT_SYNC_PARALLEL || kind == OMPT_SYNC_TEAMS;
}

/* It has come to a barrier, whose node it is at; node: where it was longest before. */
static void arrive(struct lc_omp_thread *o, struct lc_omp_region *region, uint32_t node,
                   uint64_t now) {
    struct lc_omp_task *task = o->task;
    struct lc_omp_point here;
    lc_omp_point_now(o, now, &here);
    here.late.node = node;
    lc_omp_wait_begin(o, true, now);
    lc_omp_tell_ended(o);
    come_to(region, task->barrier++, task->number, &here);
    task->holds_region = true;
    lc_omp_point_drop(o, &here);
}

/* It comes to a barrier, into which it goes, of its team. */
static inline bool usual_barrier_begin(struct lc_omp_thread *o, enum lc_omp_construct construct,
                                       const void *code, uint64_t now) {
    struct lc_omp_task *task = o->running;
    struct lc_omp_node *inside = lc_omp_usual_inside(o, construct, code);
    if (inside == NULL || !lc_omp_usual_task(o) || task->region == NULL || task->explicit_one ||
        task->number >= LC_OMP_SEATS || task->n_spans != 0 || o->ended.any)
        return false;
    struct lc_clk_thread *k = lc_omp_usual(o);
    if (lc_unlikely(k == NULL))
        return false;
    struct lc_omp_point here;
    lc_omp_usual_enter(o, k, now);
    lc_omp_clock_tell(task, k, now, &here);
    lc_omp_usual_over(k);
    here.late = (struct lc_omp_late){now, o->t->index, lc_omp_blame_node(o)};
    lc_omp_usual_push(o, inside, now);
    lc_omp_wait_begin(o, true, now);
    uint32_t number = task->barrier++;
    lc_omp_seat_take(&task->region->barriers[number & 1].seats[task->number], number, &here);
    task->holds_region = true;
    return true;
}

static LC_COLD void any_barrier_begin(struct lc_omp_thread *o, enum lc_omp_construct construct,
                                      const void *code, uint64_t now) {
    const struct lc_omp_task *task = o->task;
    struct lc_omp_region *region = task != NULL && !task->explicit_one ? task->region : NULL;
    lc_omp_enter(o, now);
    uint32_t node = lc_omp_blame_node(o);
    lc_omp_push(o, construct, code, now);
    if (region != NULL)
        arrive(o, region, node, now);
}

void lc_omp_barrier_begins(struct lc_omp_thread *o, int kind, union ompt_data *data,
                           const void *code) {
    enum lc_omp_construct construct =
        kind == OMPT_SYNC_EXPLICIT ? LC_OMP_AT_BARRIER : LC_OMP_AT_IMPLICIT_BARRIER;
    uint64_t now = lc_ticks();
    if (lc_unlikely(!usual_barrier_begin(o, construct, code, now)))
        any_barrier_begin(o, construct, code, now);
    const struct lc_omp_task *task = o->task;
    if (may_be_last(kind) && task != NULL && task->region != NULL && !task->explicit_one)
        lc_omp_task_hide(o, data);
    lc_omp_done(o, now);
}

/* It leaves a barrier, in which it is, of its team. */
static inline bool usual_barrier_end(struct lc_omp_thread *o, int kind, uint64_t now) {
    struct lc_omp_task *task = o->running;
    if (!lc_omp_usual_task(o) || !lc_omp_usual_is_inside(o) || task->region == NULL ||
        task->came == 0)
        return false;
    struct lc_omp_region *region = task->region;
    uint32_t number = task->barrier - 1;
    const struct lc_omp_seat *other = lc_omp_barrier_other(region, number, task->number);
    struct lc_clk_thread *k = lc_omp_usual(o);
    if (lc_unlikely(k == NULL))
        return false;
    struct lc_omp_late last;
    lc_omp_usual_leave(k, now);
    if (other != NULL) {
        struct lc_omp_point point;
        lc_omp_seat_tells(other, &point);
        lc_omp_usual_edge(o, k, &point, now);
        lc_omp_usual_over(k);
        lc_omp_barrier_ahead(region, number + 1, task->number);
        last = point.late;
    } else {
        lc_omp_usual_over(k);
        last = leave_all(o, region, number, task->number, now);
    }
    lc_omp_wait_book(
        o, task, task->came,
        kind == OMPT_SYNC_EXPLICIT ? LC_MEASURED_OMP_EBARRIER : LC_MEASURED_OMP_IBARRIER, &last);
    task->came = 0;
    bool team = atomic_load_explicit(&region->team, memory_order_relaxed) > 1;
    o->barrier_left = team && may_be_last(kind) ? now : 0; /* see share_ends */
    lc_omp_usual_pop(o, now);
    return true;
}

static LC_COLD void any_barrier_end(struct lc_omp_thread *o, int kind, uint64_t now) {
    struct lc_omp_task *task = o->task;
    lc_omp_leave(o, now);
    if (task != NULL && task->region != NULL && task->came != 0) {
        struct lc_omp_late last = leave_all(o, task->region, task->barrier - 1, task->number, now);
        lc_omp_wait_book(o, task, task->came,
                         kind == OMPT_SYNC_EXPLICIT ? LC_MEASURED_OMP_EBARRIER
                                                    : LC_MEASURED_OMP_IBARRIER,
                         &last);
        task->came = 0;
        bool team = atomic_load_explicit(&task->region->team, memory_order_relaxed) > 1;
        o->barrier_left = team && may_be_last(kind) ? now : 0; /* see share_ends */
    }
    lc_omp_pop(o, now);
}

void lc_omp_barrier_ends(struct lc_omp_thread *o, int kind) {
    uint64_t now = lc_ticks();
    if (lc_unlikely(!usual_barrier_end(o, kind, now)))
        any_barrier_end(o, kind, now);
    lc_omp_done(o, now);
}

void lc_omp_barrier_perhaps(const void *code) {
    struct lc_omp_thread *o = lc_omp_self();
    const struct lc_omp_task *task = o != NULL ? o->task : NULL;
    struct lc_omp_region *region = task != NULL && !task->explicit_one ? task->region : NULL;
    if (region == NULL)
        return;
    uint64_t now = lc_ticks();
    lc_omp_enter(o, now);
    uint32_t node = lc_omp_blame_node(o);
    lc_omp_push_unseen(o, LC_OMP_AT_IMPLICIT_BARRIER, code, now);
    arrive(o, region, node, now);
    lc_omp_done(o, now);
}

void lc_omp_barrier_was_there(bool was) {
    struct lc_omp_thread *o = lc_omp_self();
    struct lc_omp_task *task = o != NULL ? o->task : NULL;
    if (task == NULL || task->region == NULL || task->came == 0)
        return;
    bool node = o->at != NULL && o->n_outer > 0 && o->n_outer <= LC_OMP_DEEPEST;
    if (was) { /* in the trace behind the tasks that it executed there */
        if (node)
            lc_omp_trace2(o, LC_REC_OMP_IN, task->back != 0 ? task->back : task->came, o->at->node);
        lc_omp_barrier_ends(o, OMPT_SYNC_IMPLICIT);
        return;
    }
    take_back(task->region, --task->barrier, task->number);
    task->came = 0;
    uint64_t now = lc_ticks();
    lc_omp_leave(o, now);
    if (node)
        o->at->row->count--;
    lc_omp_pop_into_block(o, now);
    lc_omp_done(o, now);
}
