/* Locks, critical sections, ordered: an edge from each release to the next acquire, and waiting for
 * whoever held it. */
#ifndef LC_MEASURE_OPENMP_MUTEXES_H
#define LC_MEASURE_OPENMP_MUTEXES_H

#include <stdbool.h>
#include <stdint.h>

/* Before any callback; every_release: the runtime says that it reports each release of a lock. */
void lc_omp_mutexes_init(bool every_release);
/* Callback: a lock is made; wait: what the runtime calls the lock. */
void lc_omp_lock_init(int kind, unsigned hint, unsigned implementation, uint64_t wait,
                      const void *code);
/* Callback: a thread wants the lock, and may wait for it. */
void lc_omp_mutex_acquire(int kind, unsigned hint, unsigned implementation, uint64_t wait,
                          const void *code);
/* Callback: the thread has got the lock. */
void lc_omp_mutex_acquired(int kind, uint64_t wait, const void *code);
/* Callback: the thread has released the lock. */
void lc_omp_mutex_released(int kind, uint64_t wait, const void *code);
/* Callback: the owner takes or releases a nested lock once more. */
void lc_omp_nest_lock(int endpoint, uint64_t wait, const void *code);

#endif
