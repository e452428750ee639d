#include "base/short_lock.h"

#include <sched.h>
#include <time.h>

enum { LOOKS = 64, YIELDS = 64, REST_NS = 50000 };

/* Its holder may want this core, and have less priority. */
void lc_short_lock_wait(_Atomic uint32_t *lock) {
    uint32_t tries = 0;
    while (atomic_load_explicit(lock, memory_order_relaxed) != 0 ||
           atomic_exchange_explicit(lock, 1, memory_order_acquire) != 0) {
        if (++tries % LOOKS != 0)
            continue;
        if (tries < LOOKS * YIELDS)
            sched_yield();
        else
            nanosleep(&(struct timespec){.tv_nsec = REST_NS}, NULL);
    }
}
