/* Messages: the sender's entry, its pairing at the receiver, waits of both. */
#include <stdlib.h>
#include <string.h>

#include "measure/clk.h"
#include "measure/wrap.h"

/* Shorter messages are not expected to wait for their receiver; from LC_SURELY_BYTES on no MPI
 * buffers them. Whether one between them waited is seen from the times alone. */
enum { LC_RENDEZVOUS_BYTES = 4096, LC_SURELY_BYTES = 256 << 10 };

/* Partitioned messages match among each other only. */
static inline uint32_t stream_context(const struct lc_clk_comm *c, bool partitioned) {
    return lc_unlikely(partitioned) ? (c->context ^ 0x70617274) | LC_CONTEXT_FIRST : c->context;
}

static inline uint32_t context_of(const struct lc_clk_comm *c, const struct lc_msg *msg) {
    return stream_context(c, msg->request != NULL && msg->request->partitioned);
}

/* ---- sender */

static struct lc_ring_out *ring_to(uint32_t to) {
    struct lc_ring_out *out = &lc_clk.outs[to];
    if (lc_unlikely(out->area == NULL)) {
        lc_ring_out_init(out, &lc_clk.mine, to);
        out->area = &lc_clk.mine;
    }
    return out;
}

/* Puts an entry on its way; its sequence number (0: lost) and place (NULL: none). */
static uint32_t put(struct lc_clk_thread *k, uint32_t to, const struct lc_stamp *stamp,
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
    put(k, to, stamp, context, tag, 0, 0, &entry);
}

/* Does the send end only when its receive was posted, whatever the times? */
static inline bool surely_waits(const struct lc_msg *msg) {
    return msg->kind == LC_SEND_SYNC ||
           (msg->bytes >= LC_SURELY_BYTES && msg->kind == LC_SEND_STANDARD);
}

void lc_clocks_send(struct lc_call *call, struct lc_msg *msg) {
    struct lc_clk_thread *k = call->thread->clocks;
    struct lc_clk_comm *c = lc_clk_comm_of(msg->comm);
    int32_t to = lc_clk_world(msg->comm, msg->peer);
    msg->clocks[0] = msg->clocks[1] = 0;
    if (lc_unlikely(k == NULL || c == NULL || to < 0))
        return;
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
        }
    } else {
        bool may_wait = msg->kind == LC_SEND_SYNC ||
                        (msg->bytes >= LC_RENDEZVOUS_BYTES && msg->kind != LC_SEND_BUFFERED);
        uint64_t waits =
            (may_wait ? LC_RECORD_WAITS : 0) | (surely_waits(msg) ? LC_RECORD_SURELY : 0);
        struct lc_stamp stamp;
        lc_logical_stamp(&k->l, call->begin, &stamp);
        seq = put(k, (uint32_t)to, &stamp, context, msg->tag, (uint32_t)msg->bytes, waits, &entry);
    }
    lc_clk_unlock();
    msg->clocks[0] = (uint64_t)(uintptr_t)entry;
    msg->clocks[1] = (uint64_t)seq | (uint64_t)(msg->kind >= LC_SEND_BUFFERED) << 32;
}

void lc_clocks_send_started(struct lc_call *call, struct lc_msg *msg) {
    (void)call; /* the request carries msg->clocks */
    (void)msg;
}

struct ended { /* a send that this call ended */
    uint32_t to, seq;
    uint32_t context;
    int32_t tag;
    bool counts; /* as a wait state of the call */
    bool surely; /* it ended only after its receive was posted */
};

