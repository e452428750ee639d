/* Collectives where clocks lag behind the program: what a member tells goes in parts of packets, or
 * in a line of the node's log that is filled in later. */
#include <stdlib.h>
#include <string.h>

#include "base/timer.h"
#include "measure/mpi/handles.h"
#include "measure/mpi/operations.h"
#include "measure/clocks/backlog.h"
#include "measure/clocks/call_state.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/collectives.h"
#include "measure/clocks/contexts.h"
#include "measure/clocks/global_time.h"
#include "measure/core/core.h"
#include "piggyback/colllog.h"
#include "piggyback/logical.h"

/* ---- the begin */

#define LC_INTERVAL_PENDING UINT32_MAX /* of a line whose stamp is not known yet */

struct filling {
    struct lc_clk_coll *x;
    struct lc_log_entry *entry;
};

static void fill_later(struct lc_call *call, struct lc_clk_thread *k, void *data) {
    struct filling f;
    struct lc_stamp stamp;
    memcpy(&f, data, sizeof f);
    lc_logical_stamp(&k->l, call->begin, &stamp);
    uint32_t interval = stamp.interval;
    stamp.interval = LC_INTERVAL_PENDING;
    f.entry->stamp = stamp;
    /* release: who sees the interval sees the stamp (has_arrived) */
    __atomic_store_n(&f.entry->stamp.interval, interval, __ATOMIC_RELEASE);
}

static void publish_later(struct lc_call *call, struct lc_clk_thread *k, void *data) {
    struct lc_clk_coll *x;
    struct lc_stamp stamp;
    memcpy(&x, data, sizeof x);
    lc_logical_stamp(&k->l, call->begin, &stamp);
    lc_clk_lock();
    lc_clk_shadow_publish(k, x->shadow, &stamp);
    lc_clk_unlock();
}

/* Publishes this member's clocks: after MPI has accepted the operation (or refused it); where
 * threads take turns in the backlog at its begin, since no end may come before a begin that it
 * waits for. */
void lc_clk_coll_publish_in_backlog(struct lc_call *call, struct lc_clk_thread *k,
                                    struct lc_clk_coll *x) {
    static const struct lc_event_type event = {.run = publish_later},
                                      composed = {.run = publish_later, .local = true};
    if (x->published)
        return;
    x->published = true;
    if (x->shadow != NULL && x->sends) {
        lc_clk_backlog_submit(x->certain ? &composed : &event, k, call, &x, sizeof x);
    } else if (x->shadow != NULL) { /* whatever the clocks are: others may have left already */
        lc_clk_lock();
        lc_clk_shadow_publish(k, x->shadow, NULL);
        lc_clk_unlock();
    }
}

static bool is_certain(const struct lc_call *call, const struct lc_clk_coll *x,
                       const struct lc_coll *coll) {
    return lc_clk.fn_uniform[call->fn] && !lc_clk.alone_each && !coll->nonblocking &&
           !coll->persistent && !coll->comm->inter &&
           (x->kind == LC_COLL_BARRIER || (x->sends && x->receives));
}

void lc_clk_coll_begin_in_backlog(struct lc_call *call, struct lc_clk_thread *k,
                                  const struct lc_coll *coll, struct lc_clk_coll *x) {
    static const struct lc_event_type event = {.run = fill_later};
    if (x->c->shadow) {
        x->certain = is_certain(call, x, coll);
        lc_clk_lock();
        x->shadow = lc_clk_shadow_new(call, x, coll->comm, coll);
        lc_clk_unlock();
        if (lc_core.multiple)
            lc_clk_coll_publish_in_backlog(call, k, x);
        return;
    }
    if (!x->sends)
        return;
    struct filling f = {x, NULL};
    lc_clk_lock(); /* others may be at the end of operations before it */
    f.entry = lc_colllog_place(&x->c->log, x->op);
    if (f.entry != NULL) {
        f.entry->stamp.interval = LC_INTERVAL_PENDING;
        lc_colllog_ready(&x->c->log, x->op, f.entry);
    } else {
        lc_clk.counts.skipped++;
    }
    lc_clk_unlock();
    if (f.entry != NULL)
        lc_clk_backlog_submit(&event, k, call, &f, sizeof f);
}

/* ---- the end */

