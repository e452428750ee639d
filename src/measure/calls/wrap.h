/* What the generated wrappers do before and after point-to-point calls that start something
 * (completion: complete.h, collectives: coll.h). Bytes are booked where a send is started and where
 * a receive completes; MPI_PROC_NULL is no message. */
#ifndef LC_MEASURE_CALLS_WRAP_H
#define LC_MEASURE_CALLS_WRAP_H

#include "measure/hot.h"
#include "measure/calls/request.h"

struct lc_wrapper {
    void *function;
    void **real;
};
extern const struct lc_wrapper lc_wrappers[];

/* special.c: wrappers written by hand */
int lc_wrap_init(uint32_t fn, void *frame, void *ra, int *argc, char ***argv);
int lc_wrap_init_thread(uint32_t fn, void *frame, void *ra, int *argc, char ***argv, int required,
                        int *provided);
int lc_wrap_finalize(uint32_t fn, void *frame, void *ra);
int lc_wrap_abort(uint32_t fn, void *frame, void *ra, MPI_Comm comm, int errorcode);
int lc_wrap_pcontrol(uint32_t fn, void *frame, void *ra, int level);
int lc_wrap_session_init(uint32_t fn, void *frame, void *ra, MPI_Info info,
                         MPI_Errhandler errhandler, MPI_Session *session);
int lc_wrap_session_finalize(uint32_t fn, void *frame, void *ra, MPI_Session *session);

/* trace_io.c: files, for the trace only */
enum {
    LC_FILE_READ,
    LC_FILE_WRITE,
    LC_FILE_FLUSH,
    LC_FILE_NONBLOCKING = 1 << 8,
    LC_FILE_ALL = 2 << 8
};

struct lc_file_op {
    uint32_t file; /* LC_NONE: not known, or no trace is written */
    uint64_t id, bytes;
};

void lc_file_opened(struct lc_call *call, int result, MPI_Comm comm, const char *name, int amode,
                    const MPI_File *file);
void lc_file_close_begin(struct lc_call *call, struct lc_file_op *op, MPI_File file);
void lc_file_close_end(struct lc_call *call, const struct lc_file_op *op, int result);
void lc_file_deleted(struct lc_call *call, int result, const char *name);
void lc_file_sought(struct lc_call *call, int result, MPI_File file, MPI_Offset offset, int whence,
                    bool shared);
void lc_file_begin(struct lc_call *call, struct lc_file_op *op, MPI_File file, uint32_t how,
                   uint64_t count, MPI_Datatype type);
void lc_file_end(struct lc_call *call, const struct lc_file_op *op, int result,
                 const MPI_Status *status); /* NULL: nothing is transferred */
void lc_file_started(struct lc_call *call, const struct lc_file_op *op, int result,
                     const MPI_Request *request);
void lc_file_split_begun(struct lc_call *call, const struct lc_file_op *op, int result,
                         MPI_File file);
void lc_file_split_ended(struct lc_call *call, int result, MPI_File file, const MPI_Status *status);

static inline MPI_Status *lc_own_status(MPI_Status *status, MPI_Status *own) {
    return status == MPI_STATUS_IGNORE ? own : status;
}

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
    msg->clocks[0] = msg->clocks[1] = 0;
    msg->kind = LC_SEND_STANDARD;
    if (lc_unlikely(peer == MPI_PROC_NULL))
        msg->comm = NULL; /* no message */
}

static inline void lc_msg_out(struct lc_call *call, struct lc_msg *msg, uint64_t count,
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
    lc_hook_send(call, msg);
}

static inline void lc_send_begin(struct lc_call *call, struct lc_msg *msg, uint64_t count,
                                 MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                                 enum lc_send_kind kind) {
    lc_msg_out(call, msg, count, type, dest, tag, comm, kind);
}

static inline void lc_send_end(struct lc_call *call, struct lc_msg *msg) {
    if (lc_likely(msg->comm != NULL))
        lc_hook_send_done(call, msg);
}

static inline void lc_isend_begin(struct lc_call *call, struct lc_msg *msg, uint64_t count,
                                  MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                                  enum lc_send_kind kind) {
    lc_msg_fill(call, msg, dest, tag, comm);
    msg->id = lc_request_id(call->thread);
    lc_msg_out(call, msg, count, type, dest, tag, comm, kind);
    msg->id = call->thread->next_request;
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
    r->clocks[0] = msg->clocks[0];
    r->clocks[1] = msg->clocks[1];
    r->id = msg->id;
    r->posted_ticks = call->begin;
    r->path = call->entry->path;
    r->active = true;
    return r;
}

static inline void lc_isend_end(struct lc_call *call, struct lc_msg *msg, int result,
                                const MPI_Request *request) {
    if (lc_unlikely(msg->comm == NULL || result != MPI_SUCCESS))
        return;
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
        return;
    }
    msg->request = lc_request_new(call, msg, *request, LC_REQUEST_RECV);
    lc_hook_recv_started(call, msg);
}

