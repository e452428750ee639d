/* Point-to-point messages inside the clocks: what the parts of one message's way share.
 *
 * Parts
 *   sends.c      the sender's entry, before its message
 *   receives.c      receives: posted, matched with entries, completed
 *   completion.c  requests that a call completed, in the order that matching needs
 *   back_edges.c      the edge back, from the post of a receive to the end of its send
 * Invariant: of one message the parts know each other only by its sequence number in the stream of
 * entries from sender to receiver. */
#ifndef LC_MEASURE_CLOCKS_EDGES_H
#define LC_MEASURE_CLOCKS_EDGES_H

#include <stdlib.h>

#include "measure/clocks/clocks.h"

/* Shorter messages are not expected to wait for their receiver; from LC_SURELY_BYTES on no MPI
 * buffers them. Whether one between them waited is seen from the times alone; sizes that were seen
 * to be buffered are not expected to wait either (lc_clk.buffered_bytes). */
enum { LC_RENDEZVOUS_BYTES = 4096, LC_SURELY_BYTES = 256 << 10 };

/* Partitioned messages match among those of two requests only. request NULL: none of its own. */
static inline uint32_t stream_context(const struct lc_clk_comm *c,
                                      const struct lc_request *request) {
    if (lc_unlikely(request != NULL && request->partitioned))
        return (c->context ^ request->parts->number * 0x70617275) | LC_CONTEXT_FIRST;
    return c->context;
}

static inline uint32_t context_of(const struct lc_clk_comm *c, const struct lc_msg *msg) {
    return stream_context(c, msg->request);
}

/* Does the send end only when its receive was posted, whatever the times? */
static inline bool surely_waits(const struct lc_msg *msg) {
    return msg->kind == LC_SEND_SYNC ||
           (msg->bytes >= LC_SURELY_BYTES && msg->kind == LC_SEND_STANDARD);
}

struct lc_ended { /* a send that this call ended */
    uint32_t to, seq;
    uint32_t context;
    int32_t tag;
    uint64_t bytes; /* of a standard send; others 0 */
    bool counts;    /* as a wait state of the call */
    bool surely;    /* it ended only after its receive was posted */
};

/* sends.c: puts an entry on its way; its sequence number (0: lost) and place (NULL: none). With
 * lc_clk.lock held. */
uint32_t lc_clk_put_entry(struct lc_clk_thread *k, uint32_t to, const struct lc_stamp *stamp,
                          uint32_t context, int32_t tag, uint32_t bytes, uint64_t waits,
                          struct lc_ring_entry **entry);
/* back_edges.c, the sender's side: did this call wait for the receive? */
void lc_clk_receiver_late(struct lc_call *call, struct lc_clk_thread *k, const struct lc_ended *e);
/* The receiver's side: a receive is about to be posted whose message's entry is there already.
 * True: its sender is told, or will be. */
bool lc_clk_tell_late(struct lc_clk_thread *k, uint32_t source, const struct lc_ring_entry *entry,
                      const struct lc_call *call);
/* The same when the message has come, where that could not be told before: wildcard receives,
 * entries that were not there yet, sends that surely waited. extra: of an entry that came as
 * record. r NULL: blocking. */
void lc_clk_reply_after(struct lc_clk_thread *k, const struct lc_call *call, uint32_t source,
                        const struct lc_ring_entry *entry, const uint64_t *extra, uint32_t n_extra,
                        const struct lc_clk_recv *r);

static inline bool lc_clk_is_after(const struct lc_ring_entry *entry, uint64_t posted) {
    return posted > entry->stamp.enter + lc_clk.slow_ticks;
}

/* The receive is off the list of open ones. */
static inline void lc_clk_close_recv(struct lc_clk_recv *r) {
    lc_clk_lock();
    lc_match_close(&lc_clk.match, &r->recv);
    lc_clk_unlock();
}

/* Its record is not needed any more. */
static inline void lc_clk_give_recv(struct lc_clk_recv *r) {
    if (r == NULL)
        return;
    if (lc_unlikely(r->matched_extra != NULL))
        free(r->matched_extra);
    lc_clk_lock();
    r->recv.next = (struct lc_recv *)lc_clk.spare_recv;
    lc_clk.spare_recv = r;
    lc_clk_unlock();
}

/* receives.c: a receive got its message: it is off the list of open ones; edge, candidate. Returns
 * the ticks that the call waited for it. */
uint64_t lc_clk_received(struct lc_clk_thread *k, const struct lc_deferred *deferred);
/* A receive was cancelled: those posted after it get other messages than their lines say. */
void lc_clk_forget_posts(const struct lc_recv *recv);

#endif
