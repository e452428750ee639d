/* Per task construct: the longest chain of useful work of its tasks (span), and how many of them
 * ran at once. A construct is a node of the call tree; the first LC_OMP_SPANS that create a task
 * have a span. */
#ifndef LC_MEASURE_OPENMP_TASK_SPANS_H
#define LC_MEASURE_OPENMP_TASK_SPANS_H

#include "measure/openmp/omp_thread.h"

/* How many constructs have a span, at most LC_OMP_SPANS. */
extern _Atomic uint32_t lc_omp_n_spans;

/* Of the construct at this node of the thread: 1 + index; 0: it has none. */
uint32_t lc_omp_span_of(struct lc_omp_node *node);
/* A task of the construct begins to run, or goes on. span: as above. */
void lc_omp_span_runs(uint32_t span);
/* It ends, or is put down. */
void lc_omp_span_stops(uint32_t span);
/* The task has ended: its construct's chain, in this interval, may be the longest. */
void lc_omp_span_ended(const struct lc_omp_task *task, uint32_t interval);
/* Adds the spans of the interval, which is about to end, to what is known, and begins anew. */
void lc_omp_spans_close(void);
/* The measurement ends: books all of it. */
void lc_omp_spans_book(struct lc_omp_thread *o);

static inline void lc_omp_spans_raise(uint64_t *to, const uint64_t *from) {
    uint32_t n = atomic_load_explicit(&lc_omp_n_spans, memory_order_relaxed);
    for (uint32_t i = 0; i < n; i++)
        to[i] = from[i] > to[i] ? from[i] : to[i];
}

#endif
