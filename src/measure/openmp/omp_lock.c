#include "measure/openmp/omp_lock.h"

#include <sched.h>

void lc_omp_lock_wait(_Atomic uint32_t *lock) {
    uint32_t tries = 0;
    while (atomic_load_explicit(lock, memory_order_relaxed) != 0 ||
           atomic_exchange_explicit(lock, 1, memory_order_acquire) != 0)
        if (++tries % 64 == 0) /* its holder may want this core */
            sched_yield();
}
