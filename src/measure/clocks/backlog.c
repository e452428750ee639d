/* The queue of events that cannot be processed yet. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/biased_lock.h"
#include "base/timer.h"
#include "measure/clocks/backlog.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/collectives.h"
#include "measure/clocks/intervals.h"
#include "measure/clocks/records.h"
#include "measure/core/core.h"
#include "measure/clocks/clock_messages.h"
#include "measure/clocks/edges.h"
#include "measure/clocks/what_if_factors.h"
#include "piggyback/match.h"

/* Nothing of the thread itself, which may have ended: its clocks are the queue's (call_state.h),
 * the path stays (lc_clk_backlog_keep_paths). */
struct event {
    const struct lc_event_type *type;
    struct lc_clk_thread *k;
    struct lc_event_at at;
    uint64_t since;    /* lc_patience_ticks */
    bool begins, ends; /* its call begins before it, ends after it: */
    uint64_t ended, own;
    _Alignas(8) unsigned char data[LC_EVENT_DATA];
};

static struct event *events; /* a circle */
static uint32_t first, cap;
static _Atomic uint32_t n_events; /* changed with the lock; relaxed: alone it orders nothing */
static struct lc_biased lock = LC_BIASED_INITIALIZER;

enum { FIRST_CAP = 256, MERGE = 64, LAG = 512, CUT_STEP = 8, LEFT_BY_CUT = 64, CUT_STEPS = 16 };
static uint32_t capacity = LC_BACKLOG_CAPACITY; /* a power of two */
static uint32_t lag = LAG, cut_at = LC_BACKLOG_CAPACITY;
static bool cutting;
static const struct lc_call *in_time;
/* When the event began that was the oldest when the queue was worked off (lc_patience_ticks);
 * changed with the lock, any thread looks. */
static _Atomic uint64_t oldest;

void lc_clk_backlog_init(void) {
    const char *text = lc_option("LATECOMER_TEST_BACKLOG");
    for (unsigned long wanted = text != NULL ? strtoul(text, NULL, 10) : LC_BACKLOG_CAPACITY;
         capacity > FIRST_CAP && capacity > wanted;)
        capacity /= 2;
    for (uint32_t i = 0; i < lc_clk.size; i++)
        lc_clk.mixed |= i != lc_clk.rank && lc_clk.areas[i].head != NULL;
    lag = capacity / 4 < LAG ? capacity / 4 : LAG;
    /* Another length on each rank, at least half: where one cuts, the others catch up with it. */
    uint32_t share = (lc_clk.rank * 2654435769u) >> 28;
    cut_at = capacity / 2 + capacity / 2 / CUT_STEPS * share;
    events = malloc(FIRST_CAP * sizeof *events);
    cap = events != NULL ? FIRST_CAP : 0;
}

static uint32_t count(void) {
    return atomic_load_explicit(&n_events, memory_order_relaxed);
}

static void set_count(uint32_t n) {
    atomic_store_explicit(&n_events, n, memory_order_relaxed);
    if (n > lc_clk.counts.events_most)
        lc_clk.counts.events_most = n;
}

static struct event *at(uint32_t i) {
    return &events[(first + i) & (cap - 1)];
}

/* The call of an event that runs. What no event asks for is zero. */
struct call_at {
    struct lc_call call;
    struct lc_item item;
    struct lc_entry entry; /* without checks */
};

static struct lc_call *call_at(struct call_at *made, const struct lc_event_at *at) {
    made->item.node = at->node;
    made->entry.items = &made->item;
    made->entry.path = at->path;
    made->entry.fn_ctx = at->fn_ctx;
    made->call = (struct lc_call){.entry = &made->entry,
                                  .begin = at->begin,
                                  .end = at->end,
                                  .fn = at->fn,
                                  .common = at->node != 0};
    return &made->call;
}

static void run_begin(struct event *e) {
    struct call_at made = {0};
    e->begins = false;
    lc_clk_begin_event.run(call_at(&made, &e->at), e->k, NULL);
}

static void run(struct event *e) {
    struct call_at made = {0};
    struct lc_call *call = call_at(&made, &e->at);
    if (e->begins)
        lc_clk_begin_event.run(call, e->k, NULL);
    e->type->run(call, e->k, e->data);
    if (e->ends) {
        call->end = e->ended;
        lc_clk_end_event.run(call, e->k, &e->own);
    }
}

static bool is_ready(struct event *e) {
    return e->type->ready == NULL || e->type->ready(e->data);
}

/* In its place: what runs submits nothing. */
static void run_and_pop(void) {
    run(at(0));
    first = (first + 1) & (cap - 1);
    atomic_store_explicit(&n_events, count() - 1, memory_order_relaxed);
}

static void note_oldest(void) {
    if (count() > 0)
        atomic_store_explicit(&oldest, at(0)->since, memory_order_relaxed);
}

