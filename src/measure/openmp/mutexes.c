#include "measure/openmp/team.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/single_threaded.h>
#include <time.h>

#include "base/hash.h"
#include "base/timer.h"
#include "measure/clocks/call_state.h"
#include "measure/openmp/omp_edges.h"
#include "measure/openmp/nodes.h"
#include "measure/openmp/omp_self.h"
#include "measure/openmp/omp_trace.h"
#include "measure/openmp/ompt.h"
#include "measure/openmp/omp_thread.h"
#include "measure/openmp/usual.h"

enum {
    BUCKETS = 4096,
    HOLDS = 3,
    TRIES = 1000,
    NAPS = 100,
    NAPS_CERTAIN = 20000, /* where the runtime reports every release: more than a second */
    NAP_NS = 50 * 1000,
    SILENT_MAX = 3,        /* releases of one lock that were not reported */
    ALL_SILENT_MAX = 16,   /* of all */
    CERTAIN_SILENT_MAX = 2 /* of all, in spite of what the runtime says */
};

/* From a lock's acquisition to the report of its release. */
struct hold {
    const struct lc_omp_thread *by; /* NULL: none */
    bool traced;
    uint32_t order;            /* of all times that the lock was acquired */
    uint32_t block, construct; /* nodes of what it guards; 0: none, it is omp_set_lock's */
};

/* A lock of the program. LLVM's runtime reports a release after it, so the next holder may be
 * there first: it waits for the report, for some time. Who holds it writes two lines of cache;
 * those by which it is found are only read, but for a trace. */
struct lock {
    struct lock *next; /* same hash; lists only grow */
    uint64_t wait;
    uint32_t number; /* in the trace */
    /* with last.lock: */
    uint32_t order;           /* how often it was acquired */
    struct hold holds[HOLDS]; /* several where the report of a release was not waited for */
    _Alignas(LC_OMP_LINE) _Atomic uint32_t held;
    uint32_t silent;          /* how often a release was not reported: no more waiting */
    struct lc_omp_joint last; /* release; stamp.enter: when */
};
_Static_assert(offsetof(struct lock, last.point.phase_process) - offsetof(struct lock, held) <=
                   2 * LC_OMP_LINE,
               "what is always used is in two lines");

static _Atomic(struct lock *) buckets[BUCKETS];
static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER;
static uint32_t n_locks; /* with `adding` */
static bool certain;     /* the runtime says that it reports every release */

static struct lock *search(struct lock *at, uint64_t wait) {
    while (at != NULL && at->wait != wait)
        at = at->next;
    return at;
}

static _Atomic(struct lock *) *bucket_of(uint64_t wait) {
    return &buckets[lc_hash_key(wait) >> 52];
}

/* NULL: nobody has asked for it. */
static struct lock *known(uint64_t wait) {
    /* acquire: partner is the store below */
    return search(atomic_load_explicit(bucket_of(wait), memory_order_acquire), wait);
}

static struct lock *find(uint64_t wait) {
    _Atomic(struct lock *) *bucket = bucket_of(wait);
    struct lock *found = known(wait);
    if (found != NULL)
        return found;
    pthread_mutex_lock(&adding);
    struct lock *first = atomic_load_explicit(bucket, memory_order_relaxed);
    found = search(first, wait);
    if (found == NULL && (found = aligned_alloc(LC_OMP_LINE, sizeof *found)) != NULL) {
        memset(found, 0, sizeof *found);
        found->wait = wait;
        found->number = n_locks++;
        found->next = first;
        atomic_store_explicit(bucket, found, memory_order_release);
    }
    pthread_mutex_unlock(&adding);
    return found;
}

/* It is the only thread that OpenMP has had, and the process has no other one that could come to
 * use it: it waits for nobody, and nobody for it. Until it has created a task there is but one
 * chain of work, too: edges of locks say nothing new. (What it does now is not before what threads
 * do that it makes later, as far as locks tell.) */
static bool is_alone(const struct lc_omp_thread *o) {
    return lc_likely(o->t->trace == NULL) && !o->has_tasks && __libc_single_threaded &&
           atomic_load_explicit(&lc_omp_n_ever, memory_order_relaxed) == 1;
}

