/* The queue of events that cannot be processed yet. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/timer.h"
#include "measure/clocks/back_edges.h"
#include "measure/clocks/backlog.h"
#include "measure/clocks/composed_collectives.h"
#include "measure/clocks/packets.h"
#include "measure/clocks/receives.h"
#include "measure/clocks/records.h"
#include "measure/clocks/shadow_collectives.h"
#include "measure/core_options.h"
#include "measure/paths/entry.h"
#include "measure/thread.h"

struct event {
    const struct lc_event_type *type;
    struct lc_clk_thread *k;
    struct lc_path *path;
    uint64_t begin, end, fn_ctx;
    uint32_t fn, node; /* node: innermost that certainly ran since the thread's last event */
    _Alignas(8) unsigned char data[LC_EVENT_DATA];
};

static struct event *events; /* a circle */
static uint32_t first, n_events, cap;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

enum {
    FIRST_CAP = 256,
    MERGE = 64,
    OLD_US = 100,
    SOME = 32,
    LONG_QUEUE = 512,  /* events */
    CATCH_UP_US = 50,  /* without progress */
    IN_VAIN_MS = 50,   /* of all calls, without any progress in them, */
    IN_VAIN_SHARE = 32 /* and this part of the run */
};
static uint32_t capacity = LC_BACKLOG_CAPACITY; /* a power of two */
static uint64_t began;

void lc_clk_backlog_init(void) {
    const char *text = lc_option("LATECOMER_TEST_BACKLOG");
    for (unsigned long wanted = text != NULL ? strtoul(text, NULL, 10) : LC_BACKLOG_CAPACITY;
         capacity > FIRST_CAP && capacity > wanted;)
        capacity /= 2;
    began = lc_ticks();
    events = malloc(FIRST_CAP * sizeof *events);
    cap = events != NULL ? FIRST_CAP : 0;
}

static struct event *at(uint32_t i) {
    return &events[(first + i) & (cap - 1)];
}

static void run(struct event *e) {
    struct lc_item item = {.node = e->node};
    struct lc_entry entry = {.path = e->path, .fn_ctx = e->fn_ctx, .items = &item};
    struct lc_call call = {.thread = e->k != NULL ? e->k->thread : NULL,
                           .entry = &entry,
                           .begin = e->begin,
                           .end = e->end,
                           .fn = e->fn,
                           .common = e->node != 0};
    e->type->run(&call, e->k, e->data);
}

static bool is_ready(struct event *e) {
    return e->type->ready == NULL || e->type->ready(e->data);
}

static void pop_and_run(void) {
    struct event e = *at(0);
    first = (first + 1) & (cap - 1);
    n_events--;
    run(&e);
}

static void work(void) {
    while (n_events > 0 && is_ready(at(0)))
        pop_and_run();
}

/* Room for one more event; false: the queue is full (make_room then forces its oldest event). */
static bool grow(void) {
    if (n_events < cap)
        return true;
    if (cap >= capacity || cap == 0)
        return false;
    struct event *more = malloc(2 * (size_t)cap * sizeof *more);
    if (more == NULL)
        return false;
    for (uint32_t i = 0; i < n_events; i++)
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
        lc_clk.counts.forced++;
        pop_and_run();
        work();
    }
}

static void fill(struct event *e, const struct lc_event_type *type, struct lc_clk_thread *k,
                 const struct lc_call *call, const void *data, size_t bytes) {
    e->type = type;
    e->k = k;
    e->path = call->entry->path;
    e->fn_ctx = call->entry->fn_ctx;
    e->begin = call->begin;
    e->end = call->end;
    e->fn = call->fn;
    e->node = call->common ? call->entry->items[call->common - 1].node : 0;
    if (bytes > 0)
        memcpy(e->data, data, bytes);
}

static void do_locked(const struct lc_event_type *type, struct lc_clk_thread *k,
                      const struct lc_call *call, const void *data, size_t bytes) {
    struct event now;
    if (!type->local)
        lc_clk_composed_break();
    if (n_events == 0) {
        fill(&now, type, k, call, data, bytes);
        if (is_ready(&now)) {
            run(&now);
            return;
        }
    }
    make_room();
    if (cap == 0)
        return;
    fill(at(n_events), type, k, call, data, bytes);
    n_events++;
}

void lc_clk_backlog_submit(const struct lc_event_type *type, struct lc_clk_thread *k,
                           const struct lc_call *call, const void *data, size_t bytes) {
    pthread_mutex_lock(&lock);
    do_locked(type, k, call, data, bytes);
    pthread_mutex_unlock(&lock);
}

bool lc_clk_backlog_empty(void) {
    return n_events == 0;
}

/* Consecutive parts of one thread in the same node are merged: there may be many regions between
 * two calls. */
void lc_clk_backlog_part(struct lc_clk_thread *k, const struct lc_call *call) {
    uint64_t ticks = call->begin > k->seen ? call->begin - k->seen : 0;
    uint32_t node = call->common ? call->entry->items[call->common - 1].node : 0;
    k->seen = call->begin;
    lc_clk_composed_worked(ticks, node, true);
    pthread_mutex_lock(&lock);
    for (uint32_t back = 1; back <= MERGE && back <= n_events; back++) {
        struct event *e = at(n_events - back);
        if (e->type != &lc_clk_part_event || e->k != k)
            break;
        if (e->node == node) {
            uint64_t sum;
            memcpy(&sum, e->data, sizeof sum);
            sum += ticks;
            memcpy(e->data, &sum, sizeof sum);
            pthread_mutex_unlock(&lock);
            return;
        }
    }
    do_locked(&lc_clk_part_event, k, call, &ticks, sizeof ticks);
    pthread_mutex_unlock(&lock);
}