/* Runs the events that are ready, oldest first. With the lock. */
static void work(void) {
    while (count() > 0) {
        if (at(0)->begins)
            run_begin(at(0)); /* waits for nothing */
        if (!is_ready(at(0)))
            break;
        run_and_pop();
    }
    note_oldest();
}

/* Runs the oldest event, ready or not; there is one. With the lock. */
static void force_oldest(void) {
    lc_clk.counts.forced++;
    run_and_pop();
}

/* Room for one more event; false: the queue is full (make_room then forces its oldest event). */
static bool grow(void) {
    uint32_t n = count();
    if (n < cap)
        return true;
    if (cap >= capacity || cap == 0)
        return false;
    struct event *more = malloc(2 * (size_t)cap * sizeof *more);
    if (more == NULL)
        return false;
    for (uint32_t i = 0; i < n; i++)
        more[i] = *at(i);
    free(events);
    events = more;
    first = 0;
    cap *= 2;
    return true;
}

static void make_room(void) {
    while (!grow()) {
        if (cap == 0)
            return;
        force_oldest();
        work();
    }
}

/* Some steps of a cut: the oldest events run with what has come, those behind them as they can. */
static void cut(void) {
    for (uint32_t i = 0; i < CUT_STEP && count() > LEFT_BY_CUT; i++) {
        work();
        if (count() > LEFT_BY_CUT)
            force_oldest();
    }
    cutting = count() > LEFT_BY_CUT;
}

/* The last event of the queue, which has just been filled. */
static void added(void) {
    set_count(count() + 1);
    if (count() == 1) {
        note_oldest();
        if (lc_clk_packets_in_row()) {
            lc_clk_lock();
            lc_clk_packets_end_row();
            lc_clk_unlock();
        }
    }
    cutting |= count() >= cut_at;
    if (lc_unlikely(cutting))
        cut();
}

/* The begin that the thread's call has kept back, if it has, runs or is queued. */
static void put_begun(struct lc_clk_thread *k) {
    if (!k->has_begun)
        return;
    struct event e = {.type = &lc_clk_begin_event,
                      .k = k,
                      .at = k->begun,
                      .since = lc_patience_at(k->begun.begin)};
    k->has_begun = false;
    if (count() > 0)
        make_room();
    if (count() == 0) {
        run(&e);
    } else {
        *at(count()) = e;
        added();
    }
}

/* The same before the thread's next event, in a call that began then. True: it is to be queued with
 * it. */
static bool take_begun(struct lc_clk_thread *k, uint64_t begin, uint32_t fn) {
    bool together = count() > 0 && k->begun.begin == begin && k->begun.fn == fn;
    if (together)
        k->has_begun = false;
    else
        put_begun(k);
    return together;
}

/* In a call, or (NULL) at `where`. */
static void do_locked(const struct lc_event_type *type, struct lc_clk_thread *k,
                      const struct lc_call *call, const struct lc_event_at *where, const void *data,
                      size_t bytes) {
    if (!type->local) {
        lc_clk_composed_break();
        if (!type->turn)
            lc_clk_turns_close();
    }
    bool begins = false;
    if (k->has_begun && call != NULL)
        begins = take_begun(k, call->begin, call->fn);
    else if (k->has_begun)
        begins = take_begun(k, where->begin, where->fn);
    void *its = (void *)(uintptr_t)data; /* nobody changes what came with an event */
    if (count() == 0 && (type->ready == NULL || type->ready(its))) {
        in_time = call;
        if (call != NULL) {
            type->run((struct lc_call *)(uintptr_t)call, k, its);
        } else {
            struct call_at made = {0};
            type->run(call_at(&made, where), k, its);
        }
        in_time = NULL;
        return;
    }
    make_room();
    if (cap == 0)
        return;
    struct event *e = at(count());
    e->type = type;
    e->k = k;
    if (call != NULL)
        e->at = lc_clk_event_at(call);
    else
        e->at = *where;
    e->since = lc_patience_at(e->at.begin);
    e->begins = begins;
    e->ends = false;
    if (begins)
        e->at.node = k->begun.node;
    if (bytes > 0)
        memcpy(e->data, data, bytes);
    added();
}

void lc_clk_backlog_call_begins(struct lc_clk_thread *k, const struct lc_call *call) {
    lc_biased_lock(&lock);
    if (count() == 0 || lc_biased_is_shared(&lock)) {
        do_locked(&lc_clk_begin_event, k, call, NULL, NULL, 0);
    } else {
        k->begun = lc_clk_event_at(call);
        k->has_begun = true;
    }
    lc_biased_unlock(&lock);
}

