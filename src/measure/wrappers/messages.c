#include <stdlib.h>
#include <string.h>

#include "measure/wrappers/messages.h"
#include "base/mem.h"
#include "measure/mpi/operations.h"
#include "measure/mpi/request.h"
#include "measure/clocks/clocks_hooks.h"
#include "measure/core/core.h"
#include "measure/core/thread.h"

/* Point-to-point calls that are not worth a place in the hot path. */

void lc_isendrecv_begin(struct lc_call *call, struct lc_msg *out, struct lc_msg *in, uint64_t count,
                        MPI_Datatype type, int dest, int sendtag, int source, int recvtag,
                        MPI_Comm comm) {
    lc_isend_begin(call, out, count, type, dest, sendtag, comm, LC_SEND_STANDARD);
    call->flags = 0;
    lc_irecv_begin(call, in, source, recvtag, comm);
}

/* One request for both halves: the receiving one is in the table, the sending one hangs on it. */
void lc_isendrecv_end(struct lc_call *call, struct lc_msg *out, struct lc_msg *in, int result,
                      const MPI_Request *request) {
    if (result != MPI_SUCCESS) {
        lc_sendrecv_failed(call, out, in, result, NULL);
        return;
    }
    if (in->comm == NULL && out->comm != NULL) {
        lc_isend_end(call, out, result, request);
    } else if (in->comm != NULL) {
        in->request = lc_request_new(call, in, *request, LC_REQUEST_RECV);
        if (in->request != NULL)
            in->request->exchange = true;
        if (in->request != NULL && out->comm != NULL) {
            struct lc_request *half = calloc(1, sizeof *half);
            if (half != NULL) {
                *half = *in->request;
                half->kind = LC_REQUEST_SEND;
                half->exchange = false;
                half->peer = out->peer;
                half->tag = out->tag;
                half->bytes = out->bytes;
                half->id = out->id;
                lc_op_clocks_copy(&half->clocks, &out->clocks);
            }
            in->request->pair = half;
            out->request = half;
        }
        if (out->comm != NULL)
            lc_hook_send_started(call, out);
        lc_hook_recv_started(call, in);
    }
    lc_count_messages(call, 0, 0, out->comm != NULL && out->bytes != 0,
                      out->comm != NULL && out->bytes == 0);
}

/* --- persistent --- */

struct partitioned { /* requests of one communicator, peer, tag and direction */
    uint64_t comm;
    int32_t peer, tag;
    bool send;
    uint32_t count;
};
static struct partitioned *partitioned;
static size_t n_partitioned, cap_partitioned;

static uint32_t count_partitioned(const struct lc_msg *msg, bool send) {
    uint32_t count = 1;
    pthread_mutex_lock(&lc_core.lock);
    size_t i = 0;
    while (i < n_partitioned &&
           (partitioned[i].comm != msg->comm->uid || partitioned[i].peer != msg->peer ||
            partitioned[i].tag != msg->tag || partitioned[i].send != send))
        i++;
    if (i < n_partitioned)
        count = ++partitioned[i].count;
    else if (lc_grow(&partitioned, &cap_partitioned, i + 1, sizeof *partitioned) == LC_OK)
        partitioned[n_partitioned++] =
            (struct partitioned){msg->comm->uid, msg->peer, msg->tag, send, 1};
    pthread_mutex_unlock(&lc_core.lock);
    return count;
}

static void persistent(struct lc_call *call, int result, const struct lc_msg *msg,
                       enum lc_request_kind kind, const MPI_Request *request, uint32_t partitions) {
    if (result != MPI_SUCCESS || msg->comm == NULL)
        return;
    struct lc_request *r = lc_request_new(call, msg, *request, kind);
    if (r == NULL)
        return;
    r->persistent = true;
    r->active = false;
    struct lc_parts *parts = partitions > 0 ? calloc(1, sizeof *parts) : NULL;
    if (parts == NULL)
        return;
    parts->number = count_partitioned(msg, kind == LC_REQUEST_SEND);
    parts->partitions = partitions;
    r->parts = parts;
    r->partitioned = true;
}

void lc_send_init(struct lc_call *call, int result, uint64_t count, MPI_Datatype type, int dest,
                  int tag, MPI_Comm comm, enum lc_send_kind kind, const MPI_Request *request) {
    struct lc_msg msg;
    lc_msg_fill(call, &msg, dest, tag, comm);
    msg.kind = kind;
    msg.bytes = count * lc_type_bytes(call->thread, type);
    persistent(call, result, &msg, LC_REQUEST_SEND, request, 0);
}

void lc_recv_init(struct lc_call *call, int result, int source, int tag, MPI_Comm comm,
                  const MPI_Request *request) {
    struct lc_msg msg;
    lc_msg_fill(call, &msg, source, tag, comm);
    persistent(call, result, &msg, LC_REQUEST_RECV, request, 0);
}

void lc_partitioned_init(struct lc_call *call, int result, bool send, int partitions,
                         uint64_t count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                         const MPI_Request *request) {
    struct lc_msg msg;
    lc_msg_fill(call, &msg, peer, tag, comm);
    msg.bytes = (uint64_t)partitions * count * lc_type_bytes(call->thread, type);
    persistent(call, result, &msg, send ? LC_REQUEST_SEND : LC_REQUEST_RECV, request,
               (uint32_t)partitions);
}

static void msg_of(const struct lc_request *r, struct lc_request *request, struct lc_msg *msg) {
    *msg = (struct lc_msg){.comm = r->comm,
                           .peer = r->peer,
                           .tag = r->tag,
                           .bytes = r->kind == LC_REQUEST_SEND ? r->bytes : 0,
                           .kind = r->synchronous ? LC_SEND_SYNC
                                   : r->buffered  ? LC_SEND_BUFFERED
                                                  : LC_SEND_STANDARD,
                           .request = request,
                           .id = r->id,
                           .clocks = {{r->clocks.words[0], r->clocks.words[1]}}};
}

