/* Receives: notifying senders before they are posted, their entries, their waits. */
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
#include "measure/clocks/records.h"
#include "measure/clocks/wait_states.h"
#include "measure/core/core.h"
#include "measure/core/thread.h"
#include "piggyback/logical.h"
#include "piggyback/match.h"
#include "piggyback/open_receives.h"
#include "piggyback/pending_entries.h"
#include "piggyback/posts.h"
#include "piggyback/ring.h"

static inline void reset_recv(struct lc_clk_recv *r) {
    r->recv.open = r->is_matched = r->has_matched_entry = r->reply_later = r->notified = false;
    r->queued = r->released = r->reply_pending = r->replied = false;
    r->recv.order = 0;
    r->post_number = 0;
    r->claimed = NULL;
}

/* Records of receives are used again: no allocation once the program is in its stride. Reset with
 * the lock: other threads may look at a record through the post it was made for last (owner_of),
 * and go no further where it has no number: what else is in it is written without the lock. */
static inline struct lc_clk_recv *take_recv(void) {
    lc_clk_lock();
    struct lc_clk_recv *r = lc_clk.spare_recv;
    if (lc_likely(r != NULL)) {
        lc_clk.spare_recv = (struct lc_clk_recv *)r->recv.next;
        reset_recv(r);
    }
    lc_clk_unlock();
    if (lc_unlikely(r == NULL)) {
        r = malloc(sizeof *r);
        if (r != NULL)
            reset_recv(r);
    }
    return r;
}

/* The receive that has this line, NULL: none; it may have got its message. */
static struct lc_clk_recv *owner_of(const struct lc_posts *posts, uint32_t source, uint32_t line) {
    struct lc_clk_recv *r = posts->owners != NULL ? posts->owners[line] : NULL;
    bool is = r != NULL && posts->count - r->post_number < LC_POSTS_LINES &&
              (r->post_number - 1) % LC_POSTS_LINES == line && r->recv.source == (int32_t)source;
    return is ? r : NULL;
}

/* Has it not got its message, as far as the clocks are? */
static bool is_awaited(const struct lc_clk_recv *r) {
    return r->recv.open || r->claimed != NULL;
}

/* The line of a receive that is still open is about to go: its sender is notified when its message
 * has arrived. */
static void keep_post(const struct lc_posts *posts, uint32_t source, uint32_t line) {
    struct lc_clk_recv *r = owner_of(posts, source, line);
    if (r == NULL || !is_awaited(r) || r->reply_later)
        return;
    r->recv.post = posts->lines[line].stamp;
    r->reply_later = true;
}

/* Had the call that waited for this post ended when the sender of the latest entry made it? Of
 * several sends that are started before one waits for any, the later ones do not say so. */
static bool has_looked(const struct lc_ring_in *ring, uint64_t posted) {
    const struct lc_ring_entry *last = lc_ring_last(ring);
    return last != NULL && last->stamp.enter > posted;
}

/* The line of a receive that was late and is complete is about to be overwritten: its sender is
 * told, unless it has sent something since. */
static inline void tell_sender(struct lc_clk_thread *k, struct lc_source *s, uint32_t source) {
    const struct lc_post_line *line = NULL;
    uint32_t seq = lc_posts_leaving(&s->posts, &line);
    if (lc_unlikely(seq != 0) && !has_looked(&s->ring, line->stamp.enter))
        lc_clk_reply_posted(k, source, &line->stamp, seq);
}

/* The number-th receive posted for this source (at `posted`) has got its message, and nothing has
 * been told to the sender. */
static inline void note_late(uint32_t source, uint64_t posted, uint32_t number,
                             const struct lc_ring_entry *entry) {
    if (lc_unlikely(lc_clk_is_after(entry, posted)))
        lc_posts_got(&lc_clk.match.sources[source].posts, number,
                     atomic_load_explicit(&entry->seq, memory_order_relaxed));
}

/* Logs a receive of this stream that is about to be posted; entry NULL: its message is not there.
 * False: the sender cannot tell which message it gets. */