/* When its receive was posted: the receiver has told it, or has logged it. */
static bool find_post(const struct ended *e, struct lc_stamp *post, const uint64_t **extra,
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

/* Did this call wait for the receive? */
static void receiver_late(struct lc_call *call, struct lc_clk_thread *k, const struct ended *e) {
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

void lc_clocks_send_done(struct lc_call *call, struct lc_msg *msg) {
    bool surely = surely_waits(msg);
    if (lc_likely(call->end - call->begin < lc_clk.slow_ticks && !surely))
        return;
    struct lc_clk_thread *k = call->thread->clocks;
    int32_t to = lc_clk_world(msg->comm, msg->peer);
    if (k == NULL || to < 0 || msg->clocks[1] >> 32)
        return;
    receiver_late(call, k,
                  &(struct ended){.to = (uint32_t)to,
                                  .seq = (uint32_t)msg->clocks[1],
                                  .context = lc_clk_comm_of(msg->comm)->context,
                                  .tag = msg->tag,
                                  .counts = lc_clk.fn_class[call->fn] == LC_FN_PLAIN,
                                  .surely = surely});
}

/* ---- receiver */

/* Records of receives are used again: no allocation once the program is in its stride. */
static struct lc_clk_recv *take_recv(void) {
    lc_clk_lock();
    struct lc_clk_recv *r = lc_clk.spare_recv;
    if (lc_likely(r != NULL))
        lc_clk.spare_recv = (struct lc_clk_recv *)r->recv.next;
    lc_clk_unlock();
    if (lc_unlikely(r == NULL))
        r = malloc(sizeof *r);
    if (r != NULL) {
        r->recv.open = r->is_given = r->has_given = r->reply_later = r->told = false;
        r->recv.order = 0;
        r->given_extra = NULL;
    }
    return r;
}

static void give_recv(struct lc_clk_recv *r) {
    if (r == NULL)
        return;
    free(r->given_extra);
    lc_clk_lock();
    r->recv.next = (struct lc_recv *)lc_clk.spare_recv;
    lc_clk.spare_recv = r;
    lc_clk_unlock();
}

static void reply_to(struct lc_clk_thread *k, uint32_t source, const struct lc_stamp *post,
                     uint32_t seq) {
    struct lc_ring_entry *entry;
    if (source != lc_clk.rank)
        put(k, source, post, LC_CONTEXT_REPLY, (int32_t)seq, 0, 0, &entry);
}

static bool is_after(const struct lc_ring_entry *entry, uint64_t posted) {
    return posted > entry->stamp.enter + lc_clk.slow_ticks;
}

/* To be told to the sender: the receive was posted after the send began, and the send may wait
 * (over messages; a reply in a ring costs next to nothing). */
static bool is_late(uint32_t source, const struct lc_ring_entry *entry, uint64_t posted) {
    if (lc_likely(!is_after(entry, posted)))
        return false;
    return lc_clk.areas[source].head != NULL || lc_clk_record_waits(entry);
}

/* Logs a receive of this stream that is about to be posted; entry NULL: its message is not there.
 */
static inline void log_post(struct lc_clk_thread *k, uint32_t source, uint64_t now,
                            uint32_t context, int32_t tag, const struct lc_ring_entry *entry) {
    struct lc_source *s = &lc_clk.match.sources[source];
    if (lc_unlikely(s->posts.lines == NULL) &&
        (s->ring.area == NULL || !lc_posts_make(&s->posts, &lc_clk.mine, source)))
        return;
    uint32_t skip = 0;
    if (lc_unlikely(s->n_open > 0 || lc_clk.match.n_wild > 0) && entry == NULL)
        skip = lc_match_ahead(&lc_clk.match, source, context, tag);
    struct lc_post_line *line = lc_posts_place(&s->posts);
    lc_logical_stamp(&k->l, now, &line->stamp);
    lc_posts_ready(&s->posts, line, context, tag, entry != NULL ? entry->seq : s->ring.seq, skip);
}

/* A receive is about to be posted; if its message is on its way already, the sender is told. */
void lc_clocks_recv(struct lc_call *call, struct lc_msg *msg) {
    struct lc_clk_thread *k = call->thread->clocks;
    struct lc_clk_comm *c = lc_clk_comm_of(msg->comm);
    msg->clocks[0] = msg->clocks[1] = 0;
    if (lc_unlikely(k == NULL || c == NULL))
        return;
    int32_t source = msg->peer == MPI_ANY_SOURCE ? LC_ANY : lc_clk_world(msg->comm, msg->peer);
    uint32_t context = context_of(c, msg);
    bool exact = source >= 0 && msg->tag != MPI_ANY_TAG;
    LC_CLK_LOG("P %d %u %d\n", source >= 0 ? source : -1, context, exact ? msg->tag : -1);
    if (lc_likely(exact)) {
        lc_clk_lock();
        const struct lc_ring_entry *entry =
            lc_match_look(&lc_clk.match, (uint32_t)source, context, msg->tag);
        log_post(k, (uint32_t)source, call->begin, context, msg->tag, entry);
        if (lc_unlikely(entry != NULL && is_late((uint32_t)source, entry, call->begin))) {
            struct lc_stamp post;
            uint32_t seq = entry->seq;
            lc_logical_stamp(&k->l, call->begin, &post);
            reply_to(k, (uint32_t)source, &post, seq);
            msg->clocks[1] = 1; /* told */
        }
        call->thread->expected = lc_ring_head(&lc_clk.match.sources[source].ring);
        lc_clk_unlock();
    }
    if (msg->id == 0 && !lc_core.multiple && exact)
        return; /* blocking, nobody else receives: no list is needed */
    struct lc_clk_recv *r = take_recv();
    if (r == NULL)
        return;
    r->recv.source = source < 0 ? LC_ANY : source;
    r->recv.tag = msg->tag == MPI_ANY_TAG ? LC_ANY : msg->tag;
    r->recv.context = context;
    r->recv.post.enter = call->begin;
    r->recv.owner = NULL;
    r->told = msg->clocks[1] != 0;
    lc_clk_lock();
    r->reply_later = !exact;
    if (!exact || lc_clk.areas[source].head == NULL)
        lc_logical_stamp(&k->l, call->begin, &r->recv.post);
    r->recv.order = ++lc_clk.next_order;
    if (msg->id == 0) /* other threads must see it while this one is blocked */
        lc_match_open(&lc_clk.match, &r->recv);
    lc_clk_unlock();
    msg->clocks[0] = (uint64_t)(uintptr_t)r;
}

void lc_clocks_recv_started(struct lc_call *call, struct lc_msg *msg) {
    (void)call;
    struct lc_clk_recv *r = (struct lc_clk_recv *)(uintptr_t)msg->clocks[0];
    if (r == NULL)
        return;
    if (msg->request == NULL) { /* never heard of again: it holds its place in the stream */
        r->recv.owner = NULL;
    } else {
        r->recv.owner = msg->request;
        msg->request->clocks[0] = msg->clocks[0];
    }
    lc_clk_lock();
    if (!r->is_given)
        lc_match_open(&lc_clk.match, &r->recv);
    lc_clk_unlock();
}

/* Tells the sender when the receive of this entry was posted, where that could not be told before:
 * late ones, and those of a send that surely waited, if its clocks change with it. extra: of an
 * entry that came as record. */
static void reply_after(struct lc_clk_thread *k, const struct lc_call *call, uint32_t source,
                        const struct lc_ring_entry *entry, const uint64_t *extra, uint32_t n_extra,
                        const struct lc_clk_recv *r) {
    struct lc_stamp post;
    bool later = r != NULL && r->reply_later;
    if (later && (r->is_given ? r->given_waits && is_after(entry, r->recv.post.enter)
                              : is_late(source, entry, r->recv.post.enter))) {
        reply_to(k, source, &r->recv.post, entry->seq);
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
        reply_to(k, source, &post, entry->seq);
}

/* A receive got its message: edge, candidate. r NULL: blocking. told: the sender has been told. */
static uint64_t received(struct lc_call *call, struct lc_clk_thread *k, struct lc_comm *comm,
                         int32_t peer, int32_t tag, uint64_t bytes, struct lc_clk_recv *r,
                         bool told) {
    struct lc_clk_comm *c = lc_clk_comm_of(comm);
    int32_t source = lc_clk_world(comm, peer);
    if (c == NULL || source < 0)
        return 0;
    uint32_t context = r != NULL && !r->is_given ? r->recv.context : c->context;
    LC_CLK_LOG("R %d %u %d\n", source, context, tag);
    const struct lc_ring_entry *entry;
    const uint64_t *extra = NULL;
    uint32_t n_extra = 0;
    uint64_t waited = 0;
    lc_clk_lock();
    if (lc_unlikely(r != NULL && r->is_given)) {
        entry = r->has_given ? &r->given : NULL;
        extra = r->given_extra;
        n_extra = extra != NULL ? r->n_given_extra : 0;
    } else {
        entry = lc_match_take(&lc_clk.match, (uint32_t)source, context, tag,
                              r != NULL ? r->recv.order : UINT64_MAX, (uint32_t)bytes);
        const struct lc_stashed *stashed = lc_clk.match.sources[source].taken;
        extra = stashed != NULL ? stashed->extra : NULL;
        n_extra = stashed != NULL ? stashed->n_extra : 0;
    }
    if (lc_likely(entry != NULL)) {
        const struct lc_stamp stamp = entry->stamp;
        if (lc_unlikely(((r != NULL && r->reply_later) || n_extra > 0) && !told))
            reply_after(k, call, (uint32_t)source, entry, extra, n_extra, r);
        lc_clk_edge(k, (uint32_t)source, &stamp, call->end, extra, n_extra);
        if (lc_unlikely(stamp.enter > call->end))
            lc_clk.counts.violations++;
        if (source != (int32_t)lc_clk.rank) {
            waited = stamp.enter > call->begin ? lc_min(stamp.enter, call->end) - call->begin : 0;
            if (lc_clk.fn_class[call->fn] != LC_FN_OTHER)
                lc_clk_candidate(k, call, LC_WAIT_LATESENDER, waited, (uint32_t)source, stamp.node);
        }
    }
    lc_clk_unlock();
    return waited;
}

static void close_recv(struct lc_clk_recv *r) {
    lc_clk_lock();
    lc_match_close(&lc_clk.match, &r->recv);
    lc_clk_unlock();
}

void lc_clocks_recv_done(struct lc_call *call, struct lc_msg *msg) {
    struct lc_clk_thread *k = call->thread->clocks;
    struct lc_clk_recv *r = (struct lc_clk_recv *)(uintptr_t)msg->clocks[0];
    if (lc_unlikely(r != NULL))
        close_recv(r);
    if (lc_likely(k != NULL))
        received(call, k, msg->comm, msg->peer, msg->tag, msg->bytes, r, msg->clocks[1] != 0);
    give_recv(r);
}

static void keep_extra(struct lc_clk_recv *r, const struct lc_stashed *stashed) {
    uint32_t n = stashed != NULL ? stashed->n_extra : 0;
    r->given_extra = n > 0 ? malloc(n * sizeof *r->given_extra) : NULL;
    r->n_given_extra = r->given_extra != NULL ? n : 0;
    if (r->given_extra != NULL)
        memcpy(r->given_extra, stashed->extra, n * sizeof *r->given_extra);
}

void lc_clocks_mprobed(struct lc_call *call, struct lc_matched *matched) {
    struct lc_clk_comm *c = lc_clk_comm_of(matched->comm);
    int32_t source = lc_clk_world(matched->comm, matched->peer);
    (void)call;
    matched->clocks[0] = 0;
    if (c == NULL || source < 0)
        return;
    struct lc_clk_recv *r = take_recv();
    if (r == NULL)
        return;
    r->is_given = true;
    lc_clk_lock();
    const struct lc_ring_entry *entry =
        lc_match_take(&lc_clk.match, (uint32_t)source, c->context, matched->tag, UINT64_MAX,
                      (uint32_t)matched->bytes);
    if (entry != NULL) {
        memcpy(&r->given, entry, sizeof r->given);
        r->given_waits = lc_clk.areas[source].head != NULL || lc_clk_record_waits(entry);
        r->has_given = true;
        keep_extra(r, lc_clk.match.sources[source].taken);
    }
    lc_clk_unlock();
    matched->clocks[0] = (uint64_t)(uintptr_t)r;
}

void lc_clocks_mrecv(struct lc_call *call, struct lc_matched *matched, struct lc_msg *msg) {
    struct lc_clk_recv *r = (struct lc_clk_recv *)(uintptr_t)matched->clocks[0];
    msg->clocks[0] = matched->clocks[0];
    msg->clocks[1] = 0;
    matched->clocks[0] = 0;
    if (r == NULL)
        return;
    struct lc_clk_thread *k = call->thread->clocks;
    r->recv.post.enter = call->begin;
    if (k != NULL && r->has_given) {
        int32_t source = lc_clk_world(msg->comm, msg->peer);
        r->reply_later = true;
        lc_logical_stamp(&k->l, call->begin, &r->recv.post);
        lc_clk_lock();
        log_post(k, (uint32_t)source, call->begin, r->given.context, r->given.tag, &r->given);
        lc_clk_unlock();
    }
}

/* ---- completion */

static void send_completed(struct lc_call *call, struct lc_clk_thread *k,
                           const struct lc_request *r, const MPI_Status *status,
                           bool blocked_by_message) {
    uint64_t sent = r->clocks[1];
    int32_t to = lc_clk_world(r->comm, r->peer);
    if (lc_unlikely(r->cancelled && lc_status_cancelled(status))) {
        struct lc_ring_entry *entry = (struct lc_ring_entry *)(uintptr_t)r->clocks[0];
        if (entry != NULL && entry->seq == (uint32_t)sent) /* its segment is not in use again */
            atomic_store_explicit(&entry->context, LC_CONTEXT_VOID, memory_order_release);
        return;
    }
    uint8_t class = lc_clk.fn_class[call->fn];
    bool surely = r->synchronous || (r->bytes >= LC_SURELY_BYTES && !(sent >> 32));
    if (to < 0 || to == (int32_t)lc_clk.rank || (class == LC_FN_OTHER && !surely))
        return;
    bool waits = !(sent >> 32) && (r->synchronous || !blocked_by_message) && class != LC_FN_OTHER;
    bool slow = call->end - call->begin >= lc_clk.slow_ticks;
    if ((slow && waits) || surely)
        receiver_late(
            call, k,
            &(struct ended){.to = (uint32_t)to,
                            .seq = (uint32_t)sent,
                            .context = stream_context(lc_clk_comm_of(r->comm), r->partitioned),
                            .tag = r->tag,
                            .counts = slow && waits && class != LC_FN_WAITSOME,
                            .surely = surely});
    if (class == LC_FN_WAITSOME && waits) { /* 0 unless a reply says otherwise */
        const struct lc_reply_slot *reply = lc_clk_find_reply((uint32_t)to, (uint32_t)sent);
        uint64_t ticks = 0;
        if (reply != NULL && reply->stamp.enter > call->begin && reply->stamp.enter < call->end)
            ticks = reply->stamp.enter - call->begin;
        lc_clk_candidate(k, call, LC_WAIT_LATERECEIVER, ticks, (uint32_t)to,
                         reply != NULL ? reply->stamp.node : 0);
    }
}

/* Completed receives in post order, so that earlier ones are off the list of open ones when later
 * ones count it. */
static uint64_t order_of(const struct lc_request *r) {
    const struct lc_clk_recv *recv = (const struct lc_clk_recv *)(uintptr_t)r->clocks[0];
    return recv != NULL ? recv->recv.order : 0;
}

static void forget_posts(const struct lc_recv *recv) {
    lc_clk_lock();
    for (uint32_t i = 0; i < lc_clk.size; i++)
        if (recv->source == LC_ANY || recv->source == (int32_t)i)
            lc_posts_forget(&lc_clk.match.sources[i].posts);
    lc_clk_unlock();
}

static uint64_t receive_completed(struct lc_call *call, struct lc_clk_thread *k,
                                  struct lc_request *r, const MPI_Status *status) {
    struct lc_clk_recv *recv = (struct lc_clk_recv *)(uintptr_t)r->clocks[0];
    uint64_t waited = 0;
    r->clocks[0] = 0;
    if (recv == NULL)
        return 0;
    close_recv(recv);
    if (lc_unlikely(lc_status_cancelled(status)))
        forget_posts(&recv->recv);
    if (!lc_status_cancelled(status) && status->MPI_SOURCE != MPI_PROC_NULL)
        waited = received(call, k, r->comm, status->MPI_SOURCE, status->MPI_TAG,
                          lc_status_bytes(status), recv, recv->told);
    give_recv(recv);
    return waited;
}

enum { LC_BLOCKERS = 32 };

struct lc_blockers { /* processes whose messages this call waited for */
    int32_t world[LC_BLOCKERS];
    int n;
};

static bool is_receive(const struct lc_request *r) {
    return r != NULL && r->kind == LC_REQUEST_RECV && r->clocks[0] != 0;
}

/* The receive that was posted first; in post order, the usual case, the first that is left. */
static int first_posted(int n, struct lc_request *const *requests, int from, bool ascending) {
    int first = -1;
    for (int i = ascending ? from : 0; i < n; i++)
        if (is_receive(requests[i]) &&
            (first < 0 || order_of(requests[i]) < order_of(requests[first]))) {
            first = i;
            if (ascending)
                break;
        }
    return first;
}

static void complete_receives(struct lc_call *call, struct lc_clk_thread *k, int n,
                              struct lc_request *const *requests, const MPI_Status *statuses,
                              struct lc_blockers *blockers) {
    bool ascending = true;
    uint64_t newest = 0;
    for (int i = 0; i < n; i++)
        if (is_receive(requests[i])) {
            ascending = ascending && order_of(requests[i]) >= newest;
            newest = order_of(requests[i]);
        }
    int at = 0;
    while ((at = first_posted(n, requests, at, ascending)) >= 0) {
        struct lc_request *r = requests[at];
        uint64_t waited = receive_completed(call, k, r, &statuses[at]);
        if (waited > 0 && blockers->n < LC_BLOCKERS)
            blockers->world[blockers->n++] = lc_clk_world(r->comm, statuses[at].MPI_SOURCE);
    }
}

void lc_clocks_completed(struct lc_call *call, int n, struct lc_request *const *requests,
                         const MPI_Status *statuses) {
    struct lc_clk_thread *k = call->thread->clocks;
    struct lc_blockers blockers;
    if (lc_unlikely(k == NULL || !lc_clk.ready))
        return;
    blockers.n = 0;
    complete_receives(call, k, n, requests, statuses, &blockers);
    for (int i = 0; i < n; i++) {
        struct lc_request *r = requests[i];
        if (r == NULL)
            continue;
        if (r->kind == LC_REQUEST_SEND) {
            bool blocked = false;
            int32_t to = lc_clk_world(r->comm, r->peer);
            for (int b = 0; b < blockers.n; b++)
                blocked |= blockers.world[b] == to;
            send_completed(call, k, r, &statuses[i], blocked);
        } else if (r->kind != LC_REQUEST_RECV) { /* also of files, of MPI_Comm_idup */
            lc_clk_coll_completed(call, k, r);
        }
    }
}

/* A freed receive still gets its message: it stays open, so that it holds its place in the stream.
 */
void lc_clocks_request_free(struct lc_call *call, struct lc_request *request) {
    (void)call;
    if (request->kind != LC_REQUEST_RECV || request->clocks[0] == 0)
        return;
    struct lc_clk_recv *r = (struct lc_clk_recv *)(uintptr_t)request->clocks[0];
    lc_clk_lock();
    r->recv.owner = NULL;
    lc_clk_unlock();
    request->clocks[0] = 0;
}
