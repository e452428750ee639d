#include "measure/openmp/barrier.h"

#include <string.h>

#include "base/short_lock.h"
#include "measure/clocks/clocks.h"
#include "measure/core/core.h"
#include "measure/openmp/omp_clocks.h"
#include "measure/openmp/omp_edges.h"

/* Is that all that there is to tell? */
static inline bool fits(const struct lc_omp_point *point) {
    return point->later == NULL && (point->stamp.phase | point->n_spans | lc_clk.n_whatif) == 0;
}

/* Partner of the release: has_come. */
static inline void sit(struct lc_omp_seat *seat, uint32_t number,
                       const struct lc_omp_point *point) {
    LC_SHOW(seat->interval, point->stamp.interval);
    LC_SHOW(seat->thread, point->late.thread);
    LC_SHOW(seat->at, point->late.node);
    LC_SHOW(seat->node, point->stamp.node);
    LC_SHOW(seat->vector, point->stamp.vector);
    LC_SHOW(seat->when, point->late.when);
    LC_SHOW(seat->useful, point->stamp.useful);
    LC_SHOW(seat->outside_omp, point->stamp.outside_omp);
    LC_SHOW(seat->process, point->process);
    LC_SHOW(seat->task, point->task);
    atomic_store_explicit(&seat->number, number + 1, memory_order_release);
}

static inline bool has_come(const struct lc_omp_seat *seat, uint32_t number) {
    return atomic_load_explicit(&seat->number, memory_order_acquire) == number + 1;
}

#define READ(word) __atomic_load_n(&(word), __ATOMIC_RELAXED)

static inline struct lc_omp_late late_of(const struct lc_omp_seat *seat) {
    return (struct lc_omp_late){READ(seat->when), READ(seat->thread), READ(seat->at)};
}

/* What was told: all that a point has which fits. */
static inline void told(const struct lc_omp_seat *seat, struct lc_omp_point *point) {
    point->later = NULL;
    point->late = late_of(seat);
    point->stamp.enter = point->late.when;
    point->stamp.interval = READ(seat->interval);
    point->stamp.node = READ(seat->node);
    point->stamp.vector = READ(seat->vector);
    point->stamp.useful = READ(seat->useful);
    point->stamp.outside_omp = READ(seat->outside_omp);
    point->stamp.phase = 0;
    point->stamp.phase_useful = 0;
    point->process = READ(seat->process);
    point->task = READ(seat->task);
    point->n_spans = 0;
    if (lc_unlikely(lc_clk.n_whatif > 0))
        memset(point->whatif, 0, sizeof point->whatif);
}

/* Of a region without a team there is one. */
static inline uint32_t seats_of(const struct lc_omp_region *region) {
    uint32_t team = atomic_load_explicit(&region->team, memory_order_relaxed);
    return team == 0 ? 1 : team < LC_OMP_SEATS ? team : LC_OMP_SEATS;
}

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

void lc_omp_barrier_come(struct lc_omp_region *region, uint32_t number, uint32_t thread,
                         const struct lc_omp_point *point) {
    if (lc_likely(thread < LC_OMP_SEATS && fits(point)))
        sit(&region->barriers[number & 1].seats[thread], number, point);
    else
        lc_omp_barrier_join(region, number, point, true);
}

void lc_omp_barrier_gone(struct lc_omp_region *region, uint32_t number, uint32_t thread) {
    struct lc_omp_barrier *b = &region->barriers[number & 1];
    if (thread < LC_OMP_SEATS && has_come(&b->seats[thread], number)) {
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
    for (uint32_t i = 0, n = seats_of(region); i < n; i++) {
        if (!has_come(&b->seats[i], number))
            continue;
        struct lc_omp_late late = late_of(&b->seats[i]);
        come.n++;
        if (late.when >= come.last.when)
            come.last = late;
        if (late.when > come.over)
            come.over = late.when;
    }
    return come;
}

struct lc_omp_late lc_omp_barrier_leave(struct lc_omp_thread *o, struct lc_omp_region *region,
                                        uint32_t number, uint32_t thread, uint64_t now) {
    const struct lc_omp_barrier *b = &region->barriers[number & 1];
    struct lc_omp_joint others;
    struct lc_omp_late last = {0};
    lc_omp_joint_begin(&others);
    lc_short_lock_free(&b->joint.lock);
    if (lc_unlikely(b->number == number + 1)) {
        lc_omp_edge(o, &b->joint.point, now);
        last = b->last;
    }
    for (uint32_t i = 0, n = seats_of(region); i < n; i++) {
        const struct lc_omp_seat *seat = &b->seats[i];
        if (i == thread || lc_unlikely(!has_come(seat, number))) /* its own tells it nothing */
            continue;
        if (lc_likely(!others.any)) {
            told(seat, &others.point);
            others.any = true;
        } else {
            struct lc_omp_point point;
            told(seat, &point);
            lc_omp_clock_join(&others, &point);
        }
        if (READ(seat->when) >= last.when)
            last = late_of(seat);
    }
    if (others.any)
        lc_omp_edge(o, &others.point, now);
    lc_omp_barrier_ahead(region, number + 1, thread);
    return last;
}
