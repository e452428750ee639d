/* The sender's entry: goes before its message, through a ring or as a record. */
#include <stdlib.h>
#include <string.h>

#include "measure/mpi/operations.h"
#include "measure/clocks/clock_messages.h"
#include "measure/clocks/backlog.h"
#include "measure/clocks/call_state.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/clocks_hooks.h"
#include "measure/clocks/contexts.h"
#include "measure/clocks/edges.h"
#include "measure/clocks/intervals.h"
#include "measure/clocks/records.h"
#include "measure/core/core.h"
#include "measure/core/thread.h"
#include "piggyback/logical.h"
#include "piggyback/ring.h"

static struct lc_ring_out *ring_to(uint32_t to) {
    struct lc_ring_out *out = &lc_clk.outs[to];
    if (lc_unlikely(out->area == NULL)) {
        lc_ring_out_init(out, &lc_clk.mine, to);
        out->area = &lc_clk.mine;
    }
    return out;
}

uint32_t lc_clk_put_entry(struct lc_clk_thread *k, uint32_t to, const struct lc_stamp *stamp,
                          uint32_t context, int32_t tag, uint32_t bytes, uint64_t waits,
                          struct lc_ring_entry **entry) {
    struct lc_ring_out *out = &lc_clk.outs[to];
    *entry = NULL;
    if (lc_likely(lc_clk.areas[to].head != NULL)) {
        out = ring_to(to);
        *entry = lc_ring_put(out, stamp, context, tag, bytes);
        return *entry != NULL ? out->seq : 0;
    }
    if (!lc_clk_record_send(k, to, stamp, context, tag, bytes, out->seq + 1, waits)) {
        out->n_lost++;
        return 0;
    }
    return ++out->seq;
}

void lc_clk_put(struct lc_clk_thread *k, uint32_t to, const struct lc_stamp *stamp,
                uint32_t context, int32_t tag) {
    struct lc_ring_entry *entry;
    lc_clk_put_entry(k, to, stamp, context, tag, 0, 0, &entry);
}

struct put_event {
    uint32_t to, context;
    int32_t tag;
};

static void put_now(struct lc_call *call, struct lc_clk_thread *k, void *data) {
    struct put_event x;
    struct lc_stamp stamp;
    memcpy(&x, data, sizeof x);
    lc_logical_stamp(&k->l, call->begin, &stamp);
    lc_clk_lock();
    lc_clk_put(k, x.to, &stamp, x.context, x.tag);
    lc_clk_unlock();
}

void lc_clk_put_at_begin(struct lc_call *call, struct lc_clk_thread *k, uint32_t to,
                         uint32_t context, int32_t tag) {
    static const struct lc_event_type event = {.run = put_now};
    struct put_event x = {to, context, tag};
    lc_clk_event(&event, k, call, &x, sizeof x);
}

/* ---- where clocks lag behind the program */

/* Sends to ranks of this node that may not be in the ring yet: what is known of them later. */
enum { LC_SENTS = 16384 };
static struct sent {
    uint32_t id, seq;
    struct lc_ring_entry *entry;
    bool cancelled;
} * recent_sends;
static uint32_t last_id;

/* With lc_clk.lock. */
static struct sent *sent_of(uint64_t id) {
    struct sent *s = recent_sends != NULL && id != 0 ? &recent_sends[id % LC_SENTS] : NULL;
    return s != NULL && s->id == id ? s : NULL;
}

uint32_t lc_clk_sent_seq(uint64_t id) {
    lc_clk_lock();
    const struct sent *s = sent_of(id);
    uint32_t seq = s != NULL ? s->seq : 0;
    lc_clk_unlock();
    return seq;
}

struct sending {
    uint32_t to, context;
    int32_t tag;
    uint32_t bytes, seq, id; /* id 0: record */
    uint64_t waits;
    bool in_turn; /* the record has left, as a turn */
};
_Static_assert(sizeof(struct sending) <= LC_EVENT_DATA, "fits");

