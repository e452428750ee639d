#include "measure/clocks/backlog_progress.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/timer.h"
#include "measure/clocks/back_edges.h"
#include "measure/clocks/backlog.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/composed_collectives.h"
#include "measure/clocks/late_edges.h"
#include "measure/clocks/packets.h"
#include "measure/clocks/pending_replies.h"
#include "measure/clocks/record_arrivals.h"
#include "measure/clocks/shadow_collectives.h"
#include "measure/clocks/turns.h"
#include "piggyback/match.h"

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
    uint64_t oldest = lc_clk_backlog_oldest(), since = oldest > asked ? oldest : asked;
    return lc_clk_backlog_events() > 0 && now > since && now - since > us * lc_clk.slow_ticks;
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
    lc_clk_backlog_work();
    send_packets();
    lc_clk_backlog_unlock();
}

void lc_clk_backlog_drain(void) {
    uint64_t begin = lc_patience_ticks();
    do {
        lc_clk_backlog_lock();
        if (lc_clk.threads != NULL)
            lc_clk_backlog_begun(lc_clk.threads);
        lc_clk_composed_eager(true);
        take(true);
        lc_clk_backlog_work();
        send_packets();
        lc_clk_composed_eager(false);
        lc_clk_backlog_unlock();
    } while (lc_clk_backlog_events() > 0 &&
             lc_patience_ticks() - begin < LC_DRAIN_US * lc_clk.slow_ticks);
}

static struct lc_clk_thread *finisher;

/* One round at the end. What has not arrived within LC_GIVE_UP_MS never will. */
static void last_turn(bool *left) {
    static struct lc_clk_timeout timeout;
    static uint64_t done;
    uint32_t before = lc_clk_backlog_events();
    lc_clk_backlog_work();
    done += before - lc_clk_backlog_events();
    lc_clk_lock();
    lc_clk_replies_send();
    lc_clk_composed_progress();
    lc_clk_back_flush(finisher);
    bool shadows = lc_clk_shadows_left();
    lc_clk_unlock();
    *left = lc_clk_backlog_events() > 0 || shadows;
    static uint32_t given_up;
    uint32_t some_ms = given_up == 0 ? LC_GIVE_UP_MS : given_up < SOME ? LC_GIVE_UP_MS / 20 : 0;
    if (!*left || lc_clk_within_timeout(&timeout, 1 + done + lc_clk.counts.parts_taken, some_ms))
        return;
    given_up++;
    timeout = (struct lc_clk_timeout){0};
    if (lc_clk_backlog_events() > 0) {
        lc_clk_backlog_force();
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
        if (k->n_late > 0)
            lc_clk_late_edges_take(k);
}

void lc_clk_backlog_finish(struct lc_clk_thread *k) {
    lc_clk_backlog_lock();
    finisher = k;
    lc_clk_backlog_begun(k);
    lc_clk_composed_eager(true);
    lc_clk_turns_close();
    lc_clk_packets_quiesce(last_turn);
    take_late();
    lc_clk.backlog = false;
    lc_clk_backlog_end();
    lc_clk_backlog_unlock();
}