static inline bool log_post(struct lc_clk_thread *k, uint32_t source, uint64_t now,
                            uint32_t context, int32_t tag, const struct lc_ring_entry *entry) {
    struct lc_source *s = &lc_clk.match.sources[source];
    if (lc_unlikely(s->posts.lines == NULL) &&
        (s->ring.area == NULL || !lc_posts_make(&s->posts, &lc_clk.mine, source)))
        return true;
    uint32_t skip = 0;
    if (lc_unlikely(s->n_open > 0))
        keep_post(&s->posts, source, s->posts.count % LC_POSTS_LINES);
    if (lc_unlikely(s->n_open > 0 || lc_clk.match.n_wildcards > 0) && entry == NULL)
        skip = lc_match_ahead(&lc_clk.match, source, context, tag);
    tell_sender(k, s, source);
    struct lc_post_line *line = lc_posts_place(&s->posts);
    lc_logical_stamp(&k->l, now, &line->stamp);
    lc_posts_ready(&s->posts, line, context, tag, entry != NULL ? entry->seq : s->ring.seq, skip);
    return skip != LC_POSTS_UNSURE;
}

static inline void own_post(const struct lc_posts *posts, uint32_t number, struct lc_clk_recv *r) {
    r->post_number = number;
    if (lc_likely(posts->owners != NULL))
        posts->owners[(number - 1) % LC_POSTS_LINES] = r;
}

/* Ticks of a call that waited until the sender entered. */
static inline uint64_t waited_until(const struct lc_call *call, uint64_t enter) {
    return enter > call->begin ? lc_min(enter, call->end) - call->begin : 0;
}

/* Edge and wait of a message whose entry is there; ticks that the call waited for it. With
 * lc_clk.lock. */
static inline __attribute__((always_inline)) uint64_t
take_entry(struct lc_clk_thread *k, const struct lc_call *call, uint32_t source,
           const struct lc_ring_entry *entry, const uint64_t *extra, uint32_t n_extra,
           const struct lc_clk_recv *r, bool notified) {
    const struct lc_stamp *stamp = &entry->stamp;
    struct lc_stamp copy;
    if (lc_unlikely(((r != NULL && r->reply_later) || n_extra > 0) && !notified)) {
        copy = *stamp; /* the entry may go when the reply is sent */
        stamp = &copy;
        lc_clk_reply_after(k, call, source, entry, extra, n_extra, r);
    }
    lc_clk_edge(k, source, stamp, call->end, extra, n_extra);
    if (lc_unlikely(stamp->enter > call->end)) {
        lc_clk.counts.violations++;
        if (stamp->enter - call->end > lc_clk.largest_violation)
            lc_clk.largest_violation = stamp->enter - call->end;
    }
    if (source == lc_clk.rank)
        return 0;
    uint64_t waited = waited_until(call, stamp->enter);
    if (lc_clk.fn_class[call->fn] != LC_FN_OTHER)
        lc_clk_candidate(k, call, LC_MEASURED_LATESENDER, waited, source, stamp->node);
    lc_clk_polled_for(k, call, stamp->enter, source, stamp->node);
    return waited;
}

/* ---- where clocks lag behind the program */

static void post_later(struct lc_call *call, struct lc_clk_thread *k, void *data) {
    struct lc_clk_recv *r;
    memcpy(&r, data, sizeof r);
    lc_clk_lock(); /* the thread may give it back just now */
    lc_logical_stamp(&k->l, call->begin, &r->recv.post);
    r->queued = false;
    if (r->released)
        lc_clk_recycle_recv(r);
    lc_clk_unlock();
}

/* A blocking receive whose clocks lag is posted when its call begins, and nobody else receives
 * while the thread is in it: there is nothing to keep of it. Not so where the end of a send of the
 * same call may wait for the sender, which waits for this post; rings want it, too. */
static bool needs_no_record(const struct lc_call *call, const struct lc_msg *msg, int32_t source) {
    return msg->id == 0 && !lc_core.multiple && !lc_clk.fn_sends[call->fn] &&
           (source >= 0 ? lc_clk.areas[source].head == NULL : !lc_clk.mixed);
}

/* The sender learns when the receive was posted once the message has arrived. */
static void post_in_backlog(struct lc_call *call, struct lc_clk_thread *k, struct lc_clk_recv *r) {
    static const struct lc_event_type event = {.run = post_later, .turn = true};
    r->reply_later = r->queued = true;
    lc_clk_backlog_submit(&event, k, call, &r, sizeof r);
}

struct receiving {
    struct lc_stashed *item; /* may be on its way; NULL: none */
    struct lc_clk_recv *recv;
    uint32_t source;
    bool notified;
};

static bool has_arrived(void *data) {
    struct receiving x;
    memcpy(&x, data, sizeof x);
    lc_clk_lock();
    if (x.item != NULL && x.item->pending && lc_clk.areas[x.source].head != NULL)
        lc_match_drain(&lc_clk.match, x.source);
    bool arrived = x.item == NULL || !x.item->pending;
    lc_clk_unlock();
    return arrived;
}