static bool only_tries(int kind) {
    return kind == OMPT_MUTEX_TEST_LOCK || kind == OMPT_MUTEX_TEST_NEST_LOCK;
}

static enum lc_omp_construct construct_of(int kind) {
    switch (kind) {
    case OMPT_MUTEX_CRITICAL:
        return LC_OMP_AT_CRITICAL;
    case OMPT_MUTEX_ATOMIC:
        return LC_OMP_AT_ATOMIC;
    case OMPT_MUTEX_ORDERED:
        return LC_OMP_AT_ORDERED;
    default:
        return LC_OMP_AT_SET_LOCK;
    }
}

static bool of_construct(int kind) {
    return kind == OMPT_MUTEX_CRITICAL || kind == OMPT_MUTEX_ORDERED || kind == OMPT_MUTEX_ATOMIC;
}

static enum lc_measured_wait waiting_of(int kind) {
    return of_construct(kind) ? LC_MEASURED_OMP_CRITICAL : LC_MEASURED_OMP_LOCK;
}

static enum lc_omp_construct block_of(int kind) {
    return kind == OMPT_MUTEX_CRITICAL  ? LC_OMP_AT_CRITICAL_BLOCK
           : kind == OMPT_MUTEX_ORDERED ? LC_OMP_AT_ORDERED_BLOCK
                                        : LC_OMP_AT_IDLE;
}

/* How often it was acquired; 0: nobody asks, there is no trace. */
static uint32_t next_order(const struct lc_omp_thread *o, struct lock *lock) {
    if (lc_likely(o->t->trace == NULL))
        return 0;
    lc_short_lock(&lock->last.lock);
    uint32_t order = ++lock->order;
    lc_short_unlock(&lock->last.lock);
    return order;
}

/* For the trace. Instead of one of the same thread's whose release was never reported, else in a
 * free place, else in place of the oldest. */
static void begin_hold(const struct lc_omp_thread *o, struct lock *lock, const struct hold *hold) {
    if (lc_likely(o->t->trace == NULL))
        return;
    lc_short_lock(&lock->last.lock);
    struct hold *place = &lock->holds[0];
    for (size_t i = 1; i < HOLDS && place->by != hold->by; i++) {
        struct hold *at = &lock->holds[i];
        if (at->by == hold->by ||
            (place->by != NULL && (at->by == NULL || at->order < place->order)))
            place = at;
    }
    *place = *hold;
    lc_short_unlock(&lock->last.lock);
}

/* The thread's, else any: tasks own locks, and may go on elsewhere. */
static struct hold end_hold(struct lock *lock, const struct lc_omp_thread *o) {
    if (lc_likely(o->t->trace == NULL))
        return (struct hold){0};
    lc_short_lock(&lock->last.lock);
    struct hold *ended = NULL;
    for (size_t i = 0; i < HOLDS && (ended == NULL || ended->by != o); i++)
        if (lock->holds[i].by != NULL && (ended == NULL || lock->holds[i].by == o))
            ended = &lock->holds[i];
    struct hold was = ended != NULL ? *ended : (struct hold){0};
    if (ended != NULL)
        ended->by = NULL;
    lc_short_unlock(&lock->last.lock);
    return was;
}

void lc_omp_lock_init(int kind, unsigned hint, unsigned implementation, uint64_t wait,
                      const void *code) {
    (void)kind;
    (void)hint;
    (void)implementation;
    (void)code;
    struct lc_omp_thread *o = lc_omp_self();
    if (o == NULL)
        return;
    uint64_t since = lc_omp_since(o);
    struct lock *lock = known(wait);
    if (lock != NULL) { /* another lock was there before */
        lc_short_lock(&lock->last.lock);
        lock->last.any = false;
        memset(lock->holds, 0, sizeof lock->holds);
        lc_short_unlock(&lock->last.lock);
        atomic_store_explicit(&lock->held, 0, memory_order_relaxed);
    }
    lc_omp_done(o, since);
}

static void end_acquisition(struct lc_omp_thread *o, uint64_t now) {
    if (lc_likely(o->acquisition == 0))
        return;
    lc_omp_path_close(o->acquisition, NULL, o->acquisition_code, now);
    o->acquisition = 0;
}

