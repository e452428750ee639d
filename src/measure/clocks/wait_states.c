/* Measured wait states: choice among the candidates of a call, booking per call path, blame, and
 * late receivers that are known late.
 *
 * Inside a node the sender finds in the receiver's log of posts when its receive was posted
 * (back_edges.c). Where it does not, and between nodes, the receiver tells it; what comes after the
 * send has ended is booked later (struct lc_pending). */
#include <stdlib.h>
#include <string.h>

#include "measure/clocks/call_state.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/edges.h"
#include "measure/clocks/global_time.h"
#include "measure/clocks/intervals.h"
#include "measure/clocks/records.h"
#include "measure/clocks/wait_states.h"
#include "measure/core/core.h"
#include "measure/callpath/entry.h"
#include "measure/core/state_write.h"
#include "measure/core/thread.h"
#include "piggyback/blame.h"
#include "piggyback/logical.h"
#include "piggyback/match.h"

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

/* Blame of what was booked is that of c now, as is what c waited longer. Costs that were booked
 * stay where they are. */
static void blame_instead(struct lc_booked *b, const struct lc_candidate *c, uint64_t left) {
    struct lc_clk_booking now = {.node = b->wait->node,
                                 .traceable = b->wait->thread == lc_clk.threads->index,
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
    if (lc_likely(k == lc_clk.threads))
        lc_clk_origins_book(path->node, c, k->l.last);
    else
        lc_blame_add_own(&lc_clk.blame, lc_clk.rank, path->node, c->late_rank, c->late_node,
                         c->ticks);
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

static uint32_t slot_of(uint32_t rank, uint32_t seq) {
    return (rank * 131 + seq) % LC_REPLY_SLOTS;
}

const struct lc_reply_slot *lc_clk_find_reply(uint32_t rank, uint32_t seq) {
    const struct lc_reply_slot *slot = &lc_clk.replies[slot_of(rank, seq)];
    return slot->seq == seq && slot->rank == rank ? slot : NULL;
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

enum { LEARN_US = 20 }; /* shorter waits may be the time that a send takes */

/* Which standard sends to other nodes MPI buffers: those that ended before their receive was
 * posted, until one of their size has waited. */
static void learn(const struct lc_pending *p, const struct lc_stamp *post) {
    if (p->bytes >= lc_clk.buffered_bytes && post->enter >= p->end)
        lc_clk.buffered_bytes = p->bytes + 1;
    else if (p->bytes > 0 && p->bytes < lc_clk.buffered_bytes && post->enter < p->end &&
             post->enter > p->begin + LEARN_US * lc_clk.slow_ticks)
        lc_clk.buffered_bytes = p->bytes;
}

void lc_clk_count_missing(uint64_t ticks) {
    lc_clk.counts.edges_late++;
    lc_clk.counts.late_useful += ticks;
    for (uint32_t s = 0; s < lc_clk.n_whatif; s++)
        lc_clk.counts.late_whatif[s] += ticks;
}

static void resolve_pending(struct lc_pending *p, uint32_t source, const struct lc_stamp *post) {
    if (lc_clk.areas[source].head == NULL)
        learn(p, post);
    if (post->enter <= p->begin || post->enter >= p->end)
        return;
    if (p->no_edge && post->interval == p->interval && post->useful > p->useful)
        lc_clk_count_missing(post->useful - p->useful);
    lc_clk_book_later(p->instead, &(struct lc_candidate){.ticks = post->enter - p->begin,
                                                         .kind = LC_MEASURED_LATERECEIVER,
                                                         .late_rank = source,
                                                         .late_node = post->node,
                                                         .begin = p->begin});
}

/* With lc_clk.lock: called while rings are read. */
void lc_clk_reply(void *user, uint32_t source, const struct lc_ring_entry *entry) {
    (void)user;
    uint32_t seq = (uint32_t)entry->tag;
    struct lc_reply_slot *slot = &lc_clk.replies[slot_of(source, seq)];
    slot->rank = source;
    slot->seq = seq;
    slot->stamp = entry->stamp;
    if (lc_clk.areas[source].head != NULL)
        slot->n_extra = 0;
    for (uint32_t i = 0; i < lc_clk.n_pending; i++)
        if (lc_clk.pending[i].rank == source && lc_clk.pending[i].seq == seq) {
            resolve_pending(&lc_clk.pending[i], source, &entry->stamp);
            lc_clk_booked_drop(&lc_clk.pending[i].instead);
            lc_clk.pending[i] = lc_clk.pending[--lc_clk.n_pending];
            lc_clk.pending[lc_clk.n_pending].instead = NULL;
            return;
        }
}

void lc_clk_reply_extra(uint32_t rank, int32_t seq, const uint64_t *extra, uint32_t n) {
    struct lc_reply_slot *slot = &lc_clk.replies[slot_of(rank, (uint32_t)seq)];
    if (slot->extra == NULL)
        slot->extra = malloc(LC_RECORD_EXTRA * sizeof *slot->extra);
    slot->n_extra = slot->extra == NULL ? 0 : n < LC_RECORD_EXTRA ? n : LC_RECORD_EXTRA;
    if (slot->n_extra > 0)
        memcpy(slot->extra, extra, slot->n_extra * sizeof *extra);
}

void lc_clk_wait_later(struct lc_clk_thread *k, const struct lc_call *call, uint32_t rank,
                       uint32_t seq, uint64_t bytes) {
    /* a full table: most have no reply, since the receive was posted before the send */
    static uint32_t victim;
    /* so that the state of this call counts as not booked yet */
    lc_clk_candidate(k, call, LC_MEASURED_LATERECEIVER, 0, rank, 0);
    struct lc_booked *instead = lc_clk_booked_hold(k, call);
    if (instead == NULL)
        return;
    uint32_t at = lc_clk.n_pending < LC_PENDING ? lc_clk.n_pending++ : victim++ % LC_PENDING;
    lc_clk_booked_drop(&lc_clk.pending[at].instead);
    lc_clk.pending[at] = (struct lc_pending){.rank = rank,
                                             .seq = seq,
                                             .begin = call->begin,
                                             .end = call->end,
                                             .bytes = bytes,
                                             .instead = instead,
                                             .useful = k->l.useful,
                                             .interval = k->l.interval};
}

/* Nobody looks for the reply to this send any more; its wait is still booked if one comes. */
static void give_up_edge(const struct lc_unresolved *o) {
    for (uint32_t i = 0; i < lc_clk.n_pending; i++)
        if (lc_clk.pending[i].rank == o->to && lc_clk.pending[i].seq == o->seq)
            lc_clk.pending[i].no_edge = true;
}

void lc_clk_call_end(const struct lc_clk_thread *k, const struct lc_call *call,
                     struct lc_call_end *at) {
    *at = (struct lc_call_end){.begin = call->begin,
                               .end = call->end,
                               .useful = k->l.useful,
                               .interval = k->l.interval,
                               .phase = k->l.phase};
    lc_logical_mark(&k->l, &at->since);
}

void lc_clk_add_unresolved(struct lc_clk_thread *k, const struct lc_call *call, uint32_t to,
                           uint32_t seq, bool synchronous) {
    if (!k->l.interval)
        return;
    if (k->n_unresolved ==
        LC_UNRESOLVED) { /* the oldest one goes, of those that need not have waited if any */
        uint32_t out = 0;
        while (out < LC_UNRESOLVED && k->unresolved_sends[out].synchronous)
            out++;
        out = out < LC_UNRESOLVED ? out : 0;
        give_up_edge(&k->unresolved_sends[out]);
        memmove(k->unresolved_sends + out, k->unresolved_sends + out + 1,
                (--k->n_unresolved - out) * sizeof *k->unresolved_sends);
    }
    struct lc_unresolved *o = &k->unresolved_sends[k->n_unresolved++];
    *o = (struct lc_unresolved){.to = to, .seq = seq, .synchronous = synchronous};
    lc_clk_call_end(k, call, &o->at);
    k->todo = true;
}

/* By how much the published clocks of this thread were too low, at most: by as much as the clock
 * was when the call ended, also where other edges have made up for it since. Of what-if clocks that
 * is not known, so it is taken to be as much, at least. */
static void count_late(const struct lc_logical *l, uint64_t too_low, const uint64_t *whatif) {
    bool changed = too_low > 0;
    lc_clk.counts.late_useful += too_low;
    for (uint32_t s = 0; s < l->vec.n_whatif; s++) {
        uint64_t more = l->vec.whatif[s] - whatif[s];
        changed |= more > 0;
        lc_clk.counts.late_whatif[s] += more > too_low ? more : too_low;
    }
    lc_clk.counts.edges_late += changed;
}

/* The edge is made where it belongs. */
void lc_clk_edge_later(struct lc_clk_thread *k, struct lc_call_end *at, uint32_t source,
                       const struct lc_stamp *stamp, const uint64_t *extra, uint32_t n_extra) {
    if (stamp->interval != at->interval || at->interval != k->l.interval)
        return;
    uint64_t whatif[LC_WHATIF_MAX];
    memcpy(whatif, k->l.vec.whatif, sizeof whatif);
    if (at->phase != k->l.phase) /* the edge ends outside this phase */
        at->since.phase_own = k->l.phase_own;
    lc_logical_rewind(&k->l, &at->since);
    uint64_t before = k->l.useful;
    lc_clk_edge(k, source, stamp, at->end, extra, n_extra);
    lc_logical_forward(&k->l, &at->since, k->l.useful > before, k->done, k->n_done);
    if (at->calls > 0)
        count_late(&k->l, stamp->useful > at->useful ? stamp->useful - at->useful : 0, whatif);
}

static void resolve_sends(struct lc_clk_thread *k, struct lc_unresolved *o,
                          const struct lc_reply_slot *reply) {
    uint64_t posted = reply->stamp.enter;
    bool is_after = o->synchronous && lc_clk.areas[o->to].head == NULL; /* as in back_edges.c */
    if (is_after || (posted < o->at.end && (o->synchronous || posted > o->at.begin)))
        lc_clk_edge_later(k, &o->at, o->to, &reply->stamp, reply->extra, reply->n_extra);
}

void lc_clk_resolve(struct lc_clk_thread *k) {
    enum { LOOKS = 4, CALLS = 64 }; /* looks into ring or network; calls that it is remembered */
    lc_clk_lock();
    uint32_t n = 0;
    for (uint32_t i = 0; i < k->n_unresolved; i++) {
        struct lc_unresolved o = k->unresolved_sends[i];
        const struct lc_reply_slot *reply = lc_clk_find_reply(o.to, o.seq);
        if (reply == NULL && (o.at.calls < LOOKS || (o.synchronous && lc_clk.backlog))) {
            lc_match_drain(&lc_clk.match, o.to);
            reply = lc_clk_find_reply(o.to, o.seq);
        }
        if (reply != NULL)
            resolve_sends(k, &o, reply);
        else if (++o.at.calls < (o.synchronous ? CALLS : LOOKS))
            k->unresolved_sends[n++] = o;
        else
            give_up_edge(&o);
    }
    k->n_unresolved = (uint8_t)n;
    lc_clk_unlock();
}
