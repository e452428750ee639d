/* The edge back, from the post of a receive to the end of its send. */
#ifndef LC_MEASURE_CLOCKS_BACK_EDGES_H
#define LC_MEASURE_CLOCKS_BACK_EDGES_H

#include <stdbool.h>
#include <stdint.h>

struct lc_call;
struct lc_clk_recv;
struct lc_clk_thread;
struct lc_ended;
struct lc_ring_entry;
struct lc_stamp;

/* Takes the replies that wait for a record to this rank; their number. With lc_clk.lock held. */
uint32_t lc_clk_back_pack(uint32_t to, uint64_t *words);
/* Sends those that no record took along. With lc_clk.lock held. */
void lc_clk_back_flush(struct lc_clk_thread *k);

/* What was left to do at the begin of the next call (todo). */
void lc_clk_back_todo(struct lc_clk_thread *k, const struct lc_call *call);

/* back_edges.c, the sender's side: did this call wait for the receive? */
void lc_clk_receiver_late(struct lc_call *call, struct lc_clk_thread *k, const struct lc_ended *e);

/* The same where clocks lag behind the program. id: of a send to this node (lc_clk_sent_seq);
 * unless_blocked: it does not count if the call waited for a message of that rank. */
void lc_clk_ended_in_backlog(struct lc_call *call, struct lc_clk_thread *k,
                             const struct lc_ended *e, uint32_t id, bool unless_blocked);

/* The receiver's side: a receive is about to be posted whose message's entry is there already.
 * True: its sender is notified, or will be. */
bool lc_clk_notify_sender(struct lc_clk_thread *k, uint32_t source,
                          const struct lc_ring_entry *entry, const struct lc_call *call);

/* The same when the message has arrived, where the sender was not known before: wildcard receives,
 * entries that were not there yet, sends that had to wait. extra: of an entry that came as
 * record. r NULL: blocking. */
void lc_clk_reply_after(struct lc_clk_thread *k, const struct lc_call *call, uint32_t source,
                        const struct lc_ring_entry *entry, const uint64_t *extra, uint32_t n_extra,
                        const struct lc_clk_recv *r);

/* When the receive of its message was posted, to a sender that waits for that. */
void lc_clk_reply_posted(struct lc_clk_thread *k, uint32_t source, const struct lc_stamp *post,
                         uint32_t seq);

/* Replies to senders on other nodes whose clocks wait for the post of the receive. With
 * lc_clk.lock. */

struct lc_call;
struct lc_clk_recv;
struct lc_clk_thread;
struct lc_stashed;

/* The receive is complete; its sender, rank `source`, may wait for a reply. r NULL: nothing. */
void lc_clk_reply_expect(struct lc_clk_thread *k, struct lc_clk_recv *r, uint32_t source);
/* The receive got this message: its sender has the reply now, if it waits for one. */
void lc_clk_reply_now(struct lc_clk_recv *r, const struct lc_stashed *item);
/* The receive's turn is over: it replies no more. */
void lc_clk_reply_forget(struct lc_clk_recv *r);
/* The same of a blocking receive that has no record, before the edge of its message: it was posted
 * when its call began, with the clocks that the thread still has. True: the sender has
 * its reply. */
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