static void begin_acquisition(struct lc_omp_thread *o, enum lc_omp_construct construct,
                              const void *code) {
    end_acquisition(o, o->t->last_ticks); /* of which no end was told */
    o->acquisition = lc_omp_path_open(o, construct, NULL, code, &o->acquisition_node);
    o->acquisition_code = code;
}

/* Outside of regions acquisitions have no place in the thread's call path, which is dearer than
 * they are, but in a trace, and where they wait. Mostly that is seen before: then samples know what
 * was before, too. Who waits for one that takes the lock after this look, knows it afterwards. */
static LC_COLD void acquires_outside(struct lc_omp_thread *o, int kind, uint64_t wait,
                                     const void *code) {
    const struct lock *lock = known(wait);
    if (o->t->trace != NULL ||
        (lock != NULL && atomic_load_explicit(&lock->held, memory_order_relaxed) != 0))
        begin_acquisition(o, construct_of(kind), code);
}

/* It had a place in the call path, or should have had one: it waited for the holder. Is it in the
 * trace? */
static LC_COLD bool acquired_outside(struct lc_omp_thread *o, const struct lock *lock, int kind,
                                     struct hold *hold, const struct lc_omp_late *holder,
                                     const void *code, uint64_t now) {
    uint64_t waited = holder->when > o->entered ? holder->when - o->entered : 0;
    uint64_t since = lc_larger(o->entered, o->t->last_ticks);
    if (o->acquisition != 0) {
        code = o->acquisition_code;
    } else if (now > since) {
        o->acquisition =
            lc_omp_path_open_late(o, construct_of(kind), code, now - since, &o->acquisition_node);
        o->acquisition_code = code;
        now = o->t->last_ticks + (now - since);
    }
    if (o->acquisition == 0)
        return false;
    o->at = lc_omp_node_known(o, o->acquisition_node);
    lc_omp_waited(o, o->at, waiting_of(kind), waited, holder);
    bool traced = lc_omp_trace_acquired(o, lock->number, hold->order, LC_OMP_AT_IDLE, code, now,
                                        &hold->block);
    o->at = NULL;
    end_acquisition(o, now);
    return traced;
}

void lc_omp_mutex_acquire(int kind, unsigned hint, unsigned implementation, uint64_t wait,
                          const void *code) {
    (void)hint;
    (void)implementation;
    struct lc_omp_thread *o = only_tries(kind) ? NULL : lc_omp_self();
    if (o == NULL)
        return;
    if (lc_unlikely(o->at == NULL))
        acquires_outside(o, kind, wait, code);
    uint64_t now = lc_ticks();
    o->takes_lock = true;
    lc_omp_enter_construct(o, construct_of(kind), code, now);
    lc_omp_done(o, now);
}

void lc_omp_mutexes_init(bool every_release) {
    certain = every_release;
}

/* How often to sleep for a report when so many have not come. */
static uint32_t naps_for(uint32_t all_silent) {
    if (all_silent >= ALL_SILENT_MAX)
        return 0;
    return certain && all_silent < CERTAIN_SILENT_MAX ? NAPS_CERTAIN : NAPS;
}

/* The report of the last release is on its way, unless the runtime makes none: its thread may just
 * have lost its core, even to this one, which then has to sleep (sched_yield need not let that one
 * run). Naps are counted, not time: while this process has no core, neither has that thread. */
static LC_COLD void wait_for_word(struct lc_omp_thread *o, struct lock *lock) {
    static _Atomic uint32_t all_silent;
    uint32_t tries = 0;
    while (atomic_load_explicit(&lock->held, memory_order_acquire) != 0 && /* partner: released */
           lock->silent < SILENT_MAX &&
           (atomic_load_explicit(&o->t->mode, memory_order_relaxed) & LC_MODE_LIVE) != 0) {
        uint32_t silent = atomic_load_explicit(&all_silent, memory_order_relaxed);
        if (++tries >= TRIES + naps_for(silent)) {
            lock->silent++;
            atomic_fetch_add_explicit(&all_silent, 1, memory_order_relaxed);
            o->edges_lost++;
            return;
        }
        if (tries >= TRIES)
            nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
        else if (tries % 16 == 0)
            sched_yield();
    }
}

