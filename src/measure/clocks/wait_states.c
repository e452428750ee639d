/* Late receivers.
 * Inside a node the sender finds in the receiver's log of posts when its receive was posted
 * (back_edges.c). Where it does not, and between nodes, the receiver tells it; what comes after the
 * send has ended is booked later (edges.c). */
#include <stdlib.h>
#include <string.h>

#include "measure/clocks/call_state.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/global_time.h"
#include "measure/clocks/records.h"
#include "measure/clocks/wait_states.h"
#include "measure/core/core.h"
#include "measure/callpath/entry.h"
#include "measure/core/state_write.h"
#include "measure/core/thread.h"
#include "piggyback/blame.h"

struct lc_state_wait *lc_clk_waits_new(uint32_t thread, uint32_t node) {
    uint64_t offset = 0;
    struct lc_state_wait *w = lc_state_take(sizeof *w, &offset);
    if (w == NULL)
        return NULL;
    w->node = node;
    w->thread = thread;
    uint64_t next = atomic_load_explicit(&lc_core.state->waits, memory_order_relaxed);
    do
        w->next = next; /* release: a reader of the list finds node and next (lc_state_snapshot) */
    while (!atomic_compare_exchange_weak_explicit(&lc_core.state->waits, &next, offset,
                                                  memory_order_release, memory_order_relaxed));
    return w;
}

/* The record of waits of a path. */
static struct lc_state_wait *waits_of(struct lc_clk_thread *k, struct lc_path *path) {
    if (lc_unlikely(path->clocks == NULL))
        path->clocks = lc_clk_waits_new(k->index, path->node);
    return path->clocks;
}

static struct lc_booked *unheld; /* lc_clk.lock */

void lc_clk_booked_drop(struct lc_booked **booked) {
    struct lc_booked *b = *booked;
    *booked = NULL;
    if (b == NULL || --b->holders > 0)
        return;
    b->next = unheld;
    unheld = b;
}

static struct lc_booked *booked_new(void) {
    struct lc_booked *b = unheld;
    if (b == NULL)
        return malloc(sizeof *b);
    unheld = b->next;
    return b;
}

struct lc_booked *lc_clk_booked_hold(struct lc_clk_thread *k, const struct lc_call *call) {
    struct lc_state_wait *wait = k->l.interval ? waits_of(k, call->entry->path) : NULL;
    if (wait == NULL)
        return NULL;
    if (k->booked == NULL || k->booked->begin != call->begin || k->booked->wait != wait) {
        lc_clk_booked_drop(&k->booked);
        k->booked = booked_new();
        if (k->booked == NULL)
            return NULL;
        k->booked->holders = 1;
        k->booked->kind = LC_MEASURED_KINDS;
        k->booked->wait = wait;
        k->booked->begin = call->begin;
        k->booked->ticks = k->booked->n_parts = 0;
    }
    k->booked->holders++;
    return k->booked;
}

/* The thread that has this location. */
static struct lc_clk_thread *thread_of(uint32_t location) {
    struct lc_clk_thread *k = lc_clk.threads;
    while (k != NULL && k->index != location)
        k = k->next;
    return k;
}

/* Blame of what was booked is that of c now, as is what c waited longer. Costs that were booked
 * stay where they are. */
static void blame_instead(struct lc_booked *b, const struct lc_candidate *c, uint64_t left) {
    struct lc_clk_booking now = {.node = b->wait->node,
                                 .k = thread_of(b->wait->thread),
                                 .ticks = c->ticks - b->ticks,
                                 .left = left};
    for (uint32_t i = 0; i < b->n_parts; i++) {
        uint64_t traced = 0;
        if (b->parts[i].ticks == 0 || !lc_blame_take(&lc_clk.blame, now.node, b->late_rank,
                                                     b->parts[i].node, b->parts[i].ticks, &traced))
            continue;
        now.moved += b->parts[i].ticks;
        now.traced += traced;
    }
    b->n_parts = lc_clk_origins_book_parts(&now, c, b->parts);
}