void lc_clk_backlog_call_ends(struct lc_clk_thread *k, const struct lc_call *call, uint64_t own) {
    lc_biased_lock(&lock);
    struct event *last = count() > 0 ? at(count() - 1) : NULL;
    if (last != NULL && !lc_biased_is_shared(&lock) && !k->has_begun && last->k == k &&
        last->at.begin == call->begin && last->at.fn == call->fn && !last->ends) {
        last->ends = true;
        last->ended = call->end;
        last->own = own;
    } else {
        do_locked(&lc_clk_end_event, k, call, NULL, &own, sizeof own);
    }
    lc_biased_unlock(&lock);
}

void lc_clk_backlog_submit(const struct lc_event_type *type, struct lc_clk_thread *k,
                           const struct lc_call *call, const void *data, size_t bytes) {
    lc_biased_lock(&lock);
    do_locked(type, k, call, NULL, data, bytes);
    lc_biased_unlock(&lock);
}

void lc_clk_backlog_submit_at(const struct lc_event_type *type, struct lc_clk_thread *k,
                              const struct lc_event_at *where, const void *data, size_t bytes) {
    lc_biased_lock(&lock);
    do_locked(type, k, NULL, where, data, bytes);
    lc_biased_unlock(&lock);
}

void lc_clk_backlog_own(void) {
    lc_biased_own(&lock);
}

void lc_clk_backlog_share(void) {
    lc_biased_share(&lock);
}

void lc_clk_backlog_lock(void) {
    lc_biased_lock(&lock);
}

void lc_clk_backlog_unlock(void) {
    lc_biased_unlock(&lock);
}

const struct lc_call *lc_clk_backlog_in_time(void) {
    return in_time;
}

bool lc_clk_backlog_lags(void) {
    return count() >= lag;
}

bool lc_clk_backlog_empty(struct lc_clk_thread *k) {
    lc_biased_lock(&lock); /* the last event is over */
    if (count() == 0)
        put_begun(k);
    bool empty = count() == 0;
    lc_biased_unlock(&lock);
    return empty;
}

/* Consecutive parts of one thread in the same node are merged: there may be many regions between
 * two calls. */
void lc_clk_backlog_part(struct lc_clk_thread *k, const struct lc_event_at *where, bool region) {
    uint64_t ticks = where->begin > k->seen ? where->begin - k->seen : 0;
    uint32_t node = where->node;
    lc_clk_log_early(k->seen, where->begin);
    k->seen = where->begin;
    if (lc_clk_interval_now() != 0)
        k->worked += ticks;
    lc_clk_composed_worked(ticks, node, true);
    lc_clk_turns_worked(ticks, node, true);
    struct lc_clk_part part = {.ticks = ticks, .gap = k->in_gap ? k->gap : 0};
    k->seen_cut += ticks;
    if (region)
        part.ended = lc_clk_portion_seen(k, node, 0, &part.portion);
    lc_biased_lock(&lock);
    uint32_t n = count();
    for (uint32_t back = 1; back <= MERGE && back <= n; back++) {
        struct event *e = at(n - back);
        if (e->type != &lc_clk_part_event || e->k != k)
            break;
        if (e->at.node == node) {
            struct lc_clk_part sum;
            memcpy(&sum, e->data, sizeof sum);
            sum.ticks += ticks;
            sum.ended += part.ended;
            sum.portion.n += part.portion.n;
            sum.portion.ticks += part.portion.ticks;
            memcpy(e->data, &sum, sizeof sum);
            lc_biased_unlock(&lock);
            return;
        }
    }
    do_locked(&lc_clk_part_event, k, NULL, where, &part, sizeof part);
    lc_biased_unlock(&lock);
}

/* Where the clocks of k hold a call path: event i, or (i past the last one) its last call, and
 * those that only asked. */
enum { LAST_PLACES = 1 + LC_POLLED_PATHS };
static struct lc_path **place_of_path(struct lc_clk_thread *k, uint32_t i) {
    if (i >= count())
        return i == count() ? &k->waited : &k->polling.at[i - count() - 1].path;
    return at(i)->k == k ? &at(i)->at.path : NULL;
}

/* A copy of each; they stay. */
void lc_clk_backlog_keep_paths(struct lc_clk_thread *k) {
    static struct lc_path none;
    lc_biased_lock(&lock);
    for (uint32_t i = 0; i < count() + LAST_PLACES; i++) {
        struct lc_path **place = place_of_path(k, i), *gone = place != NULL ? *place : NULL;
        if (gone == NULL || gone->trace == gone) /* its own: a copy */
            continue;
        struct lc_path *copy = malloc(sizeof *copy);
        if (copy != NULL) {
            *copy = *gone;
            copy->trace = copy;
        }
        for (uint32_t j = i; j < count() + LAST_PLACES; j++) {
            place = place_of_path(k, j);
            if (place != NULL && *place == gone)
                *place = copy != NULL ? copy : &none;
        }
    }
    lc_biased_unlock(&lock);
}

