/* Point-to-point messages inside the clocks: what the parts of one message's way share.
 *
 * Parts
 *   sends.c       the sender's entry, before its message
 *   receives.c    receives: posted, matched with entries, completed
 *   completion.c  requests that a call completed, in the order that matching needs
 *   back_edges.c  the edge back, from the post of a receive to the end of its send
 * Invariant: of one message the parts know each other only by its sequence number in the stream of
 * entries from sender to receiver. */
#ifndef LC_MEASURE_CLOCKS_CLOCK_MESSAGES_H
#define LC_MEASURE_CLOCKS_CLOCK_MESSAGES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <stddef.h>

#include "measure/mpi/operations.h"
#include "measure/mpi/request.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/contexts.h"
#include "measure/core/core.h"
#include "piggyback/ring.h"
#include "measure/mpi/handles.h"
#include "measure/clocks/call_state.h"
#include "measure/core/thread.h"
#include "piggyback/open_receives.h"

struct lc_ended;
union lc_op_clocks;

/* Shorter messages are not expected to wait for their receiver; from LC_SYNCHRONOUS_BYTES on no MPI
 * buffers them. Whether one between them waited is seen from the times alone; sizes that were seen
 * to be buffered are not expected to wait either (lc_clk.buffered_bytes). */
enum { LC_RENDEZVOUS_BYTES = 4096, LC_SYNCHRONOUS_BYTES = 256 << 10 };

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
static inline bool needs_receiver(const struct lc_msg *msg) {
    return msg->kind == LC_SEND_SYNC ||
           (msg->bytes >= LC_SYNCHRONOUS_BYTES && msg->kind == LC_SEND_STANDARD);
}

struct lc_ended { /* a send that this call ended */
    uint32_t to, seq;
    uint32_t context;
    int32_t tag;
    uint64_t bytes;   /* of a standard send; others 0 */
    bool counts;      /* as a wait state of the call */
    bool synchronous; /* it ended only after its receive was posted */
};

static inline bool lc_clk_is_after(const struct lc_ring_entry *entry, uint64_t posted) {
    return posted > entry->stamp.enter + lc_clk.slow_ticks;
}

/* Deferred work: what is left to do of a call that has ended. It is done at the thread's next
 * event, when the cache line of another core that it reads has arrived. */

/* Does the work that the last call deferred; before anything else of the next event. */
void lc_clk_deferred_do(struct lc_clk_thread *k);

static inline void lc_clk_deferred(struct lc_clk_thread *k) {
    if (k->deferred.kind != LC_DEFERRED_NONE)
        lc_clk_deferred_do(k);
}

/* Notes the call whose end leaves work of this communicator to do, for lc_clk_defer or
 * lc_clk_receive_now; the caller fills in the other fields of the result. Work that another part of
 * this call deferred is done first. */
static inline struct lc_deferred *lc_clk_note(struct lc_clk_thread *k, const struct lc_call *call,
                                              struct lc_comm *comm) {
    lc_clk_deferred(k);
    k->deferred.ended = false;
    k->deferred.comm = comm;
    k->deferred.call.thread = call->thread;
    k->deferred.call.entry = call->entry;
    k->deferred.call.begin = call->begin;
    k->deferred.call.end = call->end;
    k->deferred.call.fn = call->fn;
    return &k->deferred;
}

/* Defers what was noted. Only where no other thread runs events (lc_clk.may_defer): a thread that
 * works on the backlog does the deferred work of those whose events it runs. */
static inline void lc_clk_defer(struct lc_clk_thread *k, enum lc_deferred_kind kind) {
    k->deferred.kind = kind;
}

/* Completes the receive that was noted at once. Returns the ticks that the call waited for its
 * message. */
uint64_t lc_clk_receive_now(struct lc_clk_thread *k);

/* The records of receives, from the list of open ones to the free list. */

/* The receive is off the list of open ones. */
static inline void lc_clk_close_recv(struct lc_clk_recv *r) {
    lc_clk_lock();
    lc_match_close(&lc_clk.match, &r->recv);
    lc_clk_unlock();
}

/* Its record is not needed any more, and goes to the free list; the caller holds lc_clk.lock. */
static inline void lc_clk_recycle_recv(struct lc_clk_recv *r) {
    r->released = lc_unlikely(r->queued ||
                              r->reply_pending); /* else when the backlog is done with its post */
    if (lc_unlikely(r->released))
        return;
    r->recv.next = (struct lc_recv *)lc_clk.spare_recv;
    lc_clk.spare_recv = r;
}

/* Puts the record among the spare ones; takes lc_clk.lock. r NULL: nothing. */
static inline void lc_clk_release_recv(struct lc_clk_recv *r) {
    if (r == NULL)
        return;
    lc_clk_lock();
    lc_clk_recycle_recv(r);
    lc_clk_unlock();
}

/* A receive completed without a message (MPI_PROC_NULL). */
static inline void lc_clk_withdraw_recv(struct lc_clk_recv *r) {
    lc_clk_close_recv(r);
    lc_clk_release_recv(r);
}

