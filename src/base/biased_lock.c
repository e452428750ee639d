#include "base/biased_lock.h"

#include <sched.h>

#include "base/far_barrier.h"

void lc_biased_own(struct lc_biased *l) {
    if (lc_far_barrier_possible())
        atomic_store_explicit(&l->shared, false, memory_order_relaxed);
}

void lc_biased_share(struct lc_biased *l) {
    static pthread_mutex_t sharing = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&sharing); /* who comes second waits, too */
    if (!atomic_load_explicit(&l->shared, memory_order_relaxed)) {
        atomic_store_explicit(&l->shared, true, memory_order_relaxed);
        lc_far_barrier();
        /* acquire: what the owner did inside is seen */
        while (atomic_load_explicit(&l->busy, memory_order_acquire))
            sched_yield();
    }
    pthread_mutex_unlock(&sharing);
}
