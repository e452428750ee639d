#include "base/owned_lock.h"

#include <sched.h>
#include <time.h>

#include "base/far_barrier.h"

enum { LOOKS = 64, YIELDS = 64, REST_NS = 50000 };

/* Who is waited for may want this core, and have less priority. */
static void rest(uint32_t *tries) {
    if (++*tries % LOOKS != 0)
        return;
    if (*tries < LOOKS * YIELDS)
        sched_yield();
    else
        nanosleep(&(struct timespec){.tv_nsec = REST_NS}, NULL);
}

void lc_owned_lock_among(struct lc_owned *l) {
    uint32_t tries = 0;
    /* seq_cst: partners are lc_owned_visit and lc_owned_wait, which do the same the other way */
    while ((atomic_load_explicit(&l->others, memory_order_acquire) & LC_OWNED_VISITED) != 0 ||
           (atomic_exchange_explicit(&l->busy, 1, memory_order_seq_cst),
            (atomic_load_explicit(&l->others, memory_order_seq_cst) & LC_OWNED_VISITED) != 0)) {
        atomic_store_explicit(&l->busy, 0, memory_order_release);
        rest(&tries);
    }
}

void lc_owned_visits_seen(bool seldom) {
    if (seldom)
        lc_far_barrier();
}

void lc_owned_wait(struct lc_owned *l) {
    uint32_t tries = 0;
    while (atomic_load_explicit(&l->busy, memory_order_seq_cst) != 0)
        rest(&tries);
}
