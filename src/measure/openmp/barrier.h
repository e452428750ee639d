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

#include <stdbool.h>

#include "measure/openmp/omp_thread.h"

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
/* A thread comes: it tells this. thread: its number in the team. */
void lc_omp_barrier_come(struct lc_omp_region *region, uint32_t number, uint32_t thread,
                         const struct lc_omp_point *point);
/* Raises what the barrier waits for to this point: of a thread, or (false) an ended task. */
void lc_omp_barrier_join(struct lc_omp_region *region, uint32_t number,
                         const struct lc_omp_point *point, bool thread);
/* The thread has not come after all; what it told will be told again, with more. */
void lc_omp_barrier_gone(struct lc_omp_region *region, uint32_t number, uint32_t thread);
/* Who has come so far. all_over: nobody comes any more. */
struct lc_omp_come lc_omp_barrier_look(struct lc_omp_region *region, uint32_t number,
                                       bool all_over);
/* The thread leaves the barrier, to which all have come: the edges from the others. Returns who of
 * these came last; when 0: nobody. */
struct lc_omp_late lc_omp_barrier_leave(struct lc_omp_thread *o, struct lc_omp_region *region,
                                        uint32_t number, uint32_t thread, uint64_t now);

#endif
