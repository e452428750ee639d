/* The sender's entry: goes before its message, through a ring or as a record. */
#include "measure/calls/operations.h"
#include "measure/clocks/back_edges.h"
#include "measure/clocks/call_state.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/clocks_hooks.h"
#include "measure/clocks/contexts.h"
#include "measure/clocks/message_parts.h"
#include "measure/clocks/records.h"
#include "measure/clocks/sends.h"
#include "measure/core.h"
#include "measure/thread.h"
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

void lc_clocks_send(struct lc_call *call, struct lc_msg *msg) {
    struct lc_clk_thread *k = call->thread->clocks;
    struct lc_clk_comm *c = lc_clk_comm_of(msg->comm);
    int32_t to = lc_clk_world(msg->comm, msg->peer);
    msg->clocks[0] = msg->clocks[1] = 0;
    if (lc_unlikely(k == NULL || c == NULL || to < 0)) {
        if (c == NULL && to >= 0)
            lc_clk_count_unseen(&lc_clk.counts.messages);
        return;
    }
    struct lc_ring_entry *entry = NULL;
    uint32_t seq = 0, context = context_of(c, msg);
    LC_CLK_LOG("S %d %u %d %d\n", to, context, msg->tag, surely_waits(msg));
    lc_clk_lock();
    lc_clk.counts.messages++;
    if (lc_likely(lc_clk.areas[to].head != NULL)) {
        struct lc_ring_out *out = ring_to((uint32_t)to);
        entry = lc_ring_place(out);
        if (lc_likely(entry != NULL)) {
            lc_logical_stamp(&k->l, call->begin, &entry->stamp);
            lc_ring_ready(out, entry, context, msg->tag, (uint32_t)msg->bytes);
            seq = out->seq;
            k->claim = lc_ring_next(out);
        }
    } else {
        bool sync = msg->kind == LC_SEND_SYNC, buffered = msg->kind == LC_SEND_BUFFERED;
        uint64_t waits =
            (sync || (msg->bytes >= LC_RENDEZVOUS_BYTES && !buffered) ? LC_RECORD_WAITS : 0) |
            (sync || (msg->bytes >= lc_clk.buffered_bytes && !buffered) ? LC_RECORD_BLOCKS : 0) |
            (surely_waits(msg) ? LC_RECORD_SURELY : 0) |
            (lc_clk.fn_starts[call->fn] ? 0 : LC_RECORD_INSIDE);
        struct lc_stamp stamp;
        lc_logical_stamp(&k->l, call->begin, &stamp);
        seq = lc_clk_put_entry(k, (uint32_t)to, &stamp, context, msg->tag, (uint32_t)msg->bytes,
                               waits, &entry);
    }
    lc_clk_unlock();
    msg->clocks[0] = (uint64_t)(uintptr_t)entry;
    msg->clocks[1] = (uint64_t)seq | (uint64_t)(msg->kind >= LC_SEND_BUFFERED) << 32;
}

void lc_clk_void_entry(int32_t to, uint64_t entry, uint64_t seq) {
    if (to >= 0)
        lc_ring_make_void(&lc_clk.outs[to], (struct lc_ring_entry *)(uintptr_t)entry,
                          (uint32_t)seq);
}

void lc_clocks_send_failed(struct lc_call *call, struct lc_msg *msg) {
    (void)call;
    if ((uint32_t)msg->clocks[1] == 0) /* no entry went with it */
        return;
    lc_clk_void_entry(lc_clk_world(msg->comm, msg->peer), msg->clocks[0], msg->clocks[1]);
    lc_clk_lock();
    lc_clk.counts.messages--;
    lc_clk_unlock();
}

void lc_clocks_send_done(struct lc_call *call, struct lc_msg *msg) {
    bool surely = surely_waits(msg);
    struct lc_clk_thread *k = call->thread->clocks;
    if (lc_unlikely(k == NULL))
        return;
    if (k->claim != NULL) /* the message is on its way */
        lc_line_claim(k->claim);
    if (lc_likely(call->end - call->begin < lc_clk.slow_ticks && !surely))
        return;
    int32_t to = lc_clk_world(msg->comm, msg->peer);
    if (to < 0 || (uint32_t)msg->clocks[1] == 0 || msg->clocks[1] >> 32)
        return; /* nobody; no entry went with it; it is buffered */
    lc_clk_receiver_late(call, k,
                         &(struct lc_ended){.to = (uint32_t)to,
                                            .seq = (uint32_t)msg->clocks[1],
                                            .context = lc_clk_comm_of(msg->comm)->context,
                                            .tag = msg->tag,
                                            .bytes = msg->kind == LC_SEND_STANDARD ? msg->bytes : 0,
                                            .counts = lc_clk.fn_class[call->fn] == LC_FN_PLAIN,
                                            .surely = surely});
}
