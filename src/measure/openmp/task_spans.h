/* Per task construct: the longest chain of useful work of its tasks (span), and how many of them
 * ran at once. A construct is a node of the call tree; the first LC_OMP_SPANS that create a task
 * have a span. */
#ifndef LC_MEASURE_OPENMP_TASK_SPANS_H
#define LC_MEASURE_OPENMP_TASK_SPANS_H

#include "measure/openmp/omp_thread.h"

/* Of the construct at this node of the thread: 1 + index; 0: it has none. */
uint32_t lc_omp_span_of(struct lc_omp_node *node);
/* The task begins to run, or goes on. */
void lc_omp_span_runs(struct lc_omp_task *task);
/* It ends, or is put down. */
void lc_omp_span_stops(struct lc_omp_task *task);
/* The task has ended: its construct's chain, in this interval, may be the longest. */
void lc_omp_span_ended(const struct lc_omp_task *task, uint32_t interval);
/* Adds the spans of the interval, which is about to end, to what is known, and begins anew. */
void lc_omp_spans_close(void);
/* The measurement ends: books all of it. */
void lc_omp_spans_book(struct lc_omp_thread *o);

/* Spans of tasks and points, of which n are there: n at least, more of them 0. */
static inline void lc_omp_spans_have(uint64_t *spans, uint32_t *have, uint32_t n) {
    while (*have < n)
        spans[(*have)++] = 0;
}

/* To the larger of both; `from` has n. */
static inline void lc_omp_spans_raise(uint64_t *to, uint32_t *have, const uint64_t *from,
                                      uint32_t n) {
    lc_omp_spans_have(to, have, n);
    for (uint32_t i = 0; i < n; i++)
        to[i] = from[i] > to[i] ? from[i] : to[i];
}

#endif