static void receive_later(struct lc_call *call, struct lc_clk_thread *k, void *data) {
    struct receiving x;
    memcpy(&x, data, sizeof x);
    if (x.item == NULL) {
        lc_clk_release_recv(x.recv);
        return;
    }
    lc_clk_lock();
    if (x.item->pending) { /* forced */
        lc_clk_open_message(k, call, x.source, x.item);
    } else {
        bool notified = x.notified;
        if (x.recv != NULL) {
            lc_clk_reply_now(x.recv, x.item);
            notified |= x.recv->replied;
        } else {
            notified |= lc_clk_reply_blocking(k, call, x.source, x.item);
        }
        lc_clk_turns_got(x.source, &x.item->entry);
        if (x.recv != NULL && !notified && !x.recv->reply_later)
            note_late(x.source, x.recv->recv.post.enter, x.recv->post_number, &x.item->entry);
        uint64_t waited = take_entry(k, call, x.source, &x.item->entry, x.item->extra,
                                     x.item->n_extra, x.recv, notified);
        if (waited > 0 && k->n_blockers < LC_BLOCKERS)
            k->blockers[k->n_blockers++] = x.source;
        lc_match_release(&lc_clk.match, x.item);
    }
    if (x.recv != NULL) {
        lc_clk_reply_forget(x.recv);
        x.recv->claimed = NULL;
        lc_clk_recycle_recv(x.recv);
    }
    lc_clk_unlock();
}

/* Its place in the stream is taken now, its record may come later. */
static __attribute__((noinline)) void receive_in_backlog(struct lc_clk_thread *k,
                                                         const struct lc_deferred *deferred,
                                                         uint32_t source, uint32_t context) {
    static const struct lc_event_type event = {
        .ready = has_arrived, .run = receive_later, .turn = true};
    struct lc_clk_recv *r = deferred->recv;
    struct receiving x = {.recv = r, .source = source, .notified = deferred->notified};
    lc_clk_lock();
    if (r != NULL && r->is_matched)
        x.item = r->claimed;
    else
        x.item = lc_match_claim(&lc_clk.match, source, context, deferred->tag,
                                r != NULL ? r->recv.order : UINT64_MAX, (uint32_t)deferred->bytes);
    bool begins = lc_clk_turns_received(k, &deferred->call, source, context, deferred->tag,
                                        x.item != NULL && (r == NULL || !r->is_matched));
    if (r != NULL)
        r->claimed = x.item;
    lc_clk_reply_expect(k, r, source);
    lc_clk_unlock();
    if (begins)
        lc_clk_turns_begin(k, &deferred->call, source);
    lc_clk_backlog_submit(&event, k, &deferred->call, &x, sizeof x);
}

/* ---- points */

/* A receive is about to be posted. Where the sender cannot find it in the log of posts (it is on
 * another node, or a wildcard receive may take its message) and the message is on its way already,
 * the sender is notified. */
