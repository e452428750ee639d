#include "measure/openmp/omp_lock.h"

#include <sched.h>

void lc_omp_lock(_Atomic uint32_t *lock) {
    for (uint32_t tries = 0; atomic_exchange_explicit(lock, 1, memory_order_acquire) != 0;)
        if (++tries % 64 == 0) /* its holder may want this core */
            sched_yield();
}
