/* A lock for a few instructions. */
#ifndef LC_MEASURE_OPENMP_OMP_LOCK_H
#define LC_MEASURE_OPENMP_OMP_LOCK_H

#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

/* The same where another thread holds it. */
void lc_omp_lock_wait(_Atomic uint32_t *lock);
/* Spins until the lock is free, then holds it: for a few instructions, not across a callback. */
static inline void lc_omp_lock(_Atomic uint32_t *lock) {
    if (__builtin_expect(atomic_exchange_explicit(lock, 1, memory_order_acquire) != 0, 0))
        lc_omp_lock_wait(lock);
}
/* Waits until nobody holds it, whose writes are seen then. */
static inline void lc_omp_lock_free(const _Atomic uint32_t *lock) {
    while (__builtin_expect(atomic_load_explicit(lock, memory_order_acquire) != 0, 0))
        sched_yield();
}
static inline void lc_omp_unlock(_Atomic uint32_t *lock) {
    atomic_store_explicit(lock, 0, memory_order_release); /* partner: lc_omp_lock */
}

#endif