/* What a partitioned send tells of itself it tells when it is complete. */
static void start_parts(struct lc_request *r, struct lc_msg *msg) {
    lc_op_clocks_clear(&msg->clocks);
    atomic_store_explicit(&r->parts->n_unready, r->parts->partitions, memory_order_relaxed);
}

void lc_pready(struct lc_call *call, MPI_Request request, int count) {
    struct lc_request *r = request == MPI_REQUEST_NULL ? NULL : lc_request_find(request);
    if (r == NULL || !r->partitioned || r->kind != LC_REQUEST_SEND || count <= 0)
        return;
    uint32_t n = (uint32_t)count;
    /* acquire, release: the last of several threads comes after all others */
    if (atomic_fetch_sub_explicit(&r->parts->n_unready, n, memory_order_acq_rel) != n ||
        !(call->mode & LC_MODE_CLOCKS))
        return;
    struct lc_msg msg;
    msg_of(r, r, &msg);
    lc_clocks_send(call, &msg);
    lc_op_clocks_copy(&r->clocks, &msg.clocks);
}

/* NULL also for what MPI will refuse. */
void lc_start_begin(struct lc_call *call, int count, const MPI_Request *requests) {
    uint64_t sent = 0, sent_empty = 0;
    for (int i = 0; requests != NULL && i < count; i++) {
        struct lc_request *r = lc_request_of_handle(&requests[i]);
        if (r == NULL || !r->persistent || r->active) /* MPI will refuse one that is active */
            continue;
        r->id = lc_request_id(call->thread);
        r->posted_ticks = call->begin;
        r->path = call->entry->path;
        r->cancelled = false;
        if (r->kind == LC_REQUEST_COLL) {
            r->coll->id = r->id;
            lc_hook_coll_begin(call, r->coll);
            continue;
        }
        struct lc_msg msg;
        msg_of(r, r, &msg);
        if (r->kind == LC_REQUEST_SEND) {
            call->bytes_sent += r->bytes;
            sent += r->bytes != 0;
            sent_empty += r->bytes == 0;
            if (!r->partitioned)
                lc_hook_send(call, &msg);
            else
                start_parts(r, &msg);
        } else {
            lc_hook_recv(call, &msg);
        }
        lc_op_clocks_copy(&r->clocks, &msg.clocks);
        r->active = true;
    }
    call->class_bytes = call->bytes_sent;
    lc_count_messages(call, 0, 0, sent, sent_empty);
}

void lc_start_end(struct lc_call *call, int result, int count, const MPI_Request *requests) {
    for (int i = 0; requests != NULL && i < count; i++) {
        struct lc_request *r = lc_request_of_handle(&requests[i]);
        if (r == NULL || !r->persistent || r->posted_ticks != call->begin)
            continue;
        struct lc_msg msg;
        msg_of(r, r, &msg);
        if (lc_unlikely(result != MPI_SUCCESS)) { /* MPI refuses all of several */
            lc_start_failed(call, r, &msg);
            continue;
        }
        r->active = true;
        if (r->kind == LC_REQUEST_COLL)
            lc_hook_coll_end(call, r->coll);
        else if (r->kind == LC_REQUEST_SEND)
            lc_hook_send_started(call, &msg);
        else
            lc_hook_recv_started(call, &msg);
    }
}

/* --- probes --- */

void lc_probe_end(struct lc_call *call, int result, MPI_Comm comm, const MPI_Status *status) {
    struct lc_comm *c = result == MPI_SUCCESS ? lc_comm_get(call->thread, comm) : NULL;
    if (c != NULL)
        lc_hook_probed(call, c, status->MPI_SOURCE, status->MPI_TAG);
}

static struct lc_matched *all_matched;

void lc_mprobe_end(struct lc_call *call, int result, bool found, MPI_Comm comm,
                   const MPI_Message *message, const MPI_Status *status) {
    if (result != MPI_SUCCESS || !found || *message == MPI_MESSAGE_NULL ||
        *message == MPI_MESSAGE_NO_PROC)
        return;
    struct lc_matched *m = calloc(1, sizeof *m);
    if (m == NULL)
        return;
    m->handle = *message;
    m->comm = lc_comm_get(call->thread, comm);
    m->peer = status->MPI_SOURCE;
    m->tag = status->MPI_TAG;
    m->bytes = lc_status_bytes(status);
    if (m->comm != NULL)
        lc_hook_mprobed(call, m);
    pthread_mutex_lock(&lc_core.lock);
    m->next = all_matched;
    all_matched = m;
    pthread_mutex_unlock(&lc_core.lock);
}

void lc_mrecv_begin(struct lc_call *call, struct lc_msg *msg, const MPI_Message *message) {
    memset(msg, 0, sizeof *msg);
    msg->id = lc_request_id(call->thread);
    if (message == NULL)
        return;
    pthread_mutex_lock(&lc_core.lock);
    struct lc_matched **at = &all_matched;
    while (*at != NULL && (*at)->handle != *message)
        at = &(*at)->next;
    struct lc_matched *m = *at;
    if (m != NULL)
        *at = m->next;
    pthread_mutex_unlock(&lc_core.lock);
    if (m == NULL)
        return;
    msg->comm = m->comm;
    msg->peer = m->peer;
    msg->tag = m->tag;
    msg->bytes = m->bytes;
    if (msg->comm != NULL)
        lc_hook_mrecv(call, m, msg);
    free(m);
}
