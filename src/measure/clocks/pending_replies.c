#include "measure/clocks/pending_replies.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "measure/clocks/back_edges.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/receive_records.h"
#include "measure/clocks/record_format.h"
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

void lc_clk_replies_send(void) {
    if (n_wanted == 0)
        return;
    struct lc_clk_recv **at = &pending_replies, *r;
    while ((r = *at) != NULL) {
        bool known = r->claimed == NULL || (!r->claimed->pending && !r->queued);
        if (!known) {
            at = &r->next_reply;
            continue;
        }
        *at = r->next_reply;
        r->reply_pending = false;
        if (r->claimed != NULL && wants_reply(r->claimed))
            reply(r);
        if (r->released)
            lc_clk_recycle_recv(r);
    }
}

void lc_clk_reply_expect(struct lc_clk_thread *k, struct lc_clk_recv *r, uint32_t source) {
    if (r == NULL || r->claimed == NULL || lc_clk.areas[source].head != NULL)
        return;
    r->k = k;
    r->recv.source = (int32_t)source;
    r->reply_pending = true;
    r->next_reply = pending_replies;
    pending_replies = r;
}

void lc_clk_reply_now(struct lc_clk_recv *r, const struct lc_stashed *item) {
    if (r->reply_pending && wants_reply(item))
        reply(r);
}