enum { OLD_US = 100, OLD_TURN_US = 1000, SOME = 32 };

static void take(bool ask) {
    lc_clk_lock();
    lc_clk_records_take(ask);
    lc_clk_replies_send();
    lc_clk_unlock();
}

static void send_packets(void) {
    lc_clk_lock();
    lc_clk_replies_send(); /* for posts processed just now */
    lc_clk_composed_progress();
    lc_clk_packets_send();
    lc_clk_unlock();
}

/* When MPI was asked last; changed with the queue's lock, any thread looks. */
static _Atomic uint64_t asked_at;

/* Has the oldest event waited for long, and was MPI not asked meanwhile? Messages in turn wait for
 * each other's packets. */
static bool is_old(uint64_t now) {
    uint32_t us = lc_clk_turns_open() ? OLD_TURN_US : OLD_US;
    uint64_t asked = atomic_load_explicit(&asked_at, memory_order_relaxed);
    uint64_t began = atomic_load_explicit(&oldest, memory_order_relaxed);
    uint64_t since = began > asked ? began : asked;
    return count() > 0 && now > since && now - since > us * lc_clk.slow_ticks;
}

/* MPI is called, so that pending packets make progress. */
static bool must_ask(uint64_t now) {
    bool ask = is_old(now);
    if (ask)
        atomic_store_explicit(&asked_at, now, memory_order_relaxed);
    return ask;
}

/* Nothing has come, nothing is to be sent, nothing has waited for long: so the oldest event is not
 * ready either, unless it waits for a rank of this node. A look without locks: what another thread
 * does meanwhile is seen the next time. */
static bool is_idle(uint64_t now) {
    return !lc_clk.mixed && !lc_clk_records_pulled() && lc_clk_packets_idle(now) &&
           !lc_clk_reply_is_wanted() && !lc_clk_composed_waits(now) && !is_old(now);
}

void lc_clk_backlog_progress(uint64_t now) {
    now = lc_patience_at(now);
    if (is_idle(now))
        return;
    lc_clk_backlog_lock();
    take(must_ask(now));
    work();
    send_packets();
    lc_clk_backlog_unlock();
}

void lc_clk_backlog_drain(void) {
    uint64_t begin = lc_patience_ticks();
    do {
        lc_clk_backlog_lock();
        if (lc_clk.threads != NULL)
            put_begun(lc_clk.threads);
        lc_clk_composed_eager(true);
        take(true);
        work();
        send_packets();
        lc_clk_composed_eager(false);
        lc_clk_backlog_unlock();
    } while (count() > 0 && lc_patience_ticks() - begin < LC_DRAIN_US * lc_clk.slow_ticks);
}

static struct lc_clk_thread *finisher;

/* One round at the end. What has not arrived within LC_GIVE_UP_MS never will. */
static void last_turn(bool *left) {
    static struct lc_clk_timeout timeout;
    static uint64_t done;
    uint32_t before = count();
    work();
    done += before - count();
    lc_clk_lock();
    lc_clk_replies_send();
    lc_clk_composed_progress();
    lc_clk_back_flush(finisher);
    bool shadows = lc_clk_shadows_left();
    lc_clk_unlock();
    *left = count() > 0 || shadows;
    static uint32_t given_up;
    uint32_t some_ms = given_up == 0 ? LC_GIVE_UP_MS : given_up < SOME ? LC_GIVE_UP_MS / 20 : 0;
    if (!*left || lc_clk_within_timeout(&timeout, 1 + done + lc_clk.parts_taken, some_ms))
        return;
    given_up++;
    timeout = (struct lc_clk_timeout){0};
    if (count() > 0) {
        force_oldest();
    } else {
        lc_clk_shadows_give_up();
    }
}

/* Receives that were forced before the entry of their message was there, inside the node: all ranks
 * have put theirs into the rings, and nobody has read these since. */
static void take_late(void) {
    lc_clk_lock();
    for (uint32_t i = 0; i < lc_clk.size; i++)
        if (lc_clk.areas[i].head != NULL)
            lc_match_drain(&lc_clk.match, i);
    lc_clk_unlock();
    for (struct lc_clk_thread *k = lc_clk.threads; k != NULL; k = k->next)
        if (k->n_open_arrivals > 0)
            lc_clk_open_edges_take(k);
}

void lc_clk_backlog_finish(struct lc_clk_thread *k) {
    lc_clk_backlog_lock();
    finisher = k;
    put_begun(k);
    lc_clk_composed_eager(true);
    lc_clk_turns_close();
    lc_clk_packets_quiesce(last_turn);
    take_late();
    lc_clk.backlog = false;
    free(events);
    events = NULL;
    cap = 0;
    lc_clk_backlog_unlock();
}