/* The members whose lines are read. */
static bool lines_have_come(struct lc_clk_coll *x) {
    for (uint32_t i = 0; x->receives && i < x->c->log.n; i++) {
        const struct lc_log_entry *entry =
            i != x->c->log.me ? lc_colllog_read(&x->c->log, i, x->op) : NULL;
        /* acquire: partner is fill_later */
        if (entry != NULL &&
            __atomic_load_n(&entry->stamp.interval, __ATOMIC_ACQUIRE) == LC_INTERVAL_PENDING)
            return false;
    }
    return true;
}

enum { SYNC_US = 1000000 };

static bool has_arrived(void *data) {
    struct lc_clk_coll *x;
    memcpy(&x, data, sizeof x);
    if (x->kind == LC_COLL_SYNC && x->shadow != NULL && x->receives &&
        lc_patience_ticks() - x->ended > SYNC_US * lc_clk.slow_ticks)
        return true; /* MPI may have let this member go before others came */
    lc_clk_lock();
    bool arrived = x->shadow != NULL ? !x->receives || lc_clk_shadow_arrived(x->shadow)
                                     : x->c->shadow || lines_have_come(x);
    lc_clk_unlock();
    return arrived;
}

static void end_later(struct lc_call *call, struct lc_clk_thread *k, void *data) {
    struct lc_clk_coll *x;
    memcpy(&x, data, sizeof x);
    lc_clk_lock();
    bool lines = x->shadow == NULL && !x->c->shadow;
    if (x->shadow != NULL && x->refused)
        lc_clk_shadow_drop(x->shadow);
    else if (x->shadow != NULL)
        lc_clk_shadow_end(k, call, x, x->shadow);
    lc_clk_coll_over(k, lines ? call : NULL, x);
    lc_clk_unlock();
}

void lc_clk_coll_over_in_backlog(struct lc_call *call, struct lc_clk_thread *k,
                                 struct lc_clk_coll *x) {
    static const struct lc_event_type event = {.ready = has_arrived, .run = end_later},
                                      composed = {
                                          .ready = has_arrived, .run = end_later, .local = true};
    LC_CLK_LOG("Y %u %llu\n", x->c->context, (unsigned long long)x->op);
    x->ended = lc_patience_at(call->end);
    bool local = x->certain && x->receives && x->shadow != NULL;
    if (local) {
        lc_clk_lock();
        lc_clk_shadow_ended(x->shadow, call->end);
        lc_clk_unlock();
    }
    lc_clk_backlog_submit(local ? &composed : &event, k, call, &x, sizeof x);
}

void lc_clk_constructor_sync_in_backlog(struct lc_call *call, struct lc_clk_thread *k,
                                        struct lc_comm *comm) {
    struct lc_clk_comm *c = lc_clk_comm_of(comm);
    struct lc_clk_coll *x = calloc(1, sizeof *x);
    if (x == NULL)
        return;
    *x = (struct lc_clk_coll){.c = c,
                              .op = UINT32_MAX - c->n_syncs++,
                              .kind = LC_COLL_SYNC,
                              .root = -1,
                              .sends = true,
                              .receives = true,
                              .constructor = true};
    LC_CLK_LOG("X %u %llu %d -1 1 1\n", c->context, (unsigned long long)x->op, (int)x->kind);
    lc_clk_lock();
    x->shadow = lc_clk_shadow_new(call, x, comm, NULL);
    lc_clk_unlock();
    lc_clk_coll_publish_in_backlog(call, k, x);
    lc_clk_coll_over_in_backlog(call, k, x);
}

void lc_clk_coll_end_in_backlog(struct lc_call *call, struct lc_clk_thread *k, struct lc_coll *coll,
                                struct lc_clk_coll *x) {
    bool certain = x->certain, barrier = certain && x->kind == LC_COLL_BARRIER;
    lc_clk_coll_over_in_backlog(call, k, x);
    if (certain && coll->comm->size == lc_core.size)
        lc_clk_resync_look(call);
    if (barrier)
        lc_clk_trace_barrier(call, coll->comm);
}

/* Nobody waits for what it publishes. */
void lc_clk_coll_failed_in_backlog(struct lc_call *call, struct lc_clk_thread *k,
                                   struct lc_clk_coll *x) {
    if (!x->refused && !lc_core.multiple)
        lc_clk_coll_publish_in_backlog(call, k, x);
    if (x->refused && x->shadow != NULL) {
        lc_clk_lock();
        lc_clk_shadow_refused(x->shadow);
        lc_clk_unlock();
    }
}
