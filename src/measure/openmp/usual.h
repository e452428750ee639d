/* The usual event of OpenMP, in one go. Nearly all events are alike: nothing but the profile is
 * measured, without samples or polls to be booked since the last event; clocks do not lag behind
 * the program, and there are no scenarios nor phases; what the thread does it has done there
 * before. A callback asks for all that once, and does with the thread's clocks what is to be done,
 * their lock taken once.
 * Where anything is different it goes the general way (omp_edges.h, nodes.h), whose rules these
 * are: both use the same functions where there is anything to decide.
 *
 * now: ticks, the same for all that one callback does. */
#ifndef LC_MEASURE_OPENMP_USUAL_H
#define LC_MEASURE_OPENMP_USUAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "measure/clocks/clocks.h"
#include "measure/clocks/origins.h"
#include "measure/core/core.h"
#include "measure/core/thread.h"
#include "measure/openmp/nodes.h"
#include "measure/openmp/omp_blame.h"
#include "measure/openmp/omp_clocks.h"
#include "measure/openmp/omp_edges.h"
#include "measure/openmp/omp_thread.h"
#include "measure/samples/sampler.h"

/* As lc_omp_usual where it has not been so before, with the lock of the clocks, which it releases
 * unless the event is usual. */
struct lc_clk_thread *lc_omp_usual_look(struct lc_omp_thread *o, struct lc_clk_thread *k);

/* The thread's clocks, with their lock, until lc_omp_usual_over: what the event does to them is
 * what it usually does. NULL: not so. What changes only with the epoch of the clocks, or in calls
 * of MPI, is not asked again each time. */
static inline struct lc_clk_thread *lc_omp_usual(struct lc_omp_thread *o) {
    struct lc_thread *t = o->t;
    struct lc_clk_thread *k = t->clocks;
    uint32_t mode = atomic_load_explicit(&t->mode, memory_order_relaxed);
    if (lc_unlikely(k == NULL || mode != (LC_MODE_LIVE | LC_MODE_ON | LC_MODE_CLOCKS) ||
                    t->skipped_polls != NULL || t->timed_poll != NULL || lc_samples_new(t)))
        return NULL;
    lc_clk_own_lock(k);
    uint32_t epoch = atomic_load_explicit(&lc_clk.epoch, memory_order_relaxed);
    if (lc_likely(o->usual_epoch == epoch + 1 && k->began == UINT64_MAX))
        return k;
    return lc_omp_usual_look(o, k);
}

static inline void lc_omp_usual_over(struct lc_clk_thread *k) {
    lc_clk_own_unlock(k);
}

/* Does it run a task, which has seen all that the thread's clocks have seen? */
static inline bool lc_omp_usual_task(const struct lc_omp_thread *o) {
    const struct lc_omp_task *task = o->running;
    return lc_likely(task != NULL && task->interval == o->interval);
}

/* lc_omp_usual of a thread that does. */
static inline struct lc_clk_thread *lc_omp_usual_in_task(struct lc_omp_thread *o) {
    return lc_omp_usual_task(o) ? lc_omp_usual(o) : NULL;
}

/* It has worked until now, at the node where it is. */
static inline void lc_omp_usual_worked(struct lc_omp_thread *o, struct lc_clk_thread *k,
                                       uint64_t now) {
    struct lc_logical *l = &k->l;
    uint64_t last = l->last, ticks = now > last ? now - last : 0;
    if (now != last) { /* else: see lc_clk_worked */
        lc_logical_useful(l, now, lc_omp_node_now(o));
        lc_clk_part_ends(k, ticks);
    }
    lc_omp_task_grows(o, o->running, l);
    o->seen_own = l->own;
    o->seen_useful = l->useful;
    if (ticks > 0)
        lc_omp_blame_work(o, ticks);
    if (lc_unlikely(ticks >= lc_clk.past_ticks)) {
        lc_clk_own_unlock(k);
        lc_clk_origins_worked(k, last, now, l->node, 0);
        lc_clk_own_lock(k);
    }
}