void lc_clocks_recv(struct lc_call *call, struct lc_msg *msg) {
    struct lc_clk_thread *k = call->thread->clocks;
    struct lc_clk_comm *c = lc_clk_comm_of(msg->comm);
    lc_op_clocks_clear(&msg->clocks);
    if (lc_unlikely(k == NULL || c == NULL))
        return;
    int32_t source = msg->peer == MPI_ANY_SOURCE ? LC_ANY : lc_clk_world(msg->comm, msg->peer);
    uint32_t context = context_of(c, msg);
    bool exact = source >= 0 && msg->tag != MPI_ANY_TAG, sure = exact;
    uint32_t number = 0;
    LC_CLK_LOG("P %d %u %d\n", source >= 0 ? source : -1, context, exact ? msg->tag : -1);
    if (lc_unlikely(lc_clk.backlog) && source >= 0 && lc_clk.areas[source].head != NULL &&
        !lc_clk_backlog_empty(k)) /* so that its sender finds the line of the post */
        lc_clk_backlog_progress(call->begin);
    bool lags = lc_unlikely(lc_clk.backlog) &&
                (source < 0 || lc_clk.areas[source].head == NULL || !lc_clk_backlog_empty(k));
    if (lags) {
        sure = false;
    } else if (lc_likely(exact)) {
        lc_clk_lock();
        const struct lc_source *s = &lc_clk.match.sources[source];
        const struct lc_ring_entry *entry = NULL;
        if (lc_unlikely(s->messages || s->n_stash > 0 || lc_clk.match.n_wildcards > 0))
            entry = lc_match_look(&lc_clk.match, (uint32_t)source, context, msg->tag);
        sure = log_post(k, (uint32_t)source, call->begin, context, msg->tag, entry);
        number = s->posts.count;
        if (lc_unlikely(entry != NULL && lc_clk_is_after(entry, call->begin)))
            msg->clocks.received.notified = lc_clk_notify_sender(k, (uint32_t)source, entry, call);
        if (msg->id == 0)
            call->thread->expected = lc_ring_head(&s->ring);
        lc_clk_unlock();
    }
    if (msg->id == 0 && !lc_core.multiple && sure)
        return; /* blocking, nobody else receives: no list is needed */
    if (lags && needs_no_record(call, msg, source))
        return;
    struct lc_clk_recv *r = take_recv();
    if (r == NULL)
        return;
    r->recv.source = source < 0 ? LC_ANY : source;
    r->recv.tag = msg->tag == MPI_ANY_TAG ? LC_ANY : msg->tag;
    r->recv.context = context;
    r->recv.post.enter = call->begin;
    r->recv.owner = NULL;
    r->notified = msg->clocks.received.notified != 0;
    if (lags)
        post_in_backlog(call, k, r);
    lc_clk_lock();
    r->reply_later = !sure;
    if (!lags && (!sure || lc_clk.areas[source].head == NULL))
        lc_logical_stamp(&k->l, call->begin, &r->recv.post);
    else if (!lags)
        own_post(&lc_clk.match.sources[source].posts, number, r);
    r->recv.order = ++lc_clk.next_order;
    if (msg->id == 0) /* other threads must see it while this one is blocked */
        lc_match_open(&lc_clk.match, &r->recv);
    lc_clk_unlock();
    msg->clocks.received.recv = r;
}

void lc_clocks_recv_started(struct lc_call *call, struct lc_msg *msg) {
    (void)call;
    struct lc_clk_recv *r = msg->clocks.received.recv;
    if (r == NULL)
        return;
    if (msg->request == NULL) { /* never heard of again: it holds its place in the stream */
        r->recv.owner = NULL;
    } else {
        r->recv.owner = msg->request;
        msg->request->clocks.received.recv = r;
    }
    lc_clk_lock();
    if (!r->is_matched)
        lc_match_open(&lc_clk.match, &r->recv);
    lc_clk_unlock();
}

/* The message that this receive was to get goes to the next one of its stream: what their lines say
 * is not true. Lines of receives that have got their messages are. */
static void forget_posts(const struct lc_clk_recv *gone) {
    uint32_t source = (uint32_t)gone->recv.source;
    if (gone->recv.source < 0 || gone->recv.tag == LC_ANY || gone->is_matched)
        return; /* it has none */
    lc_clk_lock();
    struct lc_posts *posts = &lc_clk.match.sources[source].posts;
    for (uint32_t line = 0; posts->lines != NULL && line < LC_POSTS_LINES; line++) {
        const struct lc_clk_recv *r = owner_of(posts, source, line);
        bool of_stream = r != NULL && r->recv.context == gone->recv.context &&
                         r->recv.tag == gone->recv.tag && r->recv.order >= gone->recv.order;
        if (posts->owners != NULL && !(r == gone || (of_stream && is_awaited(r))))
            continue;
        keep_post(posts, source, line);
        lc_posts_forget(posts, line);
    }
    lc_clk_unlock();
}

/* The same of a blocking receive of this source that began then, the newest one. */
static void forget_newest(uint32_t source, uint64_t begin) {
    lc_clk_lock();
    struct lc_posts *posts = &lc_clk.match.sources[source].posts;
    uint32_t line = (posts->count - 1) % LC_POSTS_LINES;
    if (posts->lines != NULL && posts->lines[line].stamp.enter == begin)
        lc_posts_forget(posts, line);
    lc_clk_unlock();
}

void lc_clk_drop_recv(struct lc_clk_recv *r) {
    lc_clk_close_recv(r);
    forget_posts(r);
    lc_clk_release_recv(r);
}

/* MPI refused it, or it got no message: what was logged of its post is not true. */
void lc_clocks_recv_failed(struct lc_call *call, struct lc_msg *msg) {
    struct lc_clk_recv *r = msg->clocks.received.recv;
    int32_t source = msg->peer == MPI_ANY_SOURCE ? LC_ANY : lc_clk_world(msg->comm, msg->peer);
    lc_op_clocks_clear(&msg->clocks);
    if (r != NULL)
        lc_clk_drop_recv(r);
    else if (call->thread->clocks != NULL && lc_clk_comm_of(msg->comm) != NULL && source >= 0)
        forget_newest((uint32_t)source, call->begin);
}

