/* A lock for a few instructions. */
#ifndef LC_MEASURE_OPENMP_OMP_LOCK_H
#define LC_MEASURE_OPENMP_OMP_LOCK_H

#include <stdatomic.h>
#include <stdint.h>

/* Spins until the lock is free, then holds it: for a few instructions, not across a callback. */
void lc_omp_lock(_Atomic uint32_t *lock);
static inline void lc_omp_unlock(_Atomic uint32_t *lock) {
    atomic_store_explicit(lock, 0, memory_order_release); /* partner: lc_omp_lock */
}

#endif
