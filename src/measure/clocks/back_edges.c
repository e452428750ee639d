/* The edge back, from the post of a receive to the end of its send: the receiver tells the sender,
 * or the sender finds it in the receiver's log of posts (piggyback/posts.h). */
#include <stdlib.h>
#include <string.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/timer.h"
#include "measure/clocks/clock_messages.h"
#include "measure/clocks/call_state.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/backlog.h"
#include "measure/clocks/edges.h"
#include "measure/clocks/records.h"
#include "measure/clocks/wait_states.h"
#include "measure/core/core.h"
#include "measure/core/thread.h"
#include "piggyback/logical.h"
#include "piggyback/match.h"
#include "piggyback/posts.h"

/* ---- sender */

/* When its receive was posted: from the receiver's reply, or from its log. */
static bool find_post(const struct lc_ended *e, struct lc_stamp *post, const uint64_t **extra,
                      uint32_t *n_extra) {
    const struct lc_reply_slot *reply = lc_clk_find_reply(e->to, e->seq);
    if (reply == NULL) {
        lc_match_drain(&lc_clk.match, e->to);
        reply = lc_clk_find_reply(e->to, e->seq);
    }
    if (reply != NULL) {
        *post = reply->stamp;
        *n_extra = reply->n_extra;
        *extra = reply->extra;
        return true;
    }
    bool unsure = false;
    *n_extra = 0;
    if (lc_clk.areas[e->to].head != NULL &&
        lc_posts_find(&lc_clk.areas[e->to], &lc_clk.outs[e->to], lc_clk.rank, e->context, e->tag,
                      e->seq, post, &unsure))
        return true;
    lc_clk.counts.unresolved += e->synchronous;
    return false;
}

/* Did this call wait for the receive? */
static void receiver_late(struct lc_call *call, struct lc_clk_thread *k, const struct lc_ended *e) {
    struct lc_stamp post;
    const uint64_t *extra = NULL;
    uint32_t n_extra;
    if (e->seq == 0 || e->to == lc_clk.rank)
        return;
    bool some = lc_clk.fn_class[call->fn] == LC_FN_WAITSOME; /* 0 counts, and is not put right */
    lc_clk_lock();
    bool found = find_post(e, &post, &extra, &n_extra);
    bool waits = e->counts && !some;
    bool may_hear = lc_clk.areas[e->to].head != NULL || e->bytes >= LC_RENDEZVOUS_BYTES;
    if (!found)
        lc_clk_open_post(k, call, e, e->synchronous || (waits && may_hear), waits);
    uint64_t waited = 0;
    bool edge = found && lc_clk_post_edge(e->to, e->synchronous, post.enter, call->begin, call->end,
                                          &waited);
    if (e->counts && (waited > 0 || some))
        lc_clk_candidate(k, call, LC_MEASURED_LATERECEIVER, waited, e->to, found ? post.node : 0);
    if (edge && (e->counts || e->synchronous))
        lc_clk_edge(k, e->to, &post, call->end, extra, n_extra); /* extra: of the reply's place */
    lc_clk_unlock();
}

struct ending {
    struct lc_ended e;
    uint32_t id;
    bool unless_blocked;
    uint64_t ended; /* lc_patience_ticks */
};

enum { POST_US = 200000, POSTS_IN_VAIN = 8 };

/* Inside the node it finds that in the receiver's log of posts. Where it does not (the receiver's
 * clocks lag, too, or its log was not long enough), it may send a reply: some are waited for. */
static bool has_post(struct ending *x) {
    static uint32_t in_vain;
    struct lc_stamp post;
    bool unsure;
    x->e.seq = lc_clk_sent_seq(x->id);
    if (x->e.seq == 0 || in_vain >= POSTS_IN_VAIN)
        return true;
    lc_clk_lock();
    lc_match_drain(&lc_clk.match, x->e.to);
    bool found = lc_clk_find_reply(x->e.to, x->e.seq) != NULL ||
                 lc_posts_find(&lc_clk.areas[x->e.to], &lc_clk.outs[x->e.to], lc_clk.rank,
                               x->e.context, x->e.tag, x->e.seq, &post, &unsure);
    lc_clk_unlock();
    bool late = !found && lc_patience_ticks() - x->ended > POST_US * lc_clk.slow_ticks;
    in_vain += late;
    return found || late;
}