static void take(bool ask) {
    lc_clk_lock();
    lc_clk_packets_take(ask);
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

/* The oldest event has waited for long: MPI is called, so that pending packets make progress. */
static bool is_old(void) {
    return n_events > 0 && lc_ticks() - at(0)->begin > OLD_US * lc_clk.slow_ticks;
}

/* Until no more than `enough` events are left, or there is no progress: how many are left. */
static uint32_t progress_until(uint32_t enough) {
    uint64_t since = lc_ticks();
    uint32_t left = n_events;
    while (left > enough && lc_ticks() - since < CATCH_UP_US * lc_clk.slow_ticks) {
        pthread_mutex_lock(&lock);
        take(true);
        work();
        send_packets();
        bool any = n_events < left;
        left = n_events;
        pthread_mutex_unlock(&lock);
        if (any)
            since = lc_ticks();
        else
            sched_yield(); /* there may be more processes than cores */
    }
    return left;
}

/* Messages in turn outrun their clocks: a record arrives when its receiver has gone on. So calls
 * wait for those that are on their way, from a half full queue on. */
static void keep_pace(void) {
    static _Atomic uint64_t in_vain;
    uint64_t limit = IN_VAIN_MS * 1000 * lc_clk.slow_ticks + (lc_ticks() - began) / IN_VAIN_SHARE;
    if (in_vain > limit)
        return;
    uint32_t before = n_events;
    if (progress_until(capacity / 4) >= before)
        in_vain += CATCH_UP_US * lc_clk.slow_ticks; /* not while other processes have the core */
}

void lc_clk_backlog_progress(void) {
    pthread_mutex_lock(&lock);
    take(is_old());
    work();
    send_packets();
    pthread_mutex_unlock(&lock);
    if (lc_unlikely(n_events >= capacity / 2))
        keep_pace();
}

void lc_clk_backlog_catch_up(void) {
    static uint32_t skip, in_vain;
    if (n_events < LONG_QUEUE || (skip > 0 && skip-- > 0))
        return;
    bool all = progress_until(LONG_QUEUE / 2) <= LONG_QUEUE / 2;
    in_vain = all ? 0 : (uint32_t)lc_min(2ull * in_vain + 1, 1024);
    skip = in_vain;
}

void lc_clk_backlog_drain(void) {
    uint64_t begin = lc_ticks();
    do {
        pthread_mutex_lock(&lock);
        lc_clk_composed_eager(true);
        take(true);
        work();
        send_packets();
        lc_clk_composed_eager(false);
        pthread_mutex_unlock(&lock);
    } while (n_events > 0 && lc_ticks() - begin < LC_DRAIN_US * lc_clk.slow_ticks);
}

static struct lc_clk_thread *finisher;

/* One round at the end. What has not arrived within LC_GIVE_UP_MS never will. */
static void last_turn(bool *left) {
    static struct lc_clk_timeout timeout;
    static uint64_t done;
    uint32_t before = n_events;
    work();
    done += before - n_events;
    lc_clk_lock();
    lc_clk_replies_send();
    lc_clk_composed_progress();
    lc_clk_back_flush(finisher);
    bool shadows = lc_clk_shadows_left();
    lc_clk_unlock();
    *left = n_events > 0 || shadows;
    static uint32_t given_up;
    uint32_t some_ms = given_up == 0 ? LC_GIVE_UP_MS : given_up < SOME ? LC_GIVE_UP_MS / 20 : 0;
    if (!*left || lc_clk_within_timeout(&timeout, 1 + done + lc_clk.counts.parts_taken, some_ms))
        return;
    given_up++;
    timeout = (struct lc_clk_timeout){0};
    if (n_events > 0) {
        lc_clk.counts.forced++;
        pop_and_run();
    } else {
        lc_clk_shadows_give_up();
    }
}

void lc_clk_backlog_finish(struct lc_clk_thread *k) {
    pthread_mutex_lock(&lock);
    finisher = k;
    lc_clk_composed_eager(true);
    lc_clk_records_quiesce(last_turn);
    lc_clk.backlog = false;
    free(events);
    events = NULL;
    cap = 0;
    pthread_mutex_unlock(&lock);
}

/* A copy of each; they stay. */
void lc_clk_backlog_copy_paths(const struct lc_clk_thread *k) {
    static struct lc_path none;
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < n_events; i++) {
        struct lc_path *gone = at(i)->k == k ? at(i)->path : NULL;
        if (gone == NULL || gone->trace == gone) /* its own: a copy */
            continue;
        struct lc_path *copy = malloc(sizeof *copy);
        if (copy != NULL) {
            *copy = *gone;
            copy->trace = copy;
        }
        for (uint32_t j = i; j < n_events; j++)
            if (at(j)->k == k && at(j)->path == gone)
                at(j)->path = copy != NULL ? copy : &none;
    }
    pthread_mutex_unlock(&lock);
}