/* false: it is not larger than what is booked. left: as in lc_clk_origins_book. */
static bool book_larger(struct lc_booked *b, const struct lc_candidate *c, uint64_t left) {
    if (c->ticks <= b->ticks)
        return false;
    struct lc_state_wait *w = b->wait;
    if (b->kind < LC_MEASURED_KINDS)
        w->ticks[b->kind] -= b->ticks;
    w->ticks[c->kind] += c->ticks;
    lc_clk.waited_ticks += c->ticks - b->ticks;
    if (b->ticks > 0 && b->late_rank < lc_clk.size)
        lc_pairs_not_waited(&lc_clk.pairs, b->late_rank, b->ticks);
    if (c->late_rank < lc_clk.size)
        lc_pairs_waited(&lc_clk.pairs, c->late_rank, c->ticks);
    blame_instead(b, c, left);
    b->kind = c->kind;
    b->late_rank = c->late_rank;
    b->ticks = c->ticks;
    return true;
}

void lc_clk_book(struct lc_clk_thread *k, struct lc_path *path, const struct lc_candidate *c) {
    if (!k->l.interval || (c->ticks == 0 && path->clocks == NULL))
        return;
    struct lc_state_wait *w = waits_of(k, path);
    lc_clk_lock();
    struct lc_booked *held = k->booked;
    if (lc_unlikely(held != NULL) && held->begin == c->begin && held->wait == w) {
        book_larger(held, c, k->l.last); /* a reply that another thread has read may be booked */
        lc_clk_unlock();
        return;
    }
    if (w != NULL)
        w->ticks[c->kind] += c->ticks;
    lc_clk.waited_ticks += c->ticks;
    if (c->ticks > 0 && c->late_rank < lc_clk.size)
        lc_pairs_waited(&lc_clk.pairs, c->late_rank, c->ticks);
    lc_clk_origins_book(k, path->node, c, k->l.last);
    lc_clk_unlock();
}

void lc_clk_book_finalize(struct lc_clk_thread *k, const struct lc_call *call,
                          const struct lc_offset_ends *offsets) {
    struct {
        double enter_s;
        int rank;
    } mine = {lc_clk_global_s(offsets, call->begin), lc_core.rank}, last = mine;
    if (lc_core.size < 2)
        return;
    lc_real.Allreduce(&mine, &last, 1, MPI_DOUBLE_INT, MPI_MAXLOC, lc_core.comm);
    uint64_t words[1 + LC_PAST_WORDS] = {k->l.node}; /* code of the last one, what it did lately */
    if (last.rank == lc_core.rank)
        lc_clk_origins_pack(-1, words + 1);
    lc_real.Bcast(words, 1 + LC_PAST_WORDS, MPI_UINT64_T, last.rank, lc_core.comm);
    double ticks = (last.enter_s - mine.enter_s) * 1e9 / lc_clk.ns_per_tick;
    if (last.rank == lc_core.rank || ticks < 1)
        return;
    lc_clk_origins_take((uint32_t)last.rank, words + 1, LC_PAST_WORDS);
    lc_clk_book(k, call->entry->path,
                &(struct lc_candidate){.ticks = (uint64_t)ticks,
                                       .kind = LC_MEASURED_FINALIZE,
                                       .late_rank = (uint32_t)last.rank,
                                       .late_node = (uint32_t)words[0],
                                       .begin = call->begin});
}

/* The thread whose call it is, if its wait state is not booked yet. With MPI_THREAD_MULTIPLE others
 * must not look at that, and it is taken to be booked. */
static struct lc_clk_thread *still_open(const struct lc_booked *booked) {
    struct lc_clk_thread *k = lc_core.multiple ? NULL : lc_clk.threads;
    while (k != NULL &&
           (k->index != booked->wait->thread || !k->unbooked || k->worst.begin != booked->begin))
        k = k->next;
    return k;
}

bool lc_clk_book_later(struct lc_booked *instead, const struct lc_candidate *c) {
    struct lc_clk_thread *k = still_open(instead);
    if (k == NULL)
        return book_larger(instead, c, 0);
    bool larger = c->ticks > k->worst.ticks;
    k->worst = larger ? *c : k->worst;
    return larger;
}