/* A send that ended only after its receive was posted gets the time of the post. */
static bool has_reply(void *data) {
    struct ending x;
    memcpy(&x, data, sizeof x);
    if (!x.e.synchronous || x.e.to == lc_clk.rank)
        return true;
    if (lc_clk.areas[x.e.to].head != NULL)
        return has_post(&x);
    lc_clk_lock();
    bool found = lc_clk_find_reply(x.e.to, x.e.seq) != NULL;
    lc_clk_unlock();
    return found;
}

static void end_later(struct lc_call *call, struct lc_clk_thread *k, void *data) {
    struct ending x;
    memcpy(&x, data, sizeof x);
    if (x.id != 0)
        x.e.seq = lc_clk_sent_seq(x.id);
    for (uint32_t b = 0; x.unless_blocked && b < k->n_blockers; b++)
        if (k->blockers[b] == x.e.to)
            x.e.counts = false;
    if (x.e.counts || x.e.synchronous)
        receiver_late(call, k, &x.e);
}

static LC_COLD void ended_in_backlog(struct lc_call *call, struct lc_clk_thread *k,
                                     const struct lc_ended *e, uint32_t id, bool unless_blocked) {
    static const struct lc_event_type event = {.ready = has_reply, .run = end_later},
                                      no_edge = {
                                          .ready = has_reply, .run = end_later, .turn = true};
    struct ending x = {*e, id, unless_blocked, lc_patience_at(call->end)};
    _Static_assert(sizeof x <= LC_EVENT_DATA, "fits");
    bool may_have_edge =
        lc_clk.areas[e->to].head != NULL || e->synchronous || e->bytes >= LC_RENDEZVOUS_BYTES;
    lc_clk_backlog_submit(may_have_edge ? &event : &no_edge, k, call, &x, sizeof x);
}

void lc_clk_send_ended(struct lc_call *call, struct lc_clk_thread *k, const struct lc_ended *e,
                       uint32_t id, bool unless_blocked) {
    if (lc_unlikely(lc_clk.backlog))
        ended_in_backlog(call, k, e, id, unless_blocked);
    else
        receiver_late(call, k, e);
}

/* ---- receiver: replies */

/* A reply in a ring costs next to nothing. As a message it is sent at once only where the clocks of
 * a send that is expected to wait change with it, and not even then while both sides only start
 * messages, as those that exchange some do; what else the sender wants to know (when the receive
 * was posted, for its wait states) goes with the next record to the same rank. */
enum {
    LC_LATER = LC_RECORD_REPLIES,
    LC_LATER_SHARE = 512 /* of the time: clocks may lag by so much because of that */
};

struct later { /* replies that wait for a record */
    uint64_t words[LC_LATER][LC_RECORD_REPLY];
    uint32_t vectors[LC_LATER];     /* of their stamps */
    uint32_t generations[LC_LATER]; /* of their what-if clocks */
    uint32_t n;
    bool wanted;             /* one of them is of a send that may have waited */
    uint64_t skipped, since; /* ticks by which clocks would have changed, since when */
};
static struct later **queued_replies; /* by rank */

/* Ranks whose reply is held until this process does something else than start messages: one of them
 * may go there. */
static uint32_t held[8], n_held;

static struct later *later_of(uint32_t rank) {
    if (queued_replies == NULL)
        queued_replies = calloc(lc_clk.size, sizeof *queued_replies);
    if (queued_replies != NULL && queued_replies[rank] == NULL) {
        queued_replies[rank] = calloc(1, sizeof **queued_replies);
        if (queued_replies[rank] != NULL)
            queued_replies[rank]->since = lc_clk.base_ticks;
    }
    return queued_replies != NULL ? queued_replies[rank] : NULL;
}

uint32_t lc_clk_back_pack(uint32_t to, uint32_t generation, uint64_t *words) {
    struct later *l = queued_replies != NULL ? queued_replies[to] : NULL;
    if (l == NULL || l->n == 0)
        return 0;
    uint32_t n = l->n, each = lc_clk_reply_words(lc_clk.n_whatif);
    for (uint32_t i = 0; i < n; i++) {
        memcpy(words + i * each, l->words[i], each * sizeof *words);
        if (each == LC_RECORD_REPLY && l->generations[i] != generation)
            memset(words + i * each + LC_RECORD_REPLY - LC_WHATIF_MAX, 0,
                   LC_WHATIF_MAX * sizeof *words);
    }
    l->n = 0;
    l->wanted = false;
    lc_clk.counts.packed += n;
    return n;
}

static void reply_to(struct lc_clk_thread *k, uint32_t source, const struct lc_stamp *post,
                     uint32_t seq) {
    struct lc_ring_entry *entry;
    if (source != lc_clk.rank)
        lc_clk_put_entry(k, source, post, LC_CONTEXT_REPLY, (int32_t)seq, 0, 0, &entry);
}