uint64_t lc_clk_received(struct lc_clk_thread *k, const struct lc_deferred *deferred) {
    struct lc_clk_recv *r = deferred->recv;
    struct lc_clk_comm *c = lc_clk_comm_of(deferred->comm);
    int32_t source = lc_clk_world(deferred->comm, deferred->peer), tag = deferred->tag;
    if (r != NULL)
        lc_clk_close_recv(r);
    if (lc_unlikely(c == NULL || source < 0)) {
        lc_clk_release_recv(r);
        return 0;
    }
    uint32_t context = r != NULL && !r->is_matched ? r->recv.context : c->context;
    LC_CLK_LOG("R %d %u %d\n", source, context, tag);
    if (lc_unlikely(lc_clk.backlog)) {
        receive_in_backlog(k, deferred, (uint32_t)source, context);
        return 0;
    }
    uint64_t waited = 0;
    lc_clk_lock();
    const struct lc_ring_entry *entry;
    if (lc_unlikely(r != NULL && r->is_matched))
        entry = r->has_matched_entry ? &r->matched_entry : NULL;
    else
        entry = lc_match_take(&lc_clk.match, (uint32_t)source, context, tag,
                              r != NULL ? r->recv.order : UINT64_MAX, (uint32_t)deferred->bytes);
    if (lc_likely(entry != NULL)) {
        if (r == NULL && !deferred->notified) /* the newest post: no other thread receives */
            note_late((uint32_t)source, deferred->call.begin,
                      lc_clk.match.sources[source].posts.count, entry);
        else if (r != NULL && !deferred->notified && !r->reply_later && !r->is_matched)
            note_late((uint32_t)source, r->recv.post.enter, r->post_number, entry);
        waited =
            take_entry(k, &deferred->call, (uint32_t)source, entry, NULL, 0, r, deferred->notified);
    }
    lc_clk_unlock();
    lc_clk_release_recv(r);
    return waited;
}

void lc_clocks_recv_done(struct lc_call *call, struct lc_msg *msg) {
    struct lc_clk_thread *k = call->thread->clocks;
    struct lc_clk_recv *r = msg->clocks.received.recv;
    if (lc_unlikely(k == NULL)) {
        if (r != NULL)
            lc_clk_close_recv(r);
        lc_clk_release_recv(r);
        return;
    }
    int32_t source = lc_clk_world(msg->comm, msg->peer);
    bool can_defer =
        r == NULL && lc_clk.may_defer && source >= 0 && lc_clk.areas[source].head != NULL;
    struct lc_deferred *deferred = lc_clk_note(k, call, msg->comm);
    deferred->peer = msg->peer;
    deferred->tag = msg->tag;
    deferred->bytes = msg->bytes;
    deferred->recv = r;
    deferred->notified = msg->clocks.received.notified != 0;
    if (lc_likely(can_defer))
        lc_clk_defer(k, LC_DEFERRED_RECEIVED);
    else
        lc_clk_receive_now(k);
}

void lc_clocks_recv_truncated(struct lc_call *call, struct lc_msg *msg) {
    msg->bytes = (uint32_t)LC_ANY_BYTES;
    lc_clocks_recv_done(call, msg);
}

/* ---- probes: they wait as receives do, and their message is received by another call */

struct looking {
    struct lc_glance *glance;
    uint32_t source;
};

static bool is_seen(void *data) {
    struct looking x;
    memcpy(&x, data, sizeof x);
    lc_clk_lock();
    if (x.glance->item != NULL && lc_clk.areas[x.source].head != NULL)
        lc_match_drain(&lc_clk.match, x.source);
    bool seen = x.glance->item == NULL;
    lc_clk_unlock();
    return seen;
}

static void found(struct lc_clk_thread *k, const struct lc_call *call, uint32_t source,
                  uint64_t enter, uint32_t node) {
    lc_clk_candidate(k, call, LC_MEASURED_PROBE, waited_until(call, enter), source, node);
    lc_clk_polled_for(k, call, enter, source, node);
}

static void found_later(struct lc_call *call, struct lc_clk_thread *k, void *data) {
    struct looking x;
    memcpy(&x, data, sizeof x);
    lc_clk_lock();
    if (x.glance->item == NULL)
        found(k, call, x.source, x.glance->enter, x.glance->node);
    lc_match_look_away(x.glance); /* forced */
    lc_clk_unlock();
    free(x.glance);
}

