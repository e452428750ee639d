/* Ordered loops whose iterations wait for others (`ordered depend(sink: ..)`, until these come to
 * `ordered depend(source)`): the edge from the source, and the waiting, which is that of `ordered`.
 *
 * The runtime tells of the source before the others may go on, and of a sink when its waiting is
 * over, both with the iteration, counted from 0 in each dimension; of the begin of the waiting the
 * preloaded library tells, which stands between the program and the runtime's function. */
#ifndef LC_MEASURE_OPENMP_DOACROSS_H
#define LC_MEASURE_OPENMP_DOACROSS_H

#include <stdbool.h>

#include "measure/openmp/omp_thread.h"
#include "measure/openmp/ompt.h"

/* Is this list of dependences, of n > 0 parts, that of an iteration? */
static inline bool lc_omp_is_iteration(const struct ompt_dependence *list) {
    return list[0].type == OMPT_DEPEND_SOURCE || list[0].type == OMPT_DEPEND_SINK;
}

/* The thread is at the source of an iteration, or its waiting for one is over; list: n dimensions
 * of the loop. */
void lc_omp_iteration(struct lc_omp_thread *o, const struct ompt_dependence *list, int n);

/* The calling thread begins to wait for an iteration, or (false) is back from the runtime, also
 * where there is no such iteration; code: where the program called it. */
void lc_omp_sink(bool begins, const void *code);

#endif