void lc_clk_reply_posted(struct lc_clk_thread *k, uint32_t source, const struct lc_stamp *post,
                         uint32_t seq) {
    reply_to(k, source, post, seq);
}

/* A reply as words, with the what-if clocks that thread k had when it made the stamp, whose
 * generation it returns; seq: the number of the message it belongs to. */
static uint32_t pack_reply(const struct lc_clk_thread *k, const struct lc_stamp *post, uint32_t seq,
                           uint64_t *words) {
    lc_clk_pack_stamp(post, words);
    words[5] = (uint64_t)post->node << 32 | seq;
    return lc_clk_whatif_words(k, post, words + LC_RECORD_REPLY - LC_WHATIF_MAX);
}

/* With the next record; if nothing goes that way, many of them in one. False: it is sent. */
static bool reply_with_next(struct lc_clk_thread *k, uint32_t source, const struct lc_stamp *post,
                            uint32_t seq, bool wanted) {
    struct later *l = later_of(source);
    if (l == NULL)
        return false;
    if (l->n == LC_LATER && !l->wanted && !wanted)
        l->n = 0;
    if (l->n == LC_LATER) {
        reply_to(k, source, post, seq);
        return false;
    }
    l->vectors[l->n] = post->vector;
    l->generations[l->n] = pack_reply(k, post, seq, l->words[l->n]);
    l->n++;
    l->wanted |= wanted;
    return true;
}

/* What no record took along, in a message of its own. */
static void flush(struct lc_clk_thread *k, uint32_t rank) {
    struct later *l = queued_replies[rank];
    if (l == NULL || l->n == 0 || !l->wanted)
        return;
    struct lc_stamp post;
    uint32_t seq = lc_clk_unpack_reply(l->words[--l->n], &post);
    post.vector = l->vectors[l->n];
    reply_to(k, rank, &post, seq);
}

void lc_clk_back_flush(struct lc_clk_thread *k) {
    for (uint32_t i = 0; queued_replies != NULL && i < lc_clk.size; i++)
        flush(k, i);
}

void lc_clk_back_todo(struct lc_clk_thread *k, const struct lc_call *call) {
    lc_clk_lock();
    if (!lc_clk.fn_starts[call->fn])
        while (n_held > 0)
            flush(k, held[--n_held]);
    k->todo = n_held > 0;
    lc_clk_unlock();
    if (k->open_edges != NULL)
        lc_clk_open_edges_take(k);
    k->todo |= k->open_edges != NULL;
    if (!k->todo)
        k->n_done = 0;
}

static void reply_after_starts(struct lc_clk_thread *k, uint32_t source,
                               const struct lc_stamp *post, uint32_t seq) {
    if (n_held == sizeof held / sizeof *held) {
        reply_to(k, source, post, seq);
    } else if (reply_with_next(k, source, post, seq, true)) {
        held[n_held++] = source;
        k->todo = true;
    }
}

/* By how much the sender's clocks grow with this edge back. */
static uint64_t growth(const struct lc_ring_entry *entry, const struct lc_stamp *post) {
    uint64_t most = 0;
    if (post->interval != entry->stamp.interval)
        return 0;
    if (lc_clk.n_whatif > 0)
        return UINT64_MAX / 2;
    if (post->useful > entry->stamp.useful)
        most = post->useful - entry->stamp.useful;
    if (post->phase == entry->stamp.phase && post->phase_useful > entry->stamp.phase_useful + most)
        most = post->phase_useful - entry->stamp.phase_useful;
    return most;
}

static bool is_worth_a_message(uint32_t source, uint64_t ticks, uint64_t now) {
    struct later *l = later_of(source);
    if (ticks == 0)
        return false;
    if (l != NULL && l->skipped + ticks <= (now - l->since) / LC_LATER_SHARE) {
        l->skipped += ticks;
        return false;
    }
    if (l != NULL) {
        l->skipped = 0;
        l->since = now;
    }
    return true;
}

/* To the sender of a record with these flags (LC_RECORD_WAITS, ..). */
static void reply_record(struct lc_clk_thread *k, uint32_t source,
                         const struct lc_ring_entry *entry, uint64_t flags,
                         const struct lc_stamp *post, uint64_t now, bool started) {
    bool blocks = (flags & LC_RECORD_BLOCKS) != 0;
    if (!blocks || !is_worth_a_message(source, growth(entry, post), now))
        reply_with_next(k, source, post, entry->seq, blocks);
    else if (started && !(flags & LC_RECORD_INSIDE))
        reply_after_starts(k, source, post, entry->seq);
    else
        reply_to(k, source, post, entry->seq);
}