/* claimed: by this probe; NULL: it leaves the message to others. */
static void find_in_backlog(struct lc_call *call, struct lc_clk_thread *k, uint32_t source,
                            uint32_t context, int32_t tag, struct lc_stashed *claimed) {
    static const struct lc_event_type event = {.ready = is_seen, .run = found_later, .turn = true};
    struct looking x = {.glance = calloc(1, sizeof *x.glance), .source = source};
    if (x.glance == NULL)
        return;
    lc_clk_lock();
    bool looks = claimed != NULL ? lc_match_glance_at(claimed, x.glance)
                                 : lc_match_glance(&lc_clk.match, source, context, tag, x.glance);
    lc_clk_unlock();
    if (looks)
        lc_clk_backlog_submit(&event, k, call, &x, sizeof x);
    else
        free(x.glance);
}

void lc_clocks_probed(struct lc_call *call, struct lc_comm *comm, int peer, int tag) {
    struct lc_clk_thread *k = call->thread->clocks;
    struct lc_clk_comm *c = lc_clk_comm_of(comm);
    int32_t source = lc_clk_world(comm, peer);
    if (k == NULL || c == NULL || source < 0 || source == (int32_t)lc_clk.rank)
        return;
    if (lc_clk.backlog) {
        find_in_backlog(call, k, (uint32_t)source, c->context, tag, NULL);
        return;
    }
    lc_clk_lock();
    const struct lc_ring_entry *entry =
        lc_match_look(&lc_clk.match, (uint32_t)source, c->context, tag);
    /* sent later: another thread has received the one that was found */
    if (entry != NULL && entry->stamp.enter <= call->end)
        found(k, call, (uint32_t)source, entry->stamp.enter, entry->stamp.node);
    lc_clk_unlock();
}

void lc_clocks_mprobed(struct lc_call *call, struct lc_matched *matched) {
    struct lc_clk_thread *k = call->thread->clocks;
    struct lc_clk_comm *c = lc_clk_comm_of(matched->comm);
    int32_t source = lc_clk_world(matched->comm, matched->peer);
    bool waits =
        lc_clk.fn_class[call->fn] != LC_FN_OTHER && k != NULL && source != (int32_t)lc_clk.rank;
    matched->clocks = NULL;
    if (c == NULL || source < 0)
        return;
    struct lc_clk_recv *r = take_recv();
    if (r == NULL)
        return;
    r->is_matched = true;
    r->recv.source = source;
    r->recv.tag = matched->tag;
    r->recv.context = c->context;
    lc_clk_lock();
    const struct lc_ring_entry *entry = NULL;
    if (lc_clk.backlog)
        r->claimed = lc_match_claim(&lc_clk.match, (uint32_t)source, c->context, matched->tag,
                                    UINT64_MAX, (uint32_t)matched->bytes);
    else
        entry = lc_match_take(&lc_clk.match, (uint32_t)source, c->context, matched->tag, UINT64_MAX,
                              (uint32_t)matched->bytes);
    if (entry != NULL) {
        memcpy(&r->matched_entry, entry, sizeof r->matched_entry);
        r->has_matched_entry = true;
        if (waits)
            found(k, call, (uint32_t)source, entry->stamp.enter, entry->stamp.node);
    }
    lc_clk_unlock();
    matched->clocks = r;
    if (waits && r->claimed != NULL)
        find_in_backlog(call, k, (uint32_t)source, c->context, matched->tag, r->claimed);
}

void lc_clocks_mrecv(struct lc_call *call, struct lc_matched *matched, struct lc_msg *msg) {
    struct lc_clk_recv *r = matched->clocks;
    msg->clocks.received.recv = r;
    msg->clocks.received.notified = 0;
    matched->clocks = NULL;
    if (r == NULL)
        return;
    struct lc_clk_thread *k = call->thread->clocks;
    r->recv.post.enter = call->begin;
    if (lc_clk.backlog && k != NULL) {
        post_in_backlog(call, k, r);
    } else if (k != NULL && r->has_matched_entry) {
        int32_t source = lc_clk_world(msg->comm, msg->peer);
        r->reply_later = true;
        lc_logical_stamp(&k->l, call->begin, &r->recv.post);
        lc_clk_lock();
        log_post(k, (uint32_t)source, call->begin, r->matched_entry.context, r->matched_entry.tag,
                 &r->matched_entry);
        lc_clk_unlock();
    }
}
