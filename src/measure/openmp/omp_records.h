/* Records of a thread in OpenMP, into its stream of the trace. */
#ifndef LC_MEASURE_OPENMP_OMP_RECORDS_H
#define LC_MEASURE_OPENMP_OMP_RECORDS_H

#include <stdatomic.h>
#include <stdint.h>

#include "format/trace_record.h"
#include "measure/openmp/omp_thread.h"
#include "measure/trace/trace_area.h"

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