/* Both lines come at once, to be written. */
static inline void claim(const struct lock *lock) {
    lc_line_claim(&lock->held);
    lc_line_claim((const char *)&lock->held + LC_OMP_LINE);
}

void lc_omp_mutex_acquired(int kind, uint64_t wait, const void *code) {
    struct lc_omp_thread *o = lc_omp_self_asking();
    bool alone = o != NULL && is_alone(o);
    struct lock *lock = o != NULL && !alone ? find(wait) : NULL;
    if (lock == NULL && !alone)
        return;
    if (lc_unlikely(o->at == NULL && o->t->trace != NULL && only_tries(kind)))
        begin_acquisition(o, LC_OMP_AT_TEST_LOCK, code);
    if (only_tries(kind)) { /* what it waits for here is no work */
        uint64_t asked = lc_ticks();
        lc_omp_enter(o, asked);
        lc_omp_done(o, asked);
    }
    if (!alone) {
        /* acquire: partner is lc_omp_mutex_released */
        if (lc_unlikely(atomic_load_explicit(&lock->held, memory_order_acquire) != 0))
            wait_for_word(o, lock);
        claim(lock);
    }
    uint64_t now = lc_ticks(), waited = 0; /* not before the release */
    struct lc_omp_late holder = {0};
    bool usual = !only_tries(kind) && lc_omp_leave_usually(o, now);
    if (lc_unlikely(!usual))
        lc_omp_leave(o, now);
    if (!alone) {
        atomic_store_explicit(&lock->held, 1, memory_order_relaxed);
        lc_omp_edge_joint(o, &lock->last, now, &holder);
    }
    struct hold hold = {.by = o, .order = alone ? 0 : next_order(o, lock)};
    if (only_tries(kind)) {
        hold.traced = !alone && lc_omp_trace_tried(o, lock->number, hold.order, code, now);
    } else {
        o->takes_lock = false;
        waited = holder.when > o->entered ? holder.when - o->entered : 0;
        if (waited != 0)
            lc_omp_waited(o, o->at, waiting_of(kind), waited, &holder);
        if (lc_unlikely(!usual && !alone))
            hold.traced = lc_omp_trace_acquired(o, lock->number, hold.order, block_of(kind), code,
                                                now, &hold.block);
        hold.construct = hold.traced && of_construct(kind) ? o->at->node : 0;
        if (hold.construct != 0)
            lc_omp_pop_into_block(o, now);
        else
            lc_omp_construct_left(o, usual, now);
    }
    if (lc_unlikely(o->at == NULL && !alone && (waited | o->acquisition) != 0))
        hold.traced = acquired_outside(o, lock, kind, &hold, &holder, code, now);
    if (!alone)
        begin_hold(o, lock, &hold);
    lc_omp_done(o, now);
}

void lc_omp_mutex_released(int kind, uint64_t wait, const void *code) {
    (void)kind;
    struct lc_omp_thread *o = lc_omp_self();
    struct lock *lock = o != NULL && !is_alone(o) ? find(wait) : NULL;
    if (lock == NULL)
        return;
    struct lc_omp_point here;
    uint64_t now = lc_ticks();
    claim(lock); /* another one may have looked */
    lc_omp_work_and_tell(o, now, &here);
    lc_omp_join(&lock->last, &here);
    lc_omp_point_drop(o, &here);
    struct hold hold = end_hold(lock, o);
    if (hold.traced)
        lc_omp_trace_released(o, lock->number, hold.order, hold.block, hold.construct, code, now);
    atomic_store_explicit(&lock->held, 0, memory_order_release); /* partner: wait_for_word */
    lc_omp_done(o, now);
}

void lc_omp_nest_lock(int endpoint, uint64_t wait, const void *code) {
    (void)wait;
    (void)code;
    struct lc_omp_thread *o = endpoint == OMPT_BEGIN ? lc_omp_self_asking() : NULL;
    if (o == NULL)
        return;
    uint64_t now = lc_ticks();
    if (!o->takes_lock) /* omp_test_nest_lock */
        return;
    o->takes_lock = false;
    lc_omp_leave(o, now); /* it was this thread's already */
    lc_omp_pop(o, now);
    end_acquisition(o, now);
    lc_omp_done(o, now);
}
