/* Threads that begin: what their clocks start with. */
#include <pthread.h>
#include <stdlib.h>

#include "measure/clocks/backlog.h"
#include "measure/clocks/call_state.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/clocks_hooks.h"
#include "measure/clocks/intervals.h"
#include "measure/core/core.h"
#include "measure/core/thread.h"
#include "piggyback/cpvec.h"
#include "piggyback/logical.h"

/* The vector of the thread's clock, which another one published; 0: not known. */
static void take_vector(struct lc_logical *l, uint32_t version) {
    const struct lc_stamp stamp = {.useful = l->useful, .vector = version};
    if (version != 0)
        lc_cpvec_adopt_slow(&l->vec, &lc_clk.mine, &stamp);
    else
        l->vec.other = l->useful;
}

/* Clocks of useful work. */
struct clocks {
    uint64_t useful, whatif[LC_WHATIF_MAX];
};

/* What a clock was before its thread's last `worked` ticks. Less than these: the clock of a task
 * that has begun since. */
static uint64_t before(uint64_t clock, uint64_t worked) {
    return clock - lc_min(clock, worked);
}

/* Those of the first thread. It may be in an event: each of the words is as it was before or after.
 * Where it calls MPI at the same time as others do: at the end of its last call, for what it has
 * worked since then, up to the call that it is in, need not come before what they do. On a visit to
 * it. */
static struct clocks of_first(const struct lc_clk_thread *first) {
    struct clocks c = {0};
    const struct lc_logical *l = &first->l;
    bool at_end = lc_core.multiple, marked = first->marked == l->interval;
    c.useful = __atomic_load_n(&l->useful, __ATOMIC_RELAXED);
    if (at_end)
        c.useful = before(c.useful, l->own - (marked ? first->at_end.own : 0));
    for (uint32_t s = 0; s < l->vec.n_whatif; s++) {
        uint64_t worked = l->own_whatif[s] - (marked ? first->at_end.whatif[s] : 0);
        c.whatif[s] = __atomic_load_n(&l->vec.whatif[s], __ATOMIC_RELAXED);
        if (at_end)
            c.whatif[s] = before(c.whatif[s], worked);
    }
    return c;
}

/* A new thread starts with the first thread's clocks, as if that one had made it. They are 0 where
 * that one has had no event in this interval yet. With the vector that it published last. With
 * lc_clk.lock. */
static void begin_as_first(struct lc_logical *l, const struct lc_clk_thread *first) {
    const struct lc_logical *of = &first->l;
    uint32_t version = 0;
    l->origin = lc_min(l->origin, lc_clk.switch_ticks);
    if (__atomic_load_n(&of->interval, __ATOMIC_RELAXED) == l->interval) {
        struct clocks its = of_first(first);
        if (!lc_clk.rarer) /* else it is one of long ago */
            version = __atomic_load_n(&of->version, __ATOMIC_RELAXED);
        l->useful = its.useful;
        l->origin = __atomic_load_n(&of->origin, __ATOMIC_RELAXED);
        for (uint32_t s = 0; s < l->vec.n_whatif; s++)
            l->vec.whatif[s] = its.whatif[s];
    }
    take_vector(l, version);
}

/* A new thread goes on in the location of one that has ended in this interval: sums go on, and
 * clocks are those of the last thread or of the first one, whichever is ahead: as if the first one
 * had waited for that thread's end before it made this one. With lc_clk.lock. */
static void go_on_as_last(struct lc_logical *l, const struct lc_clk_thread *first, uint64_t now) {
    const struct lc_logical *of = &first->l;
    if (now > l->last) {
        l->skipped += now - l->last;
        l->last = now;
    }
    if (__atomic_load_n(&of->interval, __ATOMIC_RELAXED) != l->interval)
        return;
    struct clocks its = of_first(first);
    uint32_t version = __atomic_load_n(&of->version, __ATOMIC_RELAXED);
    l->origin = lc_min(l->origin, __atomic_load_n(&of->origin, __ATOMIC_RELAXED));
    for (uint32_t s = 0; s < l->vec.n_whatif; s++)
        LC_SHOW(l->vec.whatif[s], lc_larger(l->vec.whatif[s], its.whatif[s]));
    if (its.useful <= l->useful)
        return;
    LC_SHOW(l->useful, its.useful);
    lc_cpvec_forget(&l->vec);
    take_vector(l, version);
    l->stale = true;
}