static inline void lc_sendrecv_begin(struct lc_call *call, struct lc_msg *out, struct lc_msg *in,
                                     uint64_t count, MPI_Datatype type, int dest, int sendtag,
                                     int source, int recvtag, MPI_Comm comm) {
    lc_msg_out(call, out, count, type, dest, sendtag, comm, LC_SEND_STANDARD);
    call->flags = 0;
    lc_recv_begin(call, in, source, recvtag, comm);
}

static inline void lc_sendrecv_end(struct lc_call *call, struct lc_msg *out, struct lc_msg *in,
                                   int result, const MPI_Status *status) {
    uint64_t sent = 0, sent_empty = 0, rcvd = 0, rcvd_empty = 0;
    if (lc_likely(out->comm != NULL)) {
        sent = out->bytes != 0;
        sent_empty = out->bytes == 0;
        lc_hook_send_done(call, out);
    }
    if (lc_likely(in->comm != NULL && result == MPI_SUCCESS)) {
        lc_recv_end(call, in, result, status);
        rcvd = in->bytes != 0;
        rcvd_empty = in->bytes == 0;
    }
    call->class_bytes = out->bytes > in->bytes ? out->bytes : in->bytes;
    lc_count_messages(call, rcvd, rcvd_empty, sent, sent_empty);
}

/* messages.c: seldom enough to stay out of line */
void lc_isendrecv_begin(struct lc_call *call, struct lc_msg *out, struct lc_msg *in, uint64_t count,
                        MPI_Datatype type, int dest, int sendtag, int source, int recvtag,
                        MPI_Comm comm);
void lc_isendrecv_end(struct lc_call *call, struct lc_msg *out, struct lc_msg *in, int result,
                      const MPI_Request *request);
void lc_send_init(struct lc_call *call, int result, uint64_t count, MPI_Datatype type, int dest,
                  int tag, MPI_Comm comm, enum lc_send_kind kind, const MPI_Request *request);
void lc_recv_init(struct lc_call *call, int result, int source, int tag, MPI_Comm comm,
                  const MPI_Request *request);
/* Before partitions of a send become ready. */
void lc_pready(struct lc_call *call, MPI_Request request, int count);
void lc_partitioned_init(struct lc_call *call, int result, bool send, int partitions,
                         uint64_t count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                         const MPI_Request *request);
void lc_start_begin(struct lc_call *call, int count, const MPI_Request *requests);
void lc_start_end(struct lc_call *call, int result, int count, const MPI_Request *requests);
void lc_mprobe_end(struct lc_call *call, int result, int flag, MPI_Comm comm,
                   const MPI_Message *message, const MPI_Status *status);
void lc_mrecv_begin(struct lc_call *call, struct lc_msg *msg, const MPI_Message *message);

/* communicators.c */
void lc_comm_new_end(struct lc_call *call, int result, MPI_Comm parent, const MPI_Comm *comm);
void lc_spawned(int result, int root, MPI_Comm comm, MPI_Comm children);
void lc_comm_named(struct lc_call *call, int result, MPI_Comm comm, const char *name);
void lc_comm_idup_end(struct lc_call *call, struct lc_coll *coll, int result, MPI_Comm parent,
                      const MPI_Comm *comm, const MPI_Request *request);
void lc_comm_idup_complete(const struct lc_request *request);
void lc_comm_free_begin(struct lc_call *call, const MPI_Comm *comm);

/* Windows and one-sided operations (trace_rma.c, synchronising.c). */
enum lc_rma_kind { LC_RMA_PUT, LC_RMA_GET, LC_RMA_ACCUMULATE, LC_RMA_FETCH, LC_RMA_SWAP };
void lc_win_new_end(struct lc_call *call, int result, MPI_Comm comm, const MPI_Win *win);
void lc_win_free_begin(struct lc_call *call, MPI_Win win);
void lc_win_named(struct lc_call *call, int result, MPI_Win win, const char *name);
void lc_trace_rma(struct lc_call *call, enum lc_rma_kind kind, MPI_Win win, int target,
                  uint64_t bytes, uint64_t bytes_back);
void lc_trace_win_begin(struct lc_call *call, enum lc_win_sync what, MPI_Win win);
void lc_trace_win_end(struct lc_call *call, enum lc_win_sync what, MPI_Win win, int rank,
                      MPI_Group group, bool shared);

static inline void lc_rma_begin(struct lc_call *call, enum lc_rma_kind kind, MPI_Win win,
                                int target, uint64_t count, MPI_Datatype type, uint64_t back_count,
                                MPI_Datatype back_type) {
    if (lc_unlikely(call->mode & LC_MODE_TRACE))
        lc_trace_rma(call, kind, win, target, count * lc_type_bytes(call->thread, type),
                     back_count ? back_count * lc_type_bytes(call->thread, back_type) : 0);
}

