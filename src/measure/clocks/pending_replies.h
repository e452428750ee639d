/* Replies to senders on other nodes whose clocks wait for the post of the receive. With
 * lc_clk.lock. */
#ifndef LC_MEASURE_CLOCKS_PENDING_REPLIES_H
#define LC_MEASURE_CLOCKS_PENDING_REPLIES_H

#include <stdbool.h>
#include <stdint.h>

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
