/* Events of OpenMP into the trace (format/trace_record.h): what other tools of the field write of
 * teams, constructs, locks and tasks. Called by the callbacks that measure them, on the thread of
 * which they tell; nothing without a trace, or while measurement is off. */
#ifndef LC_MEASURE_OPENMP_OMP_TRACE_H
#define LC_MEASURE_OPENMP_OMP_TRACE_H

#include <stdatomic.h>
#include <stdint.h>

#include "measure/openmp/nodes.h"
#include "format/trace_record.h"
#include "measure/openmp/omp_thread.h"
#include "measure/trace/trace_area.h"

/* A thread that the runtime made: before anything else of it. */
void lc_omp_trace_worker(struct lc_omp_thread *o, uint64_t now);
/* Teams; the thread that forks it has its part in it as the others. */
void lc_omp_trace_fork(struct lc_omp_thread *o, struct lc_omp_region *region, unsigned wanted,
                       uint64_t now);
/* Records that the team of a region has ended; now: ticks. */
void lc_omp_trace_join(struct lc_omp_thread *o, const struct lc_omp_region *region, uint64_t now);
/* The thread begins its share in a team. */
void lc_omp_trace_team(struct lc_omp_thread *o, struct lc_omp_task *share, uint64_t now);
/* Records that the thread has done its share in a team; now: ticks. */
void lc_omp_trace_team_end(struct lc_omp_thread *o, struct lc_omp_task *share, uint64_t now);

/* A lock: its number, and how often it was acquired (this time included). block: the construct
 * whose block it guards, LC_OMP_AT_IDLE: none; *node: the block's, 0: none. false: not recorded. */
bool lc_omp_trace_acquired(struct lc_omp_thread *o, uint32_t lock, uint32_t order,
                           enum lc_omp_construct block, const void *code, uint64_t now,
                           uint32_t *node);
/* omp_test_lock has got it. */
bool lc_omp_trace_tried(struct lc_omp_thread *o, uint32_t lock, uint32_t order, const void *code,
                        uint64_t now);
/* block, construct: nodes of what ends with it; 0: nothing does, and `code` is omp_unset_lock's. */
void lc_omp_trace_released(struct lc_omp_thread *o, uint32_t lock, uint32_t order, uint32_t block,
                           uint32_t construct, const void *code, uint64_t now);

/* An explicit task gets its number. */
void lc_omp_trace_created(struct lc_omp_thread *o, struct lc_omp_task *task, const void *code,
                          uint64_t now);
/* Records that the thread goes on with o->task; now: ticks. */
void lc_omp_trace_switch(struct lc_omp_thread *o, uint64_t now);
/* The task has ended on this thread. */
void lc_omp_trace_done(struct lc_omp_thread *o, const struct lc_omp_task *task, uint64_t now);

/* Records of a thread in OpenMP, into its stream of the trace. */

/* NULL: nothing is recorded now. */
static inline struct lc_trace_stream *lc_omp_stream(const struct lc_omp_thread *o) {
    uint32_t mode = atomic_load_explicit(&o->t->mode, memory_order_relaxed);
    return lc_likely((mode & LC_TRACE_RECORDING) != LC_TRACE_RECORDING) ? NULL : o->t->trace;
}

/* A record of two words; now: ticks. */
static inline void lc_omp_put2(struct lc_trace_stream *s, enum lc_rec_kind kind, uint64_t now,
                               uint64_t a) {
    lc_trace_put2(s, lc_rec_word(kind, now - s->base_ticks), a);
    lc_trace_renew_if_full(s);
}

static inline void lc_omp_trace2(struct lc_omp_thread *o, enum lc_rec_kind kind, uint64_t now,
                                 uint64_t a) {
    struct lc_trace_stream *s = lc_omp_stream(o);
    if (lc_unlikely(s != NULL))
        lc_omp_put2(s, kind, now, a);
}

#endif