/* .. and goes into the runtime. */
static inline void lc_omp_usual_enter(struct lc_omp_thread *o, struct lc_clk_thread *k,
                                      uint64_t now) {
    o->entered = now;
    if (lc_likely(k->in_runtime == 0)) {
        lc_omp_usual_worked(o, k, now);
        k->in_runtime = now;
    }
}

/* It comes back from there. */
static inline void lc_omp_usual_leave(struct lc_clk_thread *k, uint64_t now) {
    if (lc_likely(k->in_runtime != 0)) {
        uint64_t since = lc_larger(k->in_runtime, k->l.last);
        k->in_runtime = 0;
        k->l.last = now;
        lc_clk_runtime_ends(k, since, now);
    }
}

/* What it, and the task that it runs, tell others now. */
static inline void lc_omp_usual_tell(const struct lc_omp_thread *o, struct lc_clk_thread *k,
                                     uint64_t now, struct lc_omp_point *point) {
    lc_omp_clock_tell(o->running, k, now, point);
    point->late = (struct lc_omp_late){now, o->t->index, lc_omp_node_now(o)};
}

/* An edge that ends here; the point is of the thread's interval, or is none. */
static inline void lc_omp_usual_edge(struct lc_omp_thread *o, struct lc_clk_thread *k,
                                     const struct lc_omp_point *point, uint64_t now) {
    if (lc_likely(point->stamp.interval == k->l.interval))
        lc_omp_clock_take(o, k, o->running, point, now);
}

/* It runs the task from now on, a new one, which follows this point; back from the runtime, where
 * it was there. false: not usual, nothing is done yet. */
static inline bool lc_omp_usual_begins(struct lc_omp_thread *o, struct lc_omp_task *task,
                                       const struct lc_omp_point *point, uint64_t now) {
    struct lc_clk_thread *k = o->running == NULL ? lc_omp_usual(o) : lc_omp_usual_in_task(o);
    if (lc_unlikely(k == NULL))
        return false;
    lc_omp_usual_leave(k, now);
    task->interval = k->l.interval;
    o->task = o->running = task;
    lc_omp_usual_edge(o, k, point, now);
    lc_omp_usual_over(k);
    return true;
}

/* Whole events, or parts of them: false: this one is not usual, nothing is done yet. */

/* May it go into a construct here? */
static inline struct lc_omp_node *lc_omp_usual_inside(const struct lc_omp_thread *o,
                                                      enum lc_omp_construct construct,
                                                      const void *code) {
    bool may = lc_likely(o->at != NULL && o->n_outer < LC_OMP_DEEPEST);
    return may ? lc_omp_node_inside(o->at, construct, code) : NULL;
}

/* The time until now belongs to where it is, then it goes into this construct. */
static inline void lc_omp_usual_push(struct lc_omp_thread *o, struct lc_omp_node *inside,
                                     uint64_t now) {
    lc_omp_book_time(o, now);
    lc_omp_go_into(o, inside);
}

/* May it go out of a construct? */
static inline bool lc_omp_usual_is_inside(const struct lc_omp_thread *o) {
    return lc_likely(o->at != NULL && o->n_outer - 1 < LC_OMP_DEEPEST);
}

static inline void lc_omp_usual_pop(struct lc_omp_thread *o, uint64_t now) {
    lc_omp_book_time(o, now);
    lc_omp_go_out(o);
}

/* The time until now belongs to where it is; usual: is the event? */
static inline void lc_omp_book_as(struct lc_omp_thread *o, bool usual, uint64_t now) {
    if (lc_likely(usual && o->at != NULL))
        lc_omp_book_time(o, now);
    else
        lc_omp_book(o, now);
}