/* A receive got its message: it is off the list of open ones; edge, candidate. Returns
 * the ticks that the call waited for it. */
uint64_t lc_clk_received(struct lc_clk_thread *k, const struct lc_deferred *deferred);

/* A receive was cancelled or failed: those of its stream that were posted after it get other
 * messages than their lines say. */
void lc_clk_drop_recv(struct lc_clk_recv *r);

/* An entry of no bytes, with lc_clk.lock held. */
void lc_clk_put(struct lc_clk_thread *k, uint32_t to, const struct lc_stamp *stamp,
                uint32_t context, int32_t tag);

/* An entry of no bytes with the clocks of the call's begin, now or from the backlog; without
 * lc_clk.lock. */
void lc_clk_put_at_begin(struct lc_call *call, struct lc_clk_thread *k, uint32_t to,
                         uint32_t context, int32_t tag);

/* Puts an entry on its way; its sequence number (0: lost) and place (NULL: none). With
 * lc_clk.lock held. */
uint32_t lc_clk_put_entry(struct lc_clk_thread *k, uint32_t to, const struct lc_stamp *stamp,
                          uint32_t context, int32_t tag, uint32_t bytes, uint64_t waits,
                          struct lc_ring_entry **entry);

/* Where clocks lag behind the program: the number in its ring of a send to this node; 0: not there.
 */
uint32_t lc_clk_sent_seq(uint64_t id);

/* A send to this rank has failed or was cancelled: its message does not count, and its entry is
 * void where it is in a ring. */
void lc_clk_not_sent(struct lc_call *call, int32_t to, uint64_t bytes,
                     const union lc_op_clocks *clocks);

/* The edge back, from the post of a receive to the end of its send. */

/* Takes the replies that wait for a record to this rank, whose what-if clocks are of this
 * generation; their number. With lc_clk.lock held. */
uint32_t lc_clk_back_pack(uint32_t to, uint32_t generation, uint64_t *words);
/* Sends those that no record took along. With lc_clk.lock held. */
void lc_clk_back_flush(struct lc_clk_thread *k);

/* What was left to do at the begin of the next call (todo). */
void lc_clk_back_todo(struct lc_clk_thread *k, const struct lc_call *call);

/* The sender's side: did this call wait for the receive? Where clocks lag, once they have come so
 * far. id: of a send to this node there (lc_clk_sent_seq); unless_blocked: it does not count there
 * if the call waited for a message of that rank. */
void lc_clk_send_ended(struct lc_call *call, struct lc_clk_thread *k, const struct lc_ended *e,
                       uint32_t id, bool unless_blocked);

/* The receiver's side: a receive is about to be posted whose message's entry is there already.
 * True: its sender is notified, or will be. */
bool lc_clk_notify_sender(struct lc_clk_thread *k, uint32_t source,
                          const struct lc_ring_entry *entry, const struct lc_call *call);

/* Notifies the sender of a message that has arrived, where it was not known before: wildcard
 * receives, entries that were not there yet, sends that had to wait. extra: of an entry that came
 * as record. r NULL: blocking. */
void lc_clk_reply_after(struct lc_clk_thread *k, const struct lc_call *call, uint32_t source,
                        const struct lc_ring_entry *entry, const uint64_t *extra, uint32_t n_extra,
                        const struct lc_clk_recv *r);

/* When the receive of its message was posted, to a sender that waits for that. */
void lc_clk_reply_posted(struct lc_clk_thread *k, uint32_t source, const struct lc_stamp *post,
                         uint32_t seq);

/* Replies to senders on other nodes whose clocks wait for the post of the receive. With
 * lc_clk.lock. */

/* The receive is complete; its sender, rank `source`, may wait for a reply. r NULL: nothing. */
void lc_clk_reply_expect(struct lc_clk_thread *k, struct lc_clk_recv *r, uint32_t source);
/* The receive got this message: its sender has the reply now, if it waits for one. */
void lc_clk_reply_now(struct lc_clk_recv *r, const struct lc_stashed *item);
/* The receive's turn is over: it replies no more. */
void lc_clk_reply_forget(struct lc_clk_recv *r);
/* A blocking receive without a record has got this message; before its edge: it was posted when its
 * call began, with the clocks that the thread still has. True: the sender has its reply. */
bool lc_clk_reply_blocking(struct lc_clk_thread *k, const struct lc_call *call, uint32_t source,
                           const struct lc_stashed *item);
/* Sends the pending replies: when the receives of their messages were posted, for senders whose
 * clocks wait for that. Sent as soon as it is known, so that the sender can make progress whatever
 * the end of the receive waits for. */
void lc_clk_replies_send(void);
/* A record arrived whose sender waits for such a reply. */
void lc_clk_reply_wanted(void);
/* Does one wait? Any thread may ask, without the lock. */
bool lc_clk_reply_is_wanted(void);

#endif
