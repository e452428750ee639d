/* What the generated wrappers do before and after point-to-point calls that start something.
 * Bytes are booked where a send is started and where a receive completes; MPI_PROC_NULL is no
 * message. */
#ifndef LC_MEASURE_WRAPPERS_MESSAGES_H
#define LC_MEASURE_WRAPPERS_MESSAGES_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "format/raw.h"
#include "format/state.h"
#include "measure/mpi/operations.h"
#include "measure/mpi/request.h"
#include "measure/core/core.h"
#include "measure/hot/hot.h"
#include "measure/callpath/entry.h"
#include "measure/core/thread.h"
#include "measure/samples/counting.h"

/* Calls that MPI refused and operations that failed: what was begun for them is taken back. A
 * receive whose message was longer than its buffer (class MPI_ERR_TRUNCATE) has got its message
 * all the same. */

/* The call has done nothing: an argument is not valid. */
bool lc_was_refused(int result);
/* A send was refused or failed: what was begun for it is taken back. */
void lc_send_failed(struct lc_call *call, struct lc_msg *msg);
/* A receive was refused or failed: what was begun for it is taken back; a truncated message keeps
 * its place. status NULL: not known. */
void lc_recv_failed(struct lc_call *call, struct lc_msg *msg, int result, const MPI_Status *status);
/* MPI_Sendrecv was refused or failed: what was begun for its halves is taken back. */
void lc_sendrecv_failed(struct lc_call *call, struct lc_msg *out, struct lc_msg *in, int result,
                        const MPI_Status *status);
/* A collective operation was refused or failed: what was begun for it is taken back. */
void lc_coll_failed(struct lc_call *call, struct lc_coll *coll, int result);
/* A persistent request could not be started: what was begun for its message is taken back. */
void lc_start_failed(struct lc_call *call, struct lc_request *r, struct lc_msg *msg);

/* How many messages a call had. */

/* The number of point-to-point messages of calls that can have other than one, in a row of its own
 * (see LC_RAW_CLASS_MESSAGES). */
static inline void lc_count_messages(struct lc_call *call, uint64_t rcvd, uint64_t rcvd_empty,
                                     uint64_t sent, uint64_t sent_empty) {
    if ((rcvd | rcvd_empty | sent | sent_empty) == 0)
        return;
    struct lc_state_row *row = lc_row(call->thread, call->entry->path, LC_RAW_CLASS_MESSAGES);
    row->count += rcvd;
    row->sum += rcvd_empty;
    row->min += sent;
    row->max += sent_empty;
}

static inline void lc_msg_fill(struct lc_call *call, struct lc_msg *msg, int peer, int tag,
                               MPI_Comm comm) {
    msg->comm = lc_comm_get(call->thread, comm);
    msg->peer = peer;
    msg->tag = tag;
    msg->bytes = 0;
    msg->request = NULL;
    msg->id = 0;
    lc_op_clocks_clear(&msg->clocks);
    msg->kind = LC_SEND_STANDARD;
    if (lc_unlikely(peer == MPI_PROC_NULL))
        msg->comm = NULL; /* no message */
}

static inline void lc_send_begin(struct lc_call *call, struct lc_msg *msg, uint64_t count,
                                 MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                                 enum lc_send_kind kind) {
    lc_msg_fill(call, msg, dest, tag, comm);
    msg->kind = kind;
    if (lc_unlikely(msg->comm == NULL)) {
        call->flags |= LC_RAW_ROW_NULL;
        return;
    }
    msg->bytes = count * lc_type_bytes(call->thread, type);
    call->bytes_sent += msg->bytes;
    call->class_bytes = msg->bytes;
    lc_counting_sent(call, msg->bytes);
    lc_hook_send(call, msg);
}

static inline void lc_send_end(struct lc_call *call, struct lc_msg *msg, int result) {
    if (lc_unlikely(msg->comm == NULL))
        return;
    if (lc_likely(result == MPI_SUCCESS))
        lc_hook_send_done(call, msg);
    else
        lc_send_failed(call, msg);
}

static inline void lc_isend_begin(struct lc_call *call, struct lc_msg *msg, uint64_t count,
                                  MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                                  enum lc_send_kind kind) {
    lc_send_begin(call, msg, count, type, dest, tag, comm, kind);
    msg->id = lc_request_id(call->thread);
}

/* Books what a request needs to be known by when it completes. */
static inline struct lc_request *lc_request_new(struct lc_call *call, const struct lc_msg *msg,
                                                MPI_Request handle, enum lc_request_kind kind) {
    struct lc_request *r = lc_request_insert(call->thread, handle, kind);
    if (r == NULL)
        return NULL;
    r->fn = call->fn;
    r->comm = msg->comm;
    r->peer = msg->peer;
    r->tag = msg->tag;
    r->bytes = msg->bytes;
    r->synchronous = msg->kind == LC_SEND_SYNC;
    r->buffered = msg->kind == LC_SEND_BUFFERED || msg->kind == LC_SEND_READY;
    lc_op_clocks_copy(&r->clocks, &msg->clocks);
    r->id = msg->id;
    r->posted_ticks = call->begin;
    r->path = call->entry->path;
    r->active = true;
    return r;
}

static inline void lc_isend_end(struct lc_call *call, struct lc_msg *msg, int result,
                                const MPI_Request *request) {
    if (lc_unlikely(msg->comm == NULL))
        return;
    if (lc_unlikely(result != MPI_SUCCESS)) {
        lc_send_failed(call, msg);
        return;
    }
    msg->request = lc_request_new(call, msg, *request, LC_REQUEST_SEND);
    lc_hook_send_started(call, msg);
}