/* With lc_clk.lock. */
static void begin_thread(struct lc_clk_thread *k, uint64_t now) {
    struct lc_clk_thread *first = lc_clk.threads;
    uint32_t interval = lc_clk.on ? lc_clk.n_intervals : 0;
    bool visits = first != NULL && lc_clk.clocks_meet;
    if (visits) {
        lc_owned_visits_seen(lc_owned_visit(&first->lock));
        lc_owned_wait(&first->lock);
    }
    k->between = true;
    k->epoch = lc_clk.epoch;
    if (k->l.interval != interval) {
        lc_logical_begin(&k->l, interval, now);
        if (interval != 0 && first != NULL)
            begin_as_first(&k->l, first);
    } else if (interval != 0 && first != NULL) {
        go_on_as_last(&k->l, first, now);
    }
    if (visits)
        lc_owned_leave(&first->lock, lc_clk_visits_often());
    if (interval != 0)
        lc_clk_phase_catch_up(k);
}

static void begin_thread_later(struct lc_call *call, struct lc_clk_thread *k, void *data) {
    (void)data;
    lc_biased_lock(&lc_clk.lock);
    begin_thread(k, call->begin);
    lc_biased_unlock(&lc_clk.lock);
}

static pthread_mutex_t registering = PTHREAD_MUTEX_INITIALIZER; /* further threads */

void lc_clk_own_locks(void) {
    pthread_mutex_lock(&registering);
    if (lc_clk.n_threads == 1 && !lc_core.multiple) {
        lc_biased_own(&lc_clk.lock);
        lc_clk_backlog_own();
    }
    pthread_mutex_unlock(&registering);
}

/* There are few circles: those of threads that have ended serve others. With lc_clk.lock. */
static void init_vector(struct lc_cpvec *vec) {
    static uint32_t n_circles;
    struct lc_clk_thread *ended = lc_clk.ended;
    if (ended == NULL) {
        lc_cpvec_init(vec, lc_clk.mine.head != NULL ? &lc_clk.mine : NULL, n_circles++,
                      lc_clk.n_whatif);
        return;
    }
    lc_clk.ended = ended->next_ended;
    lc_cpvec_init_after(vec, &ended->l.vec, lc_clk.n_whatif);
}

/* Clocks of a location, the first of which stays the first in the list. */
static void make_clocks(struct lc_clk_thread *k, const struct lc_call *call) {
    k->thread = call->thread;
    k->index = call->thread->index;
    k->l.last = k->l.origin = k->seen = call->begin;
    pthread_mutex_lock(&registering);
    if (lc_clk.n_threads > 0) {
        lc_biased_share(&lc_clk.lock);
        lc_clk_backlog_share();
    }
    lc_biased_lock(&lc_clk.lock);
    k->l.rank = lc_clk.rank;
    lc_owned_init(&k->lock, lc_clk.visits > LC_VISITS_SELDOM);
    lc_clk.n_threads++;
    lc_clk.may_defer = lc_clk.may_defer && lc_clk.n_threads == 1;
    init_vector(&k->l.vec);
    if (lc_clk.mine.head != NULL)
        lc_cpvec_know(&k->l.vec, lc_clk.areas, lc_clk.size);
    k->l.vec.counting = lc_core.counters != 0;
    lc_clk_set_grain(k);
    k->epoch = lc_clk.epoch;
    if (!lc_clk.backlog)
        begin_thread(k, call->begin);
    struct lc_clk_thread **at = lc_clk.threads != NULL ? &lc_clk.threads->next : &lc_clk.threads;
    k->next = *at;
    *at = k;
    lc_biased_unlock(&lc_clk.lock);
    pthread_mutex_unlock(&registering);
}

/* Clocks that the thread has left that had this location before. */
static void go_on_with(struct lc_clk_thread *k, const struct lc_call *call) {
    lc_biased_lock(&lc_clk.lock);
    k->thread = call->thread;
    k->seen = call->begin;
    if (!lc_clk.backlog)
        begin_thread(k, call->begin);
    lc_biased_unlock(&lc_clk.lock);
}

void lc_clocks_thread_new(struct lc_call *call) {
    static const struct lc_event_type event = {.run = begin_thread_later};
    struct lc_thread *t = call->thread;
    if (t->clocks != NULL)
        return;
    struct lc_clk_thread *k = t->rested_clocks;
    if (k != NULL) {
        t->rested_clocks = NULL;
        go_on_with(k, call);
    } else {
        if ((k = calloc(1, sizeof *k)) == NULL)
            return;
        make_clocks(k, call);
    }
    t->clocks = k;
    if (lc_clk.backlog)
        lc_clk_backlog_submit(&event, k, call, NULL, 0);
}
