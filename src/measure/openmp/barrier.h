/* Barriers of a region: who has come, and what they tell.
 *
 * Nouns
 *   seat   what one thread of the team tells when it comes, in a line of cache that only it writes:
 *          it waits for nobody there, and the others read the line when they leave
 *   joint  what all others tell: ended tasks; threads that have no seat (the team is larger), or
 *          that tell more than fits into one (a phase, what-if clocks, spans, clocks that lag)
 *
 * Barriers of a region have numbers in a row, that none has had in the same record before, so that
 * what stands there from another region is known as that. Whoever enters the next one but one has
 * seen everybody leave this one, so two barriers in turns are enough. */
#ifndef LC_MEASURE_OPENMP_BARRIER_H
#define LC_MEASURE_OPENMP_BARRIER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "measure/clocks/clocks.h"
#include "measure/openmp/omp_thread.h"
#include "measure/openmp/ompt.h"
#include "piggyback/logical.h"

struct lc_omp_come {         /* to a barrier */
    uint32_t n;              /* threads */
    struct lc_omp_late last; /* of these; when 0: nobody */
    uint64_t over;           /* when the last thread had come, and the last task had ended; or 0 */
};

/* A thread will come, some time after: its seat may be on another core, which has read it. */
static inline void lc_omp_barrier_ahead(struct lc_omp_region *region, uint32_t number,
                                        uint32_t thread) {
    if (lc_likely(thread < LC_OMP_SEATS))
        lc_line_claim(&region->barriers[number & 1].seats[thread]);
}
/* The thread's seat there; NULL: it has none, or has more to tell than fits. */
static inline struct lc_omp_seat *lc_omp_barrier_seat(struct lc_omp_region *region, uint32_t number,
                                                      uint32_t thread,
                                                      const struct lc_omp_point *point) {
    bool fits =
        point->later == NULL && (point->stamp.phase | point->n_spans | lc_clk.n_whatif) == 0;
    return lc_likely(thread < LC_OMP_SEATS && fits) ? &region->barriers[number & 1].seats[thread]
                                                    : NULL;
}
/* It takes it. Partner of the release: lc_omp_seat_taken. */
static inline void lc_omp_seat_take(struct lc_omp_seat *seat, uint32_t number,
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
/* Has its thread come to this barrier? */
static inline bool lc_omp_seat_taken(const struct lc_omp_seat *seat, uint32_t number) {
    return atomic_load_explicit(&seat->number, memory_order_acquire) == number + 1;
}

#define LC_SEEN(word) __atomic_load_n(&(word), __ATOMIC_RELAXED)

static inline struct lc_omp_late lc_omp_seat_late(const struct lc_omp_seat *seat) {
    return (struct lc_omp_late){LC_SEEN(seat->when), LC_SEEN(seat->thread), LC_SEEN(seat->at)};
}
/* What its thread has told: all that a point has which fits. */
static inline void lc_omp_seat_tells(const struct lc_omp_seat *seat, struct lc_omp_point *point) {
    point->later = NULL;
    point->late = lc_omp_seat_late(seat);
    point->stamp.enter = point->late.when;
    point->stamp.interval = LC_SEEN(seat->interval);
    point->stamp.node = LC_SEEN(seat->node);
    point->stamp.vector = LC_SEEN(seat->vector);
    point->stamp.useful = LC_SEEN(seat->useful);
    point->stamp.outside_omp = LC_SEEN(seat->outside_omp);
    point->stamp.phase = 0;
    point->stamp.phase_useful = 0;
    point->process = LC_SEEN(seat->process);
    point->task = LC_SEEN(seat->task);
    point->n_spans = 0;
    if (lc_unlikely(lc_clk.n_whatif > 0))
        memset(point->whatif, 0, sizeof point->whatif);
}

/* Seats of a region's team; where there is none, one. */
static inline uint32_t lc_omp_seats_of(const struct lc_omp_region *region) {
    uint32_t team = atomic_load_explicit(&region->team, memory_order_relaxed);
    return team == 0 ? 1 : team < LC_OMP_SEATS ? team : LC_OMP_SEATS;
}
/* The seat of the only other thread of a team of two that both have come to this barrier of, where
 * nothing is told besides; NULL: any other case. */
static inline const struct lc_omp_seat *lc_omp_barrier_other(const struct lc_omp_region *region,
                                                             uint32_t number, uint32_t thread) {
    const struct lc_omp_barrier *b = &region->barriers[number & 1];
    const struct lc_omp_seat *other = &b->seats[thread ^ 1];
    /* acquire: partner is lc_short_unlock */
    bool alone =
        atomic_load_explicit(&b->joint.lock, memory_order_acquire) == 0 && b->number != number + 1;
    return lc_omp_seats_of(region) == 2 && thread < 2 && alone && lc_omp_seat_taken(other, number)
               ? other
               : NULL;
}

/* Raises what the barrier waits for to this point: of a thread, or (false) an ended task. */
void lc_omp_barrier_join(struct lc_omp_region *region, uint32_t number,
                         const struct lc_omp_point *point, bool thread);
/* Who has come so far. all_over: nobody comes any more. */
struct lc_omp_come lc_omp_barrier_look(struct lc_omp_region *region, uint32_t number,
                                       bool all_over);

/* The thread was through a barrier of a team, of which the runtime has not told: the edges from all
 * that came to it. It runs no task. */
void lc_omp_barrier_followed(struct lc_omp_thread *o, struct lc_omp_region *region, uint32_t number,
                             uint64_t now);

/* A thread goes into a barrier of its team (kind: as the runtime says; data: the runtime's word for
 * its task), */
void lc_omp_barrier_begins(struct lc_omp_thread *o, int kind, union ompt_data *data,
                           const void *code);
/* and is through it. */
void lc_omp_barrier_ends(struct lc_omp_thread *o, int kind);

#endif