static inline void lc_recv_begin(struct lc_call *call, struct lc_msg *msg, int source, int tag,
                                 MPI_Comm comm) {
    lc_msg_fill(call, msg, source, tag, comm);
    if (lc_likely(msg->comm != NULL))
        lc_hook_recv(call, msg);
}

static inline void lc_recv_end(struct lc_call *call, struct lc_msg *msg, int result,
                               const MPI_Status *status) {
    if (lc_unlikely(msg->comm == NULL || result != MPI_SUCCESS)) {
        call->flags |= LC_RAW_ROW_NULL;
        if (msg->comm != NULL)
            lc_recv_failed(call, msg, result, status);
        return;
    }
    msg->peer = status->MPI_SOURCE;
    msg->tag = status->MPI_TAG;
    msg->bytes = lc_status_bytes(status);
    call->bytes_rcvd += msg->bytes;
    call->class_bytes = msg->bytes;
    lc_hook_recv_done(call, msg);
}

static inline void lc_irecv_begin(struct lc_call *call, struct lc_msg *msg, int source, int tag,
                                  MPI_Comm comm) {
    lc_msg_fill(call, msg, source, tag, comm);
    msg->id = lc_request_id(call->thread);
    if (lc_likely(msg->comm != NULL))
        lc_hook_recv(call, msg);
}

static inline void lc_irecv_end(struct lc_call *call, struct lc_msg *msg, int result,
                                const MPI_Request *request) {
    if (lc_unlikely(msg->comm == NULL || result != MPI_SUCCESS)) {
        call->flags |= LC_RAW_ROW_NULL;
        if (msg->comm != NULL)
            lc_recv_failed(call, msg, result, NULL);
        return;
    }
    msg->request = lc_request_new(call, msg, *request, LC_REQUEST_RECV);
    lc_hook_recv_started(call, msg);
}

static inline void lc_sendrecv_begin(struct lc_call *call, struct lc_msg *out, struct lc_msg *in,
                                     uint64_t count, MPI_Datatype type, int dest, int sendtag,
                                     int source, int recvtag, MPI_Comm comm) {
    lc_send_begin(call, out, count, type, dest, sendtag, comm, LC_SEND_STANDARD);
    call->flags = 0;
    lc_recv_begin(call, in, source, recvtag, comm);
}

static inline void lc_sendrecv_end(struct lc_call *call, struct lc_msg *out, struct lc_msg *in,
                                   int result, const MPI_Status *status) {
    uint64_t sent = 0, sent_empty = 0, rcvd = 0, rcvd_empty = 0;
    if (lc_unlikely(result != MPI_SUCCESS)) {
        lc_sendrecv_failed(call, out, in, result, status);
        return;
    }
    if (lc_likely(out->comm != NULL)) {
        sent = out->bytes != 0;
        sent_empty = out->bytes == 0;
        lc_hook_send_done(call, out);
    }
    if (lc_likely(in->comm != NULL)) {
        lc_recv_end(call, in, result, status);
        rcvd = in->bytes != 0;
        rcvd_empty = in->bytes == 0;
    }
    call->class_bytes = out->bytes > in->bytes ? out->bytes : in->bytes;
    lc_count_messages(call, rcvd, rcvd_empty, sent, sent_empty);
}

/* Messages in calls that are made seldom enough to stay out of line: MPI_Isendrecv, what makes
 * persistent and partitioned requests and starts them, and matched probes. Called by the generated
 * wrappers; `result` is what MPI returned. */

/* MPI_Isendrecv: a send and a receive that have one request. */
void lc_isendrecv_begin(struct lc_call *call, struct lc_msg *out, struct lc_msg *in, uint64_t count,
                        MPI_Datatype type, int dest, int sendtag, int source, int recvtag,
                        MPI_Comm comm);
/* After it: the one request gets both halves. */
void lc_isendrecv_end(struct lc_call *call, struct lc_msg *out, struct lc_msg *in, int result,
                      const MPI_Request *request);
/* Persistent and partitioned requests. result: of MPI; the request is read if it succeeded. */
void lc_send_init(struct lc_call *call, int result, uint64_t count, MPI_Datatype type, int dest,
                  int tag, MPI_Comm comm, enum lc_send_kind kind, const MPI_Request *request);
/* After MPI_Recv_init: notes the persistent request of a receive. */
void lc_recv_init(struct lc_call *call, int result, int source, int tag, MPI_Comm comm,
                  const MPI_Request *request);

/* Before partitions of a send become ready. */
void lc_pready(struct lc_call *call, MPI_Request request, int count);
/* MPI_Psend_init and MPI_Precv_init. */
void lc_partitioned_init(struct lc_call *call, int result, bool send, int partitions,
                         uint64_t count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                         const MPI_Request *request);
/* Before MPI_Start and MPI_Startall. */
void lc_start_begin(struct lc_call *call, int count, const MPI_Request *requests);
/* After them; requests are read as far as MPI has started them. */
void lc_start_end(struct lc_call *call, int result, int count, const MPI_Request *requests);
/* After MPI_Probe. */
void lc_probe_end(struct lc_call *call, int result, MPI_Comm comm, const MPI_Status *status);
/* After MPI_Mprobe and MPI_Improbe: remembers the message if one was found. */
void lc_mprobe_end(struct lc_call *call, int result, bool found, MPI_Comm comm,
                   const MPI_Message *message, const MPI_Status *status);
/* Before MPI_Mrecv and MPI_Imrecv: what is known of the message. */
void lc_mrecv_begin(struct lc_call *call, struct lc_msg *msg, const MPI_Message *message);

#endif
