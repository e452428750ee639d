#include "measure/openmp/tasks.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/timer.h"
#include "measure/clocks/call_state.h"
#include "measure/openmp/nodes.h"
#include "measure/openmp/omp_edges.h"
#include "measure/openmp/usual.h"
#include "measure/openmp/omp_self.h"

enum { SETS_LOG2 = 10, WAYS = 8 };

struct source {
    uint64_t key; /* loop and iteration; 0: none */
    struct lc_omp_joint joint;
};

/* Sources of the last iterations: in each set as many as there is room for, the oldest goes. */
static struct set {
    _Alignas(LC_OMP_LINE) _Atomic uint32_t lock;
    uint32_t oldest;
    struct source sources[WAYS];
} * _Atomic sets;

/* The memory stays; NULL: there is none. */
static struct set *sets_made(void) {
    struct set *have = atomic_load_explicit(&sets, memory_order_acquire); /* partner: below */
    if (lc_likely(have != NULL))
        return have;
    size_t bytes = sizeof(struct set) << SETS_LOG2;
    struct set *made = aligned_alloc(LC_OMP_LINE, bytes);
    if (made == NULL)
        return NULL;
    for (size_t i = 0; i < 1u << SETS_LOG2; i++) {
        made[i].lock = made[i].oldest = 0;
        for (size_t k = 0; k < WAYS; k++) {
            made[i].sources[k].key = 0;
            made[i].sources[k].joint.lock = 0;
            made[i].sources[k].joint.point.later = NULL;
        }
    }
    if (atomic_compare_exchange_strong(&sets, &have, made))
        return made;
    free(made);
    return have;
}

/* The loop is one of the region's: all threads of a team come to the same loops in the same
 * order. */
static uint64_t key_of(const struct lc_omp_task *share, const struct ompt_dependence *list, int n) {
    uint64_t key = lc_hash_word(LC_HASH_BEGIN, (uint64_t)(uintptr_t)share->region);
    key = lc_hash_word(key, share->loops);
    for (int i = 0; i < n; i++)
        key = lc_hash_key(lc_hash_word(key, list[i].variable.value));
    return key != 0 ? key : 1;
}

static struct source *search(struct set *set, uint64_t key) {
    for (size_t i = 0; i < WAYS; i++)
        if (set->sources[i].key == key)
            return &set->sources[i];
    return NULL;
}

static void tell_others(struct lc_omp_thread *o, struct set *set, uint64_t key) {
    struct lc_omp_point here;
    uint64_t now = lc_ticks();
    lc_omp_work_and_tell(o, now, &here);
    lc_short_lock(&set->lock);
    struct source *source = search(set, key); /* of a region before, whose record serves again */
    if (source == NULL)
        source = &set->sources[set->oldest++ % WAYS];
    source->key = key;
    source->joint.any = false;
    lc_omp_join_locked(&source->joint, &here);
    lc_short_unlock(&set->lock);
    lc_omp_point_drop(o, &here);
    lc_omp_done(o, now);
}

static void wait_is_over(struct lc_omp_thread *o, struct set *set, uint64_t key) {
    struct lc_omp_late late = {0};
    uint64_t now = lc_ticks(), since = o->entered;
    if (o->at_sink)
        lc_omp_leave(o, now);
    else
        lc_omp_worked(o, now);
    lc_short_lock(&set->lock);
    struct source *source = search(set, key);
    if (source != NULL)
        lc_omp_edge_joint(o, &source->joint, now, &late);
    lc_short_unlock(&set->lock);
    o->edges_lost += source == NULL;
    if (o->at_sink) {
        o->at_sink = false;
        if (late.when > since)
            lc_omp_waited(o, o->at, LC_MEASURED_OMP_CRITICAL, late.when - since, &late);
        lc_omp_pop(o, now);
    }
    lc_omp_done(o, now);
}

void lc_omp_iteration(struct lc_omp_thread *o, const struct ompt_dependence *list, int n) {
    const struct lc_omp_task *share = o->task;
    struct set *all = share != NULL && !share->explicit_one ? sets_made() : NULL;
    if (all == NULL)
        return;
    uint64_t key = key_of(share, list, n);
    struct set *set = &all[key >> (64 - SETS_LOG2)];
    if (list[0].type == OMPT_DEPEND_SOURCE)
        tell_others(o, set, key);
    else
        wait_is_over(o, set, key);
}

void lc_omp_sink(bool begins, const void *code) {
    struct lc_omp_thread *o = lc_omp_self();
    if (o == NULL || o->at == NULL || o->at_sink == begins)
        return;
    uint64_t now = lc_ticks();
    o->at_sink = begins;
    if (begins) {
        lc_omp_enter(o, now);
        lc_omp_push(o, LC_OMP_AT_ORDERED, code, now);
    } else { /* there is no such iteration */
        lc_omp_leave(o, now);
        lc_omp_pop(o, now);
    }
    lc_omp_done(o, now);
}
