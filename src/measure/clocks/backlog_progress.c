#include "measure/clocks/backlog_progress.h"

#include <sched.h>
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
#include "measure/clocks/shadow_collectives.h"
#include "measure/clocks/turns.h"
#include "piggyback/match.h"

enum {
    OLD_US = 100,
    OLD_TURN_US = 1000,
    SOME = 32,
    LONG_QUEUE = 512,  /* events */
    CATCH_UP_US = 50,  /* without progress */
    IN_VAIN_MS = 50,   /* of all calls, without any progress in them, */
    IN_VAIN_SHARE = 32 /* and this part of the run */
};

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
    uint64_t old = (lc_clk_turns_open() ? OLD_TURN_US : OLD_US) * lc_clk.slow_ticks;
    return lc_clk_backlog_events() > 0 && lc_patience_ticks() - lc_clk_backlog_oldest() > old;
}

/* Until no more than `enough` events are left, or there is no progress: how many are left. */
static uint32_t progress_until(uint32_t enough) {
    uint64_t since = lc_patience_ticks();
    uint32_t left = lc_clk_backlog_events();
    while (left > enough && lc_patience_ticks() - since < CATCH_UP_US * lc_clk.slow_ticks) {
        lc_clk_backlog_lock();
        take(true);
        lc_clk_backlog_work();
        send_packets();
        bool any = lc_clk_backlog_events() < left;
        left = lc_clk_backlog_events();
        lc_clk_backlog_unlock();
        if (any)
            since = lc_patience_ticks();
        else
            sched_yield(); /* there may be more processes than cores */
    }
    return left;
}

/* In a ping-pong the clocks fall behind: a record arrives when its receiver has gone on. So calls
 * wait for those that are on their way, from a half full queue on. */
static void keep_pace(void) {
    static _Atomic uint64_t in_vain;
    uint64_t limit = IN_VAIN_MS * 1000 * lc_clk.slow_ticks +
                     (lc_patience_ticks() - lc_clk_backlog_began()) / IN_VAIN_SHARE;
    if (in_vain > limit)
        return;
    uint32_t before = lc_clk_backlog_events();
    if (progress_until(lc_clk_backlog_capacity() / 4) >= before)
        in_vain += CATCH_UP_US * lc_clk.slow_ticks; /* not while other processes have the core */
}

void lc_clk_backlog_progress(void) {
    lc_clk_backlog_lock();
    take(is_old());
    lc_clk_backlog_work();
    send_packets();
    lc_clk_backlog_unlock();
    if (lc_unlikely(lc_clk_backlog_events() >= lc_clk_backlog_capacity() / 2))
        keep_pace();
}

void lc_clk_backlog_catch_up(void) {
    static _Atomic uint32_t skip, in_vain; /* approximate where threads come together here */
    if (lc_clk_backlog_events() < LONG_QUEUE)
        return;
    if (skip > 0) {
        skip--;
        return;
    }
    bool all = progress_until(LONG_QUEUE / 2) <= LONG_QUEUE / 2;
    in_vain = all ? 0 : (uint32_t)lc_min(2ull * in_vain + 1, 1024);
    skip = in_vain;
}

void lc_clk_backlog_drain(void) {
    uint64_t begin = lc_patience_ticks();
    do {
        lc_clk_backlog_lock();
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
    lc_clk_composed_eager(true);
    lc_clk_turns_close();
    lc_clk_packets_quiesce(last_turn);
    take_late();
    lc_clk.backlog = false;
    lc_clk_backlog_end();
    lc_clk_backlog_unlock();
}
