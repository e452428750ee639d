/* Locks, critical sections, ordered: an edge from each release to the next acquire, and waiting for
 * whoever held it. */
#ifndef LC_MEASURE_OPENMP_MUTEXES_H
#define LC_MEASURE_OPENMP_MUTEXES_H

#include <stdint.h>

struct lc_omp_thread;

/* Callbacks; wait: what the runtime calls the lock. */
void lc_omp_lock_init(int kind, unsigned hint, unsigned implementation, uint64_t wait,
                      const void *code);
void lc_omp_mutex_acquire(int kind, unsigned hint, unsigned implementation, uint64_t wait,
                          const void *code);
void lc_omp_mutex_acquired(int kind, uint64_t wait, const void *code);
void lc_omp_mutex_released(int kind, uint64_t wait, const void *code);
void lc_omp_nest_lock(int endpoint, uint64_t wait, const void *code);

/* The thread goes on without the lock that it asked for: it was omp_test_lock, which LLVM's runtime
 * up to 14 reports as if it were omp_set_lock. */
void lc_omp_lock_refused(struct lc_omp_thread *o);

#endif
