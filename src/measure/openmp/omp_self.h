/* The records of the threads in OpenMP: made with the first callback, kept for threads to come. */
#ifndef LC_MEASURE_OPENMP_OMP_SELF_H
#define LC_MEASURE_OPENMP_OMP_SELF_H

#include "measure/openmp/omp_thread.h"

/* Of the calling thread; NULL: not measured (now). */
struct lc_omp_thread *lc_omp_self(void);
/* The same in callbacks that tell whether it has got the lock that it asked for. */
struct lc_omp_thread *lc_omp_self_asking(void);
/* All threads, newest first. */
struct lc_omp_thread *lc_omp_threads(void);
/* The thread ends. */
void lc_omp_thread_gone(struct lc_thread *t);

#endif
