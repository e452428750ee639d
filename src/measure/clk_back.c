/* The edge back, from the post of a receive to the end of its send: the receiver tells the sender,
 * or the sender finds it in the receiver's log of posts (clocks/posts.h). */
#include "measure/clk_p2p.h"
#include "measure/wrap.h"

/* ---- sender */

/* When its receive was posted: the receiver has told it, or has logged it. */
static bool find_post(const struct lc_ended *e, struct lc_stamp *post, const uint64_t **extra,
                      uint32_t *n_extra) {
    const struct lc_reply_slot *reply = lc_clk_find_reply(e->to, e->seq);
    if (reply == NULL) {
        lc_match_drain(&lc_clk.match, e->to);
        reply = lc_clk_find_reply(e->to, e->seq);
    }
    if (reply != NULL) {
        *post = reply->stamp;
        *n_extra =
            lc_clk.areas[e->to].head != NULL ? 0 : lc_clk_find_reply_extra(e->to, e->seq, extra);
        return true;
    }
    bool unsure = false;
    *n_extra = 0;
    if (!e->surely)
        return false;
    if (lc_clk.areas[e->to].head != NULL &&
        lc_posts_find(&lc_clk.areas[e->to], &lc_clk.outs[e->to], lc_clk.rank, e->context, e->tag,
                      e->seq, post, &unsure))
        return true;
    lc_clk.counts.unresolved++;
    return false;
}

void lc_clk_receiver_late(struct lc_call *call, struct lc_clk_thread *k, const struct lc_ended *e) {
    struct lc_stamp post;
    const uint64_t *extra = NULL;
    uint32_t n_extra;
    if (e->seq == 0 || e->to == lc_clk.rank)
        return;
    lc_clk_lock();
    bool found = find_post(e, &post, &extra, &n_extra);
    if (!found && e->counts)
        lc_clk_wait_later(k, call, e->to, e->seq);
    if (!found && e->surely)
        lc_clk_owe(k, e->to, e->seq, call->end);
    lc_clk_unlock();
    if (!found || post.enter >= call->end)
        return;
    bool waited = e->counts && post.enter > call->begin;
    if (waited)
        lc_clk_candidate(k, call, LC_WAIT_LATERECEIVER, post.enter - call->begin, e->to, post.node);
    if (waited || e->surely)
        lc_clk_edge(k, e->to, &post, call->end, extra, n_extra);
}

/* ---- receiver */

void lc_clk_reply_to(struct lc_clk_thread *k, uint32_t source, const struct lc_stamp *post,
                     uint32_t seq) {
    struct lc_ring_entry *entry;
    if (source != lc_clk.rank)
        lc_clk_put_entry(k, source, post, LC_CONTEXT_REPLY, (int32_t)seq, 0, 0, &entry);
}

void lc_clk_reply_after(struct lc_clk_thread *k, const struct lc_call *call, uint32_t source,
                        const struct lc_ring_entry *entry, const uint64_t *extra, uint32_t n_extra,
                        const struct lc_clk_recv *r) {
    struct lc_stamp post;
    bool later = r != NULL && r->reply_later;
    if (later && (r->is_given ? r->given_waits && lc_clk_is_after(entry, r->recv.post.enter)
                              : lc_clk_is_late(source, entry, r->recv.post.enter))) {
        lc_clk_reply_to(k, source, &r->recv.post, entry->seq);
        return;
    }
    if (lc_clk.areas[source].head != NULL ? !later : n_extra < 2 || !(extra[1] & LC_RECORD_SURELY))
        return;
    if (r != NULL)
        post = r->recv.post;
    else
        lc_logical_stamp(&k->l, call->begin, &post);
    if (post.interval == entry->stamp.interval &&
        (post.useful > entry->stamp.useful || lc_clk.n_whatif > 0 ||
         (post.phase == entry->stamp.phase && post.phase_useful > entry->stamp.phase_useful)))
        lc_clk_reply_to(k, source, &post, entry->seq);
}