bool lc_clk_notify_sender(struct lc_clk_thread *k, uint32_t source,
                          const struct lc_ring_entry *entry, const struct lc_call *call) {
    struct lc_stamp post;
    uint64_t now = call->begin;
    bool ring = lc_clk.areas[source].head != NULL;
    uint64_t flags = ring ? 0 : lc_clk_record_flags(entry);
    if (!lc_clk_is_after(entry, now) || (!ring && !(flags & LC_RECORD_WAITS)))
        return false;
    lc_logical_stamp(&k->l, now, &post);
    if (ring)
        reply_to(k, source, &post, entry->seq);
    else
        reply_record(k, source, entry, flags, &post, now, lc_clk.fn_starts[call->fn]);
    return true;
}

void lc_clk_reply_after(struct lc_clk_thread *k, const struct lc_call *call, uint32_t source,
                        const struct lc_ring_entry *entry, const uint64_t *extra, uint32_t n_extra,
                        const struct lc_clk_recv *r) {
    bool ring = lc_clk.areas[source].head != NULL;
    uint64_t flags = n_extra > 1 ? extra[1] : 0;
    struct lc_stamp post;
    if (source == lc_clk.rank || (ring ? r == NULL || !r->reply_later : !(flags & LC_RECORD_WAITS)))
        return;
    if (r != NULL)
        post = r->recv.post;
    else
        lc_logical_stamp(&k->l, call->begin, &post);
    bool late = lc_clk_is_after(entry, post.enter);
    if (ring && (late || growth(entry, &post) > 0 || lc_clk.backlog))
        reply_to(k, source, &post, entry->seq);
    else if (!ring && late)
        reply_record(k, source, entry, flags, &post, call->end, false);
}

/* Receives that are complete, and whose sender may wait for a reply. */
static struct lc_clk_recv *pending_replies;
static _Atomic uint32_t n_wanted; /* changed with the lock, any thread looks */

void lc_clk_reply_wanted(void) {
    n_wanted++;
}

bool lc_clk_reply_is_wanted(void) {
    return atomic_load_explicit(&n_wanted, memory_order_relaxed) > 0;
}

static bool wants_reply(const struct lc_stashed *item) {
    return item->n_extra > 1 && item->extra[1] & LC_RECORD_SYNCHRONOUS;
}

static void reply(struct lc_clk_recv *r) {
    struct lc_ring_entry entry = r->claimed->entry;
    r->replied = true;
    n_wanted -= n_wanted > 0;
    lc_clk_reply_posted(r->k, (uint32_t)r->recv.source, &r->recv.post, entry.seq);
}

static void unlist(struct lc_clk_recv *r) {
    *(r->previous_reply != NULL ? &r->previous_reply->next_reply : &pending_replies) =
        r->next_reply;
    if (r->next_reply != NULL)
        r->next_reply->previous_reply = r->previous_reply;
    r->reply_pending = false;
}

void lc_clk_replies_send(void) {
    if (n_wanted == 0)
        return;
    for (struct lc_clk_recv *r = pending_replies, *next; r != NULL; r = next) {
        next = r->next_reply;
        if (r->claimed->pending || r->queued)
            continue;
        unlist(r);
        if (wants_reply(r->claimed))
            reply(r);
    }
}

void lc_clk_reply_expect(struct lc_clk_thread *k, struct lc_clk_recv *r, uint32_t source) {
    if (r == NULL || r->claimed == NULL || lc_clk.areas[source].head != NULL)
        return;
    r->k = k;
    r->recv.source = (int32_t)source;
    r->reply_pending = true;
    r->previous_reply = NULL;
    r->next_reply = pending_replies;
    if (pending_replies != NULL)
        pending_replies->previous_reply = r;
    pending_replies = r;
}

void lc_clk_reply_forget(struct lc_clk_recv *r) {
    if (r->reply_pending)
        unlist(r);
}

void lc_clk_reply_now(struct lc_clk_recv *r, const struct lc_stashed *item) {
    if (r->reply_pending && wants_reply(item))
        reply(r);
}

bool lc_clk_reply_blocking(struct lc_clk_thread *k, const struct lc_call *call, uint32_t source,
                           const struct lc_stashed *item) {
    struct lc_stamp post;
    if (!wants_reply(item))
        return false;
    lc_logical_stamp(&k->l, call->begin, &post);
    n_wanted -= n_wanted > 0;
    lc_clk_reply_posted(k, source, &post, item->entry.seq);
    return true;
}