static inline void lc_win_sync_begin(struct lc_call *call, enum lc_win_sync what, MPI_Win win,
                                     const struct lc_win_epoch *epoch) {
    if (call->mode & LC_MODE_CLOCKS)
        lc_clocks_win_begin(call, what, win, epoch);
    if (lc_unlikely(call->mode & LC_MODE_TRACE))
        lc_trace_win_begin(call, what, win);
}

static inline void lc_win_sync_end(struct lc_call *call, enum lc_win_sync what, MPI_Win win,
                                   const struct lc_win_epoch *epoch, bool done) {
    if (call->mode & LC_MODE_CLOCKS)
        lc_clocks_win_end(call, what, win, epoch, done);
    if (lc_unlikely(call->mode & LC_MODE_TRACE) && done)
        lc_trace_win_end(call, what, win, epoch->target, epoch->group, epoch->shared);
}

/* Around a call that makes all members of `comm` wait for each other. */
static inline void lc_sync_begin(struct lc_call *call, MPI_Comm comm) {
    struct lc_comm *c = call->mode & LC_MODE_CLOCKS ? lc_comm_get(call->thread, comm) : NULL;
    if (c != NULL && !c->inter)
        lc_clocks_sync_begin(call, c);
}

static inline void lc_sync_end(struct lc_call *call) {
    if (call->mode & LC_MODE_CLOCKS)
        lc_clocks_sync_end(call);
}

static inline void lc_file_sync_begin(struct lc_call *call, MPI_File file) {
    if (call->mode & LC_MODE_CLOCKS)
        lc_clocks_file_begin(call, file);
}

/* Nonblocking ones. */
static inline void lc_idup_begin(struct lc_call *call, struct lc_coll *coll, MPI_Comm comm) {
    coll->clocks[0] = 0;
    if (call->mode & LC_MODE_CLOCKS)
        lc_clocks_idup_begin(call, coll, lc_comm_get(call->thread, comm));
}

static inline void lc_file_isync_begin(struct lc_call *call, struct lc_coll *coll, MPI_File file) {
    coll->clocks[0] = 0;
    if (call->mode & LC_MODE_CLOCKS)
        lc_clocks_file_ibegin(call, file, coll);
}

void lc_file_isync_end(struct lc_call *call, struct lc_coll *coll, int result,
                       const MPI_Request *request);

static inline void lc_file_split_sync(struct lc_call *call, MPI_File file, bool begins) {
    if (call->mode & LC_MODE_CLOCKS)
        (begins ? lc_clocks_file_split_begin : lc_clocks_file_split_end)(call, file);
}

/* A constructor whose members are only those of the new communicator. */
static inline void lc_comm_sync(struct lc_call *call, int result, MPI_Comm comm) {
    struct lc_comm *c = result == MPI_SUCCESS ? lc_comm_get(call->thread, comm) : NULL;
    if (call->mode & LC_MODE_CLOCKS && c != NULL)
        lc_clocks_comm_sync(call, c);
}

/* A constructor over the members of `comm`, behind lc_sync_end: those of both groups. */
static inline void lc_comm_sync_groups(struct lc_call *call, int result, MPI_Comm comm) {
    struct lc_comm *c = result == MPI_SUCCESS ? lc_comm_get(call->thread, comm) : NULL;
    if (call->mode & LC_MODE_CLOCKS && c != NULL && c->inter)
        lc_clocks_comm_sync(call, c);
}

static inline void lc_file_known(struct lc_call *call, int result, MPI_Comm comm, MPI_File file) {
    struct lc_comm *c = lc_comm_get(call->thread, comm);
    if (call->mode & LC_MODE_CLOCKS && result == MPI_SUCCESS && c != NULL)
        lc_clocks_file_new(file, c);
}

static inline void lc_win_made(struct lc_call *call, int result, MPI_Comm comm,
                               const MPI_Win *win) {
    lc_sync_end(call);
    lc_win_new_end(call, result, comm, win);
    struct lc_comm *c = lc_comm_get(call->thread, comm);
    if (call->mode & LC_MODE_CLOCKS && result == MPI_SUCCESS && c != NULL)
        lc_clocks_win_new(call, *win, c);
}

static inline void lc_win_freeing(struct lc_call *call, MPI_Win win) {
    lc_win_free_begin(call, win);
    if (call->mode & LC_MODE_CLOCKS)
        lc_clocks_win_free_begin(call, win);
}

static inline void lc_win_freed(struct lc_call *call, MPI_Win win) {
    if (call->mode & LC_MODE_CLOCKS)
        lc_clocks_win_free_end(call, win);
}

#include "measure/calls/complete.h"
#include "measure/calls/coll.h"

#endif
