/* The records of the threads in OpenMP: made with the first callback, kept for threads to come. */
#ifndef LC_MEASURE_OPENMP_OMP_SELF_H
#define LC_MEASURE_OPENMP_OMP_SELF_H

#include "measure/core/core.h"
#include "measure/hot/hot.h"
#include "measure/openmp/omp_thread.h"

/* As lc_omp_self_asking where it is not the usual case: of a thread that has none yet, or is not
 * measured (now): NULL. */
struct lc_omp_thread *lc_omp_self_new(void);
/* As lc_omp_self where it is not the usual case. */
struct lc_omp_thread *lc_omp_self_slow(void);

/* Of the calling thread, in callbacks that tell whether it has got the lock that it asked for;
 * NULL: not measured (now). */
static inline struct lc_omp_thread *lc_omp_self_asking(void) {
    struct lc_thread *t = lc_self;
    struct lc_omp_thread *o = t != NULL ? t->openmp : NULL;
    if (lc_likely(o != NULL &&
                  (atomic_load_explicit(&t->mode, memory_order_relaxed) & LC_MODE_LIVE) != 0))
        return o;
    return lc_omp_self_new();
}
/* Of the calling thread, in all other callbacks; NULL: not measured (now). */
static inline struct lc_omp_thread *lc_omp_self(void) {
    struct lc_thread *t = lc_self;
    struct lc_omp_thread *o = t != NULL ? t->openmp : NULL;
    if (lc_likely(o != NULL && !o->takes_lock &&
                  (atomic_load_explicit(&t->mode, memory_order_relaxed) & LC_MODE_LIVE) != 0))
        return o;
    return lc_omp_self_slow();
}
/* Set by what tells the calling thread's events: what they cost, it measures itself (gomp/). */
extern __thread bool lc_omp_measured_by_call;
/* The most threads that there were at once. */
extern _Atomic uint32_t lc_omp_n_threads;
/* All that there have been. */
extern _Atomic uint32_t lc_omp_n_ever;
/* All threads, newest first. */
struct lc_omp_thread *lc_omp_threads(void);
/* The thread ends: what it had open is forgotten, its record may be used again. */
void lc_omp_thread_gone(struct lc_thread *t);

#endif
