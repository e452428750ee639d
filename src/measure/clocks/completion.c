/* Completion of requests: receives in the order in which they were posted, then the rest. */
#include <stdlib.h>

#include "measure/mpi/request.h"
#include "measure/clocks/clock_messages.h"
#include "measure/clocks/call_state.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/clocks_hooks.h"
#include "measure/clocks/collectives.h"
#include "measure/clocks/contexts.h"
#include "measure/clocks/wait_states.h"
#include "measure/core/core.h"
#include "measure/core/thread.h"
#include "piggyback/ring.h"

static void send_completed(struct lc_call *call, struct lc_clk_thread *k,
                           const struct lc_request *r, const MPI_Status *status,
                           bool blocked_by_message) {
    uint64_t sent = r->clocks.sent.seq;
    int32_t to = lc_clk_world(r->comm, r->peer);
    if (lc_unlikely(r->cancelled && lc_status_cancelled(status))) {
        lc_clk_not_sent(call, to, r->bytes, &r->clocks);
        return;
    }
    uint8_t class = lc_clk.fn_class[call->fn];
    bool synchronous =
        r->synchronous || (r->bytes >= LC_SYNCHRONOUS_BYTES && !(sent & LC_SENT_BUFFERED));
    if (to < 0 || to == (int32_t)lc_clk.rank || (uint32_t)sent == 0 ||
        (class == LC_FN_OTHER && !synchronous))
        return;
    /* Where clocks lag it is not known yet whether the call waited for a message of that rank. */
    bool lags = lc_unlikely(lc_clk.backlog);
    bool waits = !(sent & LC_SENT_BUFFERED) && class != LC_FN_OTHER &&
                 (lags || r->synchronous || !blocked_by_message);
    bool slow = call->end - call->begin >= lc_clk.slow_ticks;
    struct lc_ended e = {.to = (uint32_t)to,
                         .seq = (uint32_t)sent,
                         .context = stream_context(lc_clk_comm_of(r->comm), r),
                         .tag = r->tag,
                         .bytes = r->synchronous ? 0 : r->bytes,
                         .counts = waits && (slow || (lags && class == LC_FN_WAITSOME)),
                         .synchronous = synchronous};
    if (e.counts || synchronous)
        lc_clk_send_ended(call, k, &e, (uint32_t)r->clocks.sent.id, !r->synchronous);
    else if (class == LC_FN_WAITSOME && waits)
        lc_clk_candidate(k, call, LC_MEASURED_LATERECEIVER, 0, (uint32_t)to, 0);
}

/* Completed receives in post order, so that earlier ones are off the list of open ones when later
 * ones count it. */
static uint64_t order_of(const struct lc_request *r) {
    const struct lc_clk_recv *recv = r->clocks.received.recv;
    return recv != NULL ? recv->recv.order : 0;
}

/* May its entry be read at the thread's next event? */
static bool can_defer(const struct lc_request *r, const struct lc_clk_recv *recv) {
    return lc_clk.may_defer && !recv->reply_later && !recv->is_matched && !r->comm->freed &&
           lc_clk.areas[recv->recv.source].head != NULL;
}

/* Completed by this call: notes it, to be done now or later. False: it was cancelled. */
static bool note_receive(const struct lc_call *call, struct lc_clk_thread *k, struct lc_request *r,
                         const MPI_Status *status) {
    struct lc_clk_recv *recv = r->clocks.received.recv;
    r->clocks.received.recv = NULL;
    bool status_valid = lc_status_is_set(r, status); /* else what it was posted with */
    if (lc_unlikely(status_valid &&
                    (lc_status_cancelled(status) || status->MPI_SOURCE == MPI_PROC_NULL))) {
        if (lc_status_cancelled(status))
            lc_clk_drop_recv(recv);
        else
            lc_clk_withdraw_recv(recv);
        return false;
    }
    struct lc_deferred *deferred = lc_clk_note(k, call, r->comm);
    deferred->peer = status_valid ? status->MPI_SOURCE : r->peer;
    deferred->tag = status_valid ? status->MPI_TAG : r->tag;
    deferred->bytes = status_valid ? lc_status_bytes(status) : (uint32_t)LC_ANY_BYTES;
    deferred->recv = recv;
    deferred->notified = recv->notified;
    return true;
}

struct lc_blockers { /* processes whose messages this call waited for */
    int32_t world[LC_BLOCKERS];
    int n;
};

static bool is_receive(const struct lc_request *r) {
    return r != NULL && r->kind == LC_REQUEST_RECV && r->clocks.received.recv != NULL;
}

struct lc_posted {
    uint64_t order;
    int at;
};

static int by_order(const void *a, const void *b) {
    uint64_t x = ((const struct lc_posted *)a)->order, y = ((const struct lc_posted *)b)->order;
    return (x > y) - (x < y);
}

/* Those of the receives; *n: how many. In post order, but without memory for it as they come, which
 * costs wildcards among them their place. */
static struct lc_posted *in_post_order(int *n, struct lc_request *const *requests,
                                       struct lc_posted *few) {
    struct lc_posted *posted = *n <= LC_FEW ? few : malloc((size_t)*n * sizeof *posted);
    int n_posted = 0;
    bool ascending = true;
    for (int i = 0; posted != NULL && i < *n; i++) {
        if (!is_receive(requests[i]))
            continue;
        posted[n_posted] = (struct lc_posted){order_of(requests[i]), i};
        ascending &= n_posted == 0 || posted[n_posted - 1].order <= posted[n_posted].order;
        n_posted++;
    }
    if (posted != NULL && !ascending)
        qsort(posted, (size_t)n_posted, sizeof *posted, by_order);
    if (posted != NULL)
        *n = n_posted;
    return posted;
}

