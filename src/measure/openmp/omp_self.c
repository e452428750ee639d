#include "measure/openmp/omp_self.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "measure/clocks/clocks.h"
#include "measure/core/core.h"
#include "measure/hot/locations.h"
#include "measure/openmp/nodes.h"
#include "measure/openmp/omp_blame.h"
#include "measure/openmp/omp_edges.h"
#include "measure/openmp/tasks.h"
#include "measure/openmp/omp_thread.h"

enum { CHUNK_BYTES = 64 << 10 };

static void put(struct lc_omp_pools *pools, struct lc_omp_item *item) {
    item->next = pools->free[item->kind];
    pools->free[item->kind] = item;
}

static struct lc_omp_item *cut(struct lc_omp_pools *pools, size_t size) {
    size_t bytes = (size + LC_OMP_LINE - 1) & ~(size_t)(LC_OMP_LINE - 1);
    if (pools->chunk == NULL || (size_t)(pools->chunk_end - pools->chunk) < bytes) {
        pools->chunk = aligned_alloc(LC_OMP_LINE, CHUNK_BYTES);
        if (pools->chunk == NULL)
            return NULL;
        pools->chunk_end = pools->chunk + CHUNK_BYTES;
    }
    struct lc_omp_item *item = (struct lc_omp_item *)pools->chunk;
    pools->chunk += bytes;
    memset(item, 0, bytes);
    return item;
}

void *lc_omp_take_part(struct lc_omp_pools *pools, enum lc_omp_kind kind, size_t size,
                       size_t clear) {
    struct lc_omp_item *item = pools->free[kind];
    if (item == NULL && atomic_load_explicit(&pools->back[kind], memory_order_relaxed) != NULL)
        /* what other threads have given back; acquire: partner is give_back */
        item = atomic_exchange_explicit(&pools->back[kind], NULL, memory_order_acquire);
    if (item != NULL)
        lc_line_claim(pools->free[kind] = item->next); /* it may be on another core */
    else if ((item = cut(pools, size)) == NULL)
        return NULL;
    memset(item, 0, clear);
    item->owner = pools;
    item->kind = kind;
    atomic_store_explicit(&item->references, 1, memory_order_relaxed);
    return item;
}

/* From first to last, all of one kind and owner. Release: partner is lc_omp_take_part. */
static void give_back(struct lc_omp_item *first, struct lc_omp_item *last) {
    _Atomic(struct lc_omp_item *) *back = &first->owner->back[first->kind];
    last->next = atomic_load_explicit(back, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(back, &last->next, first, memory_order_release,
                                                  memory_order_relaxed))
        ;
}

/* Those of another owner that have been given to these pools go there. */
static void give_away(struct lc_omp_away *away) {
    if (away->first != NULL)
        give_back(away->first, away->last);
    *away = (struct lc_omp_away){.n = 0};
}

void lc_omp_give(struct lc_omp_pools *mine, struct lc_omp_item *item) {
    if (item->owner == mine) {
        put(mine, item);
        return;
    }
    if (lc_unlikely(mine->of_many)) {
        give_back(item, item);
        return;
    }
    struct lc_omp_away *away = &mine->away[item->kind];
    if (away->first != NULL && away->first->owner != item->owner)
        give_away(away);
    if (away->first == NULL)
        away->last = item;
    item->next = away->first;
    away->first = item;
    if (++away->n == LC_OMP_AWAY)
        give_away(away);
}

static _Atomic(lc_omp_end_fn) at_end[LC_OMP_KINDS];

void lc_omp_at_end(enum lc_omp_kind kind, lc_omp_end_fn does) {
    atomic_store_explicit(&at_end[kind], does, memory_order_relaxed);
}

void lc_omp_unkeep_some(struct lc_omp_pools *mine, void *record, uint32_t n) {
    struct lc_omp_item *item = record;
    if (item == NULL || !lc_omp_references_end(item, n))
        return;
    lc_omp_end_fn does = atomic_load_explicit(&at_end[item->kind], memory_order_relaxed);
    if (does != NULL)
        does(mine, item);
    else
        lc_omp_give(mine, item);
}

static _Atomic(struct lc_omp_thread *) threads;
_Atomic uint32_t lc_omp_n_threads, lc_omp_n_ever;
__thread bool lc_omp_measured_by_call;

struct lc_omp_thread *lc_omp_threads(void) {
    return atomic_load_explicit(&threads, memory_order_acquire); /* partner: attach */
}

/* The record of a thread that has ended serves another one: what is in its pools stays. That of the
 * thread that had this location before comes first. */
