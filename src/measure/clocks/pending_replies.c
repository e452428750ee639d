#include "measure/clocks/pending_replies.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "measure/clocks/back_edges.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/receive_records.h"
#include "measure/clocks/record_format.h"
#include "piggyback/logical.h"
#include "piggyback/match.h"

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