static void send_later(struct lc_call *call, struct lc_clk_thread *k, void *data) {
    struct sending x;
    struct lc_stamp stamp;
    memcpy(&x, data, sizeof x);
    lc_clk_lock();
    struct sent *s = sent_of(x.id);
    if (s != NULL && s->cancelled) {
        lc_clk_unlock();
        return;
    }
    lc_logical_stamp(&k->l, call->begin, &stamp);
    if (x.in_turn) {
        uint64_t words[LC_PART_WORDS];
        lc_clk_turns_known(
            x.to, x.seq, words,
            lc_clk_record_pack(k, &stamp, x.context, x.tag, x.bytes, x.seq, 0, words));
    } else if (x.id == 0) {
        lc_clk.outs[x.to].n_lost +=
            !lc_clk_record_send(k, x.to, &stamp, x.context, x.tag, x.bytes, x.seq, x.waits);
    } else {
        struct lc_ring_entry *entry = lc_ring_put(ring_to(x.to), &stamp, x.context, x.tag, x.bytes);
        if (s != NULL && entry != NULL) {
            s->seq = lc_clk.outs[x.to].seq;
            s->entry = entry;
        }
    }
    lc_clk_unlock();
}

/* What its record says of a send. */
static uint64_t flags_of(const struct lc_call *call, const struct lc_msg *msg) {
    bool sync = msg->kind == LC_SEND_SYNC, buffered = msg->kind == LC_SEND_BUFFERED;
    return (sync || (msg->bytes >= LC_RENDEZVOUS_BYTES && !buffered) ? LC_RECORD_WAITS : 0) |
           (sync || (msg->bytes >= lc_clk.buffered_bytes && !buffered) ? LC_RECORD_BLOCKS : 0) |
           (needs_receiver(msg) ? LC_RECORD_SYNCHRONOUS : 0) |
           (lc_clk.fn_starts[call->fn] ? 0 : LC_RECORD_INSIDE);
}

/* Is it measured what the thread sends now? Where clocks lag, they do not know yet. */
static inline bool is_measured(const struct lc_clk_thread *k) {
    return lc_unlikely(lc_clk.backlog) ? lc_clk_interval_now() != 0 : k->l.interval != 0;
}

/* As lc_op_clocks.sent.seq. */
static inline uint64_t sent_word(uint32_t seq, const struct lc_msg *msg) {
    return (uint64_t)seq | (msg->kind >= LC_SEND_BUFFERED ? LC_SENT_BUFFERED : 0);
}

/* With lc_clk.lock held. */
static inline void count(uint32_t to, const struct lc_msg *msg, bool measured) {
    lc_clk.counts.messages++;
    if (measured)
        lc_pairs_sent(&lc_clk.pairs, to, msg->bytes);
}

static __attribute__((noinline)) void send_in_backlog(struct lc_call *call, struct lc_clk_thread *k,
                                                      struct lc_msg *msg, uint32_t to,
                                                      uint32_t context) {
    static const struct lc_event_type event = {.run = send_later},
                                      record = {.run = send_later, .turn = true};
    struct sending x = {
        .to = to, .context = context, .tag = msg->tag, .bytes = (uint32_t)msg->bytes, .seq = 1};
    lc_clk_lock();
    count(to, msg, is_measured(k));
    if (lc_clk.areas[to].head == NULL) {
        x.seq = ++lc_clk.outs[to].seq;
        x.waits = flags_of(call, msg);
        struct lc_turn_send send = {to, context, x.tag, x.bytes, x.seq, x.waits};
        enum lc_turn_way way = lc_clk_turns_send(call, &send);
        x.in_turn = way == LC_TURN_SENT;
        x.waits |= way == LC_TURN_KEEPS ? LC_RECORD_KEEPS : 0;
    } else {
        if (recent_sends == NULL)
            recent_sends = calloc(LC_SENTS, sizeof *recent_sends);
        last_id += last_id == UINT32_MAX ? 2 : 1;
        x.id = last_id;
        if (recent_sends != NULL)
            recent_sends[x.id % LC_SENTS] = (struct sent){.id = x.id};
    }
    lc_clk_unlock();
    msg->clocks.sent.id = x.id;
    msg->clocks.sent.seq = sent_word(x.seq, msg);
    lc_clk_backlog_submit(x.id == 0 ? &record : &event, k, call, &x, sizeof x);
}

/* ---- points */

