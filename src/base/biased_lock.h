/* A mutex that costs its first user nothing as long as there is no other one: two plain stores in
 * place of two atomic operations (some 15 ns).
 *
 * Nouns
 *   owner   the only thread that uses the lock until it is shared
 *   shared  other threads use it, too: from now on it is a plain mutex
 *
 * Invariant: a thread other than the owner calls lc_biased_share before it locks for the first
 * time. It makes the kernel put a barrier into the owner's instructions (membarrier), so that
 * either the owner sees that the lock is shared, or the caller sees that the owner is inside. */
#ifndef LC_BASE_BIASED_LOCK_H
#define LC_BASE_BIASED_LOCK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct lc_biased {
    pthread_mutex_t mutex;
    _Atomic bool shared;
    _Atomic bool busy; /* the owner is inside, without the mutex */
    bool by_mutex;     /* who is inside has the mutex; it protects this word */
};
#define LC_BIASED_INITIALIZER                                                                      \
    { .mutex = PTHREAD_MUTEX_INITIALIZER, .shared = true }

/* The caller becomes the owner. Nobody uses the lock yet but the caller, not now. Without kernel
 * support, and where a sanitizer watches threads, the lock stays shared. */
void lc_biased_own(struct lc_biased *l);
/* Any thread, outside of the lock. */
void lc_biased_share(struct lc_biased *l);

static inline bool lc_biased_is_shared(const struct lc_biased *l) {
    return atomic_load_explicit(&l->shared, memory_order_relaxed);
}

static inline void lc_biased_lock(struct lc_biased *l) {
    if (!lc_biased_is_shared(l)) {
        atomic_store_explicit(&l->busy, true, memory_order_relaxed);
        /* for the compiler; lc_biased_share sees to the processor */
        atomic_signal_fence(memory_order_seq_cst);
        if (__builtin_expect(!lc_biased_is_shared(l), 1))
            return;
        atomic_store_explicit(&l->busy, false, memory_order_release);
    }
    pthread_mutex_lock(&l->mutex);
    l->by_mutex = true;
}

static inline void lc_biased_unlock(struct lc_biased *l) {
    if (l->by_mutex) {
        l->by_mutex = false;
        pthread_mutex_unlock(&l->mutex);
        return;
    }
    /* release: partner is lc_biased_share */
    atomic_store_explicit(&l->busy, false, memory_order_release);
}

#endif