static struct lc_omp_thread *reuse(struct lc_thread *t) {
    struct lc_omp_thread *own = t->rested_openmp;
    t->rested_openmp = NULL;
    for (struct lc_omp_thread *o = own != NULL ? own : lc_omp_threads(); o != NULL; o = o->next) {
        struct lc_thread *nobody = NULL;
        if (o != own && !atomic_compare_exchange_strong(&o->t, &nobody, t))
            continue;
        o->seen_worked = 0;
        o->in_runtime = false;
        return o;
    }
    return NULL;
}

/* began: with this event, in the runtime. */
static LC_COLD struct lc_omp_thread *attach(struct lc_thread *t, bool began) {
    struct lc_omp_thread *o = reuse(t);
    if (o == NULL && (o = calloc(1, sizeof *o)) != NULL) {
        o->t = t;
        o->gaps = (uint32_t)(lc_hash_key(t->index) >> 32); /* no chance: runs can be repeated */
        atomic_fetch_add_explicit(&lc_omp_n_threads, 1, memory_order_relaxed);
        o->next = atomic_load_explicit(&threads, memory_order_relaxed);
        while (!atomic_compare_exchange_weak_explicit(&threads, &o->next, o, memory_order_release,
                                                      memory_order_relaxed))
            ;
    }
    t->openmp = o;
    if (o == NULL)
        return NULL;
    if (o->stands_for == 0 || lc_omp_measured_by_call)
        o->until_stamp = o->stands_for = lc_omp_measured_by_call ? 0 : 1;
    atomic_fetch_add_explicit(&lc_omp_n_ever, 1, memory_order_relaxed);
    o->fresh = began;
    if (t->clocks != NULL || !lc_clk.backlog)
        lc_omp_took_over(o);
    return o;
}

void lc_omp_thread_gone(struct lc_thread *t) {
    struct lc_omp_thread *o = t->openmp;
    if (o == NULL)
        return;
    t->openmp = NULL;
    struct lc_omp_task *task = o->task; /* of its own, outside of regions: else somebody else's */
    if (task != NULL && (task->explicit_one || task->region == NULL ||
                         atomic_load_explicit(&task->region->team, memory_order_relaxed) != 0))
        task = NULL;
    if (task != NULL) {
        lc_omp_share_ended(o, task, NULL);
        lc_omp_task_over(o, task);
    }
    o->task = NULL;
    if (!lc_clk.backlog)
        o->running = NULL;
    o->forked = NULL;
    o->at = NULL;
    o->n_outer = 0;
    o->idle = o->longest = o->busy = 0;
    o->at_sink = false;
    o->acquisition = 0;
    o->ended.any = false;
    o->forks = o->teams = 0;
    o->regions_closed = o->regions_open = 0;
    lc_omp_unkeep(&o->pools, o->from);
    o->from = NULL;
    o->ahead = NULL;
    o->created = 0;
    lc_omp_parent_unkeep(o);
    for (size_t i = 0; i < LC_OMP_KINDS; i++)
        give_away(&o->pools.away[i]);
    for (size_t i = 0; i < LC_OMP_TEAM_LEVELS; i++)
        o->team_numbers[i] = 0;
    lc_omp_blame_flush(o);
    if (t->rests) { /* what belongs to the location stays with it */
        t->rested_openmp = o;
        return;
    }
    for (size_t i = 0; i < LC_OMP_NODES; i++) {
        for (struct lc_omp_node *n = o->nodes[i], *next; n != NULL; n = next) {
            next = n->next;
            free(n);
        }
        o->nodes[i] = NULL;
    }
    o->idle_node = o->known = o->got = NULL;
    atomic_store_explicit(&o->t, NULL, memory_order_release);
}

/* It goes on without the lock that it asked for: it was omp_test_lock, which LLVM's runtime up to
 * 14 reports as if it were omp_set_lock. */
static void lock_refused(struct lc_omp_thread *o) {
    o->takes_lock = false;
    lc_omp_refused(o);
    if (o->acquisition != 0) {
        lc_omp_path_close(o->acquisition, NULL, o->acquisition_code, o->entered);
        o->acquisition = 0;
    }
    if (o->at == NULL || o->n_outer == 0)
        return;
    o->at->row->count--;
    lc_omp_pop(o, o->entered);
}

LC_COLD struct lc_omp_thread *lc_omp_self_slow(void) {
    struct lc_omp_thread *o = lc_omp_self_asking();
    if (o != NULL && o->takes_lock)
        lock_refused(o);
    return o;
}

LC_COLD struct lc_omp_thread *lc_omp_self_new(void) {
    struct lc_thread *t = lc_self;
    bool began = t == NULL;
    if (began)
        t = lc_thread_here(); /* which may go on with the clocks of another thread */
    if (t == NULL || (atomic_load_explicit(&t->mode, memory_order_relaxed) & LC_MODE_LIVE) == 0)
        return NULL;
    return t->openmp != NULL ? t->openmp : attach(t, began && t->state->idle_ticks == 0);
}