static void complete_receives(struct lc_call *call, struct lc_clk_thread *k, int n,
                              struct lc_request *const *requests, const MPI_Status *statuses,
                              struct lc_blockers *blockers) {
    struct lc_posted few[LC_FEW], *posted = in_post_order(&n, requests, few);
    for (int i = 0; i < n; i++) {
        int at = posted != NULL ? posted[i].at : i;
        struct lc_request *r = requests[at];
        if (!is_receive(r))
            continue;
        uint64_t waited = note_receive(call, k, r, &statuses[at]) ? lc_clk_receive_now(k) : 0;
        if (waited > 0 && blockers->n < LC_BLOCKERS)
            blockers->world[blockers->n++] = lc_clk_world(r->comm, statuses[at].MPI_SOURCE);
    }
    if (posted != few)
        free(posted);
}

/* The call tells nothing about this send. */
static inline bool is_plain_send(const struct lc_request *r, bool slow, uint8_t class) {
    bool ends = !slow || (lc_clk.rarer && r->bytes < LC_RENDEZVOUS_BYTES);
    return r->kind == LC_REQUEST_SEND && ends && class != LC_FN_WAITSOME && !r->cancelled &&
           !r->synchronous && r->bytes < LC_SYNCHRONOUS_BYTES;
}

void lc_clocks_completed(struct lc_call *call, int n, struct lc_request *const *requests,
                         const MPI_Status *statuses) {
    struct lc_clk_thread *k = call->thread->clocks;
    if (lc_unlikely(k == NULL || !lc_clk.ready))
        return;
    bool slow = call->end - call->begin >= lc_clk.slow_ticks;
    uint8_t class = lc_clk.fn_class[call->fn];
    int n_receives = 0, n_others = 0, receive = 0;
    for (int i = 0; i < n; i++) {
        if (is_receive(requests[i])) {
            n_receives++;
            receive = i;
        } else {
            n_others += requests[i] != NULL && !is_plain_send(requests[i], slow, class);
        }
    }
    if (lc_likely(n_receives == 1 && n_others == 0)) {
        struct lc_request *r = requests[receive];
        bool waits = can_defer(r, r->clocks.received.recv);
        if (!note_receive(call, k, r, &statuses[receive]))
            return;
        if (lc_likely(waits))
            lc_clk_defer(k, LC_DEFERRED_RECEIVED);
        else
            lc_clk_receive_now(k);
        return;
    }
    struct lc_blockers blockers;
    blockers.n = 0;
    if (n_receives > 0)
        complete_receives(call, k, n, requests, statuses, &blockers);
    for (int i = 0; n_others > 0 && i < n; i++) {
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

void lc_clocks_truncated(struct lc_call *call, struct lc_request *request,
                         const MPI_Status *status) {
    struct lc_clk_thread *k = call->thread->clocks;
    if (request->clocks.received.recv == NULL)
        return;
    if (lc_unlikely(k == NULL || !lc_clk.ready)) {
        lc_clocks_request_failed(call, request);
    } else if (note_receive(call, k, request, status)) {
        k->deferred.bytes = (uint32_t)LC_ANY_BYTES;
        lc_clk_receive_now(k);
    }
}

void lc_clocks_recv_cancelled(struct lc_call *call, struct lc_request *request) {
    struct lc_clk_recv *r = request->clocks.received.recv;
    (void)call;
    request->clocks.received.recv = NULL;
    if (r != NULL)
        lc_clk_drop_recv(r);
}

void lc_clocks_request_failed(struct lc_call *call, struct lc_request *request) {
    struct lc_clk_thread *k = call->thread->clocks;
    if (request->clocks.words[0] == 0 || request->kind == LC_REQUEST_SEND)
        return;
    if (request->kind == LC_REQUEST_RECV) {
        lc_clocks_recv_cancelled(call, request);
    } else if (k != NULL) {
        lc_clk_coll_completed(call, k, request);
    }
}

/* A freed receive still gets its message: it stays open, so that it holds its place in the stream.
 */
void lc_clocks_request_free(struct lc_call *call, struct lc_request *request) {
    (void)call;
    if (request->kind != LC_REQUEST_RECV || request->clocks.received.recv == NULL)
        return;
    struct lc_clk_recv *r = request->clocks.received.recv;
    lc_clk_lock();
    r->recv.owner = NULL;
    lc_clk_unlock();
    request->clocks.received.recv = NULL;
}

/* What will be read first when the call is over (lc_stamp_end; not where other threads may read it
 * meanwhile), and written next: after MPI_Isend it was too early for that (the receiver may take it
 * along with the entry that was sent). */
void lc_clocks_completing(struct lc_call *call, int n, struct lc_request *const *requests) {
    struct lc_clk_thread *k = call->thread->clocks;
    if (lc_unlikely(lc_core.multiple))
        return;
    if (k != NULL && k->claim != NULL)
        lc_line_claim(k->claim);
    for (int i = 0; i < n; i++)
        if (is_receive(requests[i])) {
            const struct lc_clk_recv *r = requests[i]->clocks.received.recv;
            if (r->recv.source >= 0)
                call->thread->expected = lc_ring_head(&lc_clk.match.sources[r->recv.source].ring);
            return;
        }
}