/* It goes into the runtime, and there into a construct. */
static inline bool lc_omp_usual_enters(struct lc_omp_thread *o, enum lc_omp_construct construct,
                                       const void *code, uint64_t now) {
    struct lc_omp_node *inside = lc_omp_usual_inside(o, construct, code);
    struct lc_clk_thread *k = inside != NULL ? lc_omp_usual_in_task(o) : NULL;
    if (lc_unlikely(k == NULL))
        return false;
    lc_omp_usual_enter(o, k, now);
    lc_omp_usual_over(k);
    lc_omp_usual_push(o, inside, now);
    return true;
}

/* Into the runtime, and there into a construct, as it comes. */
static inline void lc_omp_enter_construct(struct lc_omp_thread *o, enum lc_omp_construct construct,
                                          const void *code, uint64_t now) {
    if (lc_unlikely(!lc_omp_usual_enters(o, construct, code, now))) {
        lc_omp_enter(o, now);
        lc_omp_push(o, construct, code, now);
    }
}

/* It leaves the runtime, and is about to go out of a construct. */
static inline bool lc_omp_leave_usually(struct lc_omp_thread *o, uint64_t now) {
    struct lc_clk_thread *k = lc_omp_usual_is_inside(o) ? lc_omp_usual_in_task(o) : NULL;
    if (lc_unlikely(k == NULL))
        return false;
    lc_omp_usual_leave(k, now);
    lc_omp_usual_over(k);
    return true;
}
/* .. as it comes: is the event usual? */
static inline bool lc_omp_leave_construct(struct lc_omp_thread *o, uint64_t now) {
    bool usual = lc_omp_leave_usually(o, now);
    if (lc_unlikely(!usual))
        lc_omp_leave(o, now);
    return usual;
}
/* It goes out of it. */
static inline void lc_omp_construct_left(struct lc_omp_thread *o, bool usual, uint64_t now) {
    if (lc_likely(usual))
        lc_omp_usual_pop(o, now);
    else
        lc_omp_pop(o, now);
}

/* It has worked until now, as far as it is not in the runtime, and tells others of it, to be
 * dropped: is the event usual? */
static inline bool lc_omp_work_and_tell(struct lc_omp_thread *o, uint64_t now,
                                        struct lc_omp_point *point) {
    struct lc_clk_thread *k = lc_omp_usual_in_task(o);
    if (lc_unlikely(k == NULL)) {
        lc_omp_worked(o, now);
        lc_omp_point_now(o, now, point);
        return false;
    }
    if (lc_likely(k->in_runtime == 0))
        lc_omp_usual_worked(o, k, now);
    lc_omp_usual_tell(o, k, now, point);
    lc_omp_usual_over(k);
    return true;
}
/* .. and goes into the runtime before it tells. */
static inline void lc_omp_enter_and_tell(struct lc_omp_thread *o, uint64_t now,
                                         struct lc_omp_point *point) {
    struct lc_clk_thread *k = lc_omp_usual_in_task(o);
    if (lc_unlikely(k == NULL)) {
        lc_omp_enter(o, now);
        lc_omp_point_now(o, now, point);
        return;
    }
    lc_omp_usual_enter(o, k, now);
    lc_omp_usual_tell(o, k, now, point);
    lc_omp_usual_over(k);
}

/* It has worked until now, and goes into a construct, or (NULL) out of one. */
static inline bool lc_omp_usual_works(struct lc_omp_thread *o, struct lc_omp_node *inside,
                                      uint64_t now) {
    struct lc_clk_thread *k =
        inside != NULL || lc_omp_usual_is_inside(o) ? lc_omp_usual_in_task(o) : NULL;
    if (lc_unlikely(k == NULL))
        return false;
    if (lc_likely(k->in_runtime == 0))
        lc_omp_usual_worked(o, k, now);
    lc_omp_usual_over(k);
    if (inside != NULL)
        lc_omp_usual_push(o, inside, now);
    else
        lc_omp_usual_pop(o, now);
    return true;
}

#endif