void lc_clocks_send(struct lc_call *call, struct lc_msg *msg) {
    struct lc_clk_thread *k = call->thread->clocks;
    struct lc_clk_comm *c = lc_clk_comm_of(msg->comm);
    int32_t to = lc_clk_world(msg->comm, msg->peer);
    lc_op_clocks_clear(&msg->clocks);
    if (lc_unlikely(k == NULL || c == NULL || to < 0)) {
        if (c == NULL && to >= 0)
            lc_clk_count_unseen(&lc_clk.counts.messages);
        return;
    }
    struct lc_ring_entry *entry = NULL;
    uint32_t seq = 0, context = context_of(c, msg);
    LC_CLK_LOG("S %d %u %d %d\n", to, context, msg->tag, needs_receiver(msg));
    if (lc_unlikely(lc_clk.backlog)) {
        send_in_backlog(call, k, msg, (uint32_t)to, context);
        return;
    }
    lc_clk_lock();
    count((uint32_t)to, msg, k->l.interval != 0);
    if (lc_likely(lc_clk.areas[to].head != NULL)) {
        struct lc_ring_out *out = ring_to((uint32_t)to);
        entry = lc_ring_place(out);
        if (lc_likely(entry != NULL)) {
            lc_logical_stamp(&k->l, call->begin, &entry->stamp);
            lc_ring_ready(out, entry, context, msg->tag, (uint32_t)msg->bytes);
            seq = out->seq;
            k->claim = lc_ring_next(out);
        }
    }
    lc_clk_unlock();
    msg->clocks.sent.entry = entry;
    msg->clocks.sent.seq = sent_word(seq, msg);
}

static void void_entry(int32_t to, const union lc_op_clocks *clocks) {
    lc_clk_lock(); /* it may be put into its ring just now */
    if (lc_clk.backlog) {
        struct sent *s = sent_of(clocks->sent.id);
        if (s == NULL && to >= 0) { /* its record cannot be taken back: another message gets it */
            lc_clk_turns_void((uint32_t)to);
            lc_clk.match.counts.mispaired++;
        }
        if (s != NULL && s->entry != NULL && to >= 0)
            lc_ring_make_void(&lc_clk.outs[to], s->entry, s->seq);
        else if (s != NULL)
            s->cancelled = true;
    } else if (to >= 0)
        lc_ring_make_void(&lc_clk.outs[to], clocks->sent.entry, (uint32_t)clocks->sent.seq);
    lc_clk_unlock();
}

void lc_clk_not_sent(struct lc_call *call, int32_t to, uint64_t bytes,
                     const union lc_op_clocks *clocks) {
    const struct lc_clk_thread *k = call->thread->clocks;
    if ((uint32_t)clocks->sent.seq == 0) /* no entry went with it */
        return;
    void_entry(to, clocks);
    lc_clk_lock();
    lc_clk.counts.messages--;
    if (to >= 0 && k != NULL && is_measured(k))
        lc_pairs_not_sent(&lc_clk.pairs, (uint32_t)to, bytes);
    lc_clk_unlock();
}

void lc_clocks_send_failed(struct lc_call *call, struct lc_msg *msg) {
    lc_clk_not_sent(call, lc_clk_world(msg->comm, msg->peer), msg->bytes, &msg->clocks);
}

void lc_clocks_send_done(struct lc_call *call, struct lc_msg *msg) {
    bool synchronous = needs_receiver(msg);
    struct lc_clk_thread *k = call->thread->clocks;
    if (lc_unlikely(k == NULL))
        return;
    if (k->claim != NULL) /* the message is on its way */
        lc_line_claim(k->claim);
    bool slow = call->end - call->begin >= lc_clk.slow_ticks &&
                (msg->bytes >= LC_RENDEZVOUS_BYTES || !lc_clk.rarer);
    if (lc_likely(!slow && !synchronous))
        return;
    int32_t to = lc_clk_world(msg->comm, msg->peer);
    if (to < 0 || (uint32_t)msg->clocks.sent.seq == 0 || (msg->clocks.sent.seq & LC_SENT_BUFFERED))
        return; /* nobody; no entry went with it; it is buffered */
    struct lc_ended e = {.to = (uint32_t)to,
                         .seq = (uint32_t)msg->clocks.sent.seq,
                         .context = lc_clk_comm_of(msg->comm)->context,
                         .tag = msg->tag,
                         .bytes = msg->kind == LC_SEND_STANDARD ? msg->bytes : 0,
                         .counts = lc_clk.fn_class[call->fn] == LC_FN_PLAIN,
                         .synchronous = synchronous};
    lc_clk_send_ended(call, k, &e, (uint32_t)msg->clocks.sent.id, false);
}
