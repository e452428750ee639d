/* A lock for a few instructions: one atomic operation where it is free. The data of one thread that
 * others need rarely have one of their own: it stays on that thread's core. */
#ifndef LC_BASE_SHORT_LOCK_H
#define LC_BASE_SHORT_LOCK_H

#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

/* Waits and locks. */
void lc_short_lock_wait(_Atomic uint32_t *lock);
/* Spins until the lock is free, then holds it: for a few instructions, not across a callback. */
static inline void lc_short_lock(_Atomic uint32_t *lock) {
    /* acquire: partner is lc_short_unlock */
    if (__builtin_expect(atomic_exchange_explicit(lock, 1, memory_order_acquire) != 0, 0))
        lc_short_lock_wait(lock);
}
/* Waits until nobody holds it, whose writes are seen then. */
static inline void lc_short_lock_free(const _Atomic uint32_t *lock) {
    while (__builtin_expect(atomic_load_explicit(lock, memory_order_acquire) != 0, 0))
        sched_yield();
}
static inline void lc_short_unlock(_Atomic uint32_t *lock) {
    atomic_store_explicit(lock, 0, memory_order_release); /* partner: lc_short_lock */
}

#endif
