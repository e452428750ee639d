/* The event trace: what happens at the hooks of hot.h (called only with the mode bit set).
 * Records go straight into the thread's chunk in shared memory (format/trace_record.h): 24 bytes
 * and two stores of time for a call, 24 to 32 more for a message or collective; no lock, no
 * allocation, no system call but where a chunk is full (trace_area.c). Nothing is recorded while
 * measurement is off; of requests, the completion is recorded if the start was (request->trace). */
#ifndef LC_MEASURE_TRACE_TRACE_HOOKS_H
#define LC_MEASURE_TRACE_TRACE_HOOKS_H

#include <mpi.h>
#include <stdint.h>
#include <stdbool.h>

#include "format/trace_record.h"
#include "measure/mpi/handles.h"
#include "measure/mpi/operations.h"
#include "measure/mpi/request.h"
#include "measure/core/core.h"
#include "measure/callpath/entry.h"
#include "measure/core/thread.h"
#include "measure/trace/trace_area.h"

/* Records that are seldom, or of which a call may write many. */

extern const struct lc_part lc_trace_part;

/* Records of requests that completed, with more than the hot path knows. */
void lc_trace_completed(struct lc_call *call, int n, struct lc_request *const *requests,
                        const MPI_Status *statuses);
/* A request that was tested, and not complete. */
void lc_trace_tested_cold(struct lc_trace_stream *stream, const struct lc_request *request);
/* The record of a collective operation that completed. */
void lc_trace_coll_write(struct lc_call *call, struct lc_coll *coll, bool nonblocking);

/* It came to no end; a message that it was to receive is not in the trace. */
void lc_trace_request_failed(struct lc_call *call, struct lc_request *request);

/* A constructor over `parent` was called. */
void lc_trace_made_from(struct lc_call *call, struct lc_comm *parent);
/* After MPI_Comm_set_name: the name is a definition. */
void lc_trace_comm_named(struct lc_call *call, struct lc_comm *comm, const char *name);
/* Its Cartesian topology. */
void lc_trace_comm_grid(struct lc_call *call, struct lc_comm *comm, const struct lc_grid *grid);

/* the ranks of `comm` that this one receives from in neighbourhood operations */
void lc_trace_define_neighbours(struct lc_call *call, struct lc_comm *comm, const int *sources,
                                int n);

/* A constructor has made this communicator, or it was found without one (MPI_Comm_idup, ..): it
 * gets its definition. */
void lc_trace_comm_new(struct lc_call *call, struct lc_comm *comm);
/* A communicator is being freed: a record. */
void lc_trace_comm_free(struct lc_call *call, struct lc_comm *comm);
/* The number of a communicator in records. */
static inline uint32_t lc_trace_comm_id(struct lc_call *call, struct lc_comm *comm) {
    if (lc_unlikely(comm->trace == NULL))
        lc_trace_comm_new(call, comm);
    return comm->id;
}

/* An outermost region by name is a phase: its name becomes a parameter. */
void lc_trace_phase(struct lc_call *call);

static inline void lc_trace_call_begin(struct lc_call *call) {
    struct lc_trace_stream *s = lc_trace_stream_of(call);
    if (lc_likely(s != NULL))
        lc_trace_put2(s, lc_rec_word(LC_REC_CALL, call->begin - s->base_ticks),
                      call->entry->path->node | (uint64_t)call->common << 32);
}

static inline void lc_trace_call_end(struct lc_call *call) {
    struct lc_trace_stream *s = lc_trace_stream_of(call);
    if (lc_unlikely(s == NULL))
        return;
    lc_trace_put1(s, lc_rec_word(LC_REC_EXIT, call->end - s->base_ticks));
    lc_trace_renew_if_full(s);
}

/* When the call returned: so a start that failed leaves no record. The time of the record is the
 * begin of the call. */
static inline void lc_trace_send_done(struct lc_call *call, struct lc_msg *msg) {
    struct lc_trace_stream *s = lc_trace_stream_of(call);
    int members = msg->comm->inter ? msg->comm->remote_size : msg->comm->size;
    if (lc_unlikely((unsigned)msg->peer >= (unsigned)members)) /* refused */
        return;
    if (lc_unlikely(s == NULL))
        lc_trace_outside(call, msg, LC_HALF_SEND);
    else if (lc_trace_sized(s, msg->bytes))
        lc_trace_put3(
            s, lc_rec_pair(LC_REC_SEND, lc_trace_comm_id(call, msg->comm), (uint32_t)msg->peer),
            (uint32_t)msg->tag, msg->bytes);
}

static inline void lc_trace_send_started(struct lc_call *call, struct lc_msg *msg) {
    struct lc_trace_stream *s = lc_trace_stream_of(call);
    if (lc_unlikely(s == NULL)) {
        lc_trace_outside(call, msg, LC_HALF_SEND);
        return;
    }
    if (!lc_trace_sized(s, msg->bytes))
        return;
    lc_trace_put4(s,
                  lc_rec_pair(LC_REC_ISEND, lc_trace_comm_id(call, msg->comm), (uint32_t)msg->peer),
                  (uint32_t)msg->tag, msg->bytes, msg->id);
    if (lc_likely(msg->request != NULL))
        msg->request->trace = 1;
    else /* MPI gave a handle that many requests share, since this one is complete already */
        lc_trace_put1(s, lc_rec_word(LC_REC_ISEND_DONE, msg->id));
}

static inline void lc_trace_recv_started(struct lc_call *call, struct lc_msg *msg) {
    struct lc_trace_stream *s = lc_trace_stream_of(call);
    if (lc_unlikely(s == NULL || msg->request == NULL)) {
        if (msg->request != NULL && lc_tracing.counts)
            msg->request->gap = lc_tracing.stretch + 1;
        return;
    }
    lc_trace_put1(s, lc_rec_word(LC_REC_IRECV_POST, msg->id));
    msg->request->trace = 1;
    msg->request->gap = (uint32_t)s->window;
}

static inline void lc_trace_recv_done(struct lc_call *call, struct lc_msg *msg) {
    struct lc_trace_stream *s = lc_trace_stream_of(call);
    if (lc_unlikely(msg->peer < 0))
        return;
    if (lc_unlikely(s == NULL))
        lc_trace_outside(call, msg, LC_HALF_RECEIVE);
    else if (lc_trace_sized(s, msg->bytes))
        lc_trace_put3(
            s, lc_rec_pair(LC_REC_RECV, lc_trace_comm_id(call, msg->comm), (uint32_t)msg->peer),
            (uint32_t)msg->tag, msg->bytes);
}

static inline void lc_trace_tested(struct lc_call *call, int n,
                                   struct lc_request *const *requests) {
    struct lc_trace_stream *s = lc_trace_stream_of(call);
    for (int i = 0; s != NULL && i < n; i++)
        if (requests[i] != NULL && requests[i]->trace != 0)
            lc_trace_tested_cold(s, requests[i]);
}

static inline void lc_trace_coll_begin(struct lc_call *call, struct lc_coll *coll) {
    if (lc_likely(!coll->nonblocking && !coll->persistent && coll->comm != NULL))
        lc_trace_coll_write(call, coll, false);
}

static inline void lc_trace_coll_end(struct lc_call *call, struct lc_coll *coll) {
    if (lc_unlikely((coll->nonblocking || coll->persistent) && coll->comm != NULL))
        lc_trace_coll_write(call, coll, true);
}

static inline void lc_trace_region_begin(struct lc_call *call, bool named) {
    if (lc_unlikely(lc_tracing.windows))
        lc_trace_window_region_begin(call);
    struct lc_trace_stream *s = lc_trace_stream_of(call);
    if (lc_unlikely(s == NULL))
        return;
    lc_trace_put2(s, lc_rec_word(LC_REC_REGION_IN, call->begin - s->base_ticks),
                  call->entry->path->node | (uint64_t)call->common << 32);
    if (named && call->thread->n_named == 0)
        lc_trace_phase(call);
}

static inline void lc_trace_region_end(struct lc_call *call, struct lc_region_open *open) {
    struct lc_trace_stream *s = lc_trace_stream_of(call);
    if (lc_unlikely(s == NULL || open->traced != lc_tracing.window + 1))
        return;
    lc_trace_put1(s, lc_rec_word(LC_REC_REGION_OUT, call->begin - s->base_ticks));
    lc_trace_renew_if_full(s);
    if (lc_unlikely(lc_tracing.windows))
        lc_trace_window_region_end(call, open);
}

/* MPI-IO in the trace: nothing is done unless a trace is written. */

/* files, for the trace only */
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
/* After MPI_File_open; result: what MPI returned. */
void lc_file_opened(struct lc_call *call, int result, MPI_Comm comm, const char *name, int amode,
                    const MPI_File *file);
/* Before MPI_File_close: takes the file's number. */
void lc_file_close_begin(struct lc_call *call, struct lc_file_op *op, MPI_File file);
/* After MPI_File_close; result: what MPI returned. */
void lc_file_close_end(struct lc_call *call, const struct lc_file_op *op, int result);
/* After MPI_File_delete; result: what MPI returned. */
void lc_file_deleted(struct lc_call *call, int result, const char *name);
/* After MPI_File_seek; shared: of the shared pointer. */
void lc_file_sought(struct lc_call *call, int result, MPI_File file, MPI_Offset offset, int whence,
                    bool shared);
/* Before a transfer of `count` elements; how: OTF2's flags. */
void lc_file_begin(struct lc_call *call, struct lc_file_op *op, MPI_File file, uint32_t how,
                   uint64_t count, MPI_Datatype type);
void lc_file_end(struct lc_call *call, const struct lc_file_op *op, int result,
                 const MPI_Status *status); /* NULL: nothing is transferred */
/* After a nonblocking transfer was started. */
void lc_file_started(struct lc_call *call, const struct lc_file_op *op, int result,
                     const MPI_Request *request);
/* After the first half of a split collective transfer. */
void lc_file_split_begun(struct lc_call *call, const struct lc_file_op *op, int result,
                         MPI_File file);
/* After the second half of a split operation; status: of what it has moved. */
void lc_file_split_ended(struct lc_call *call, int result, MPI_File file, const MPI_Status *status);

/* One-sided communication in the trace. */

/* Windows and one-sided operations (trace_rma.c, synchronising.c). */
enum lc_rma_kind { LC_RMA_PUT, LC_RMA_GET, LC_RMA_ACCUMULATE, LC_RMA_FETCH, LC_RMA_SWAP };
/* After a constructor of a window; it is read if the call succeeded. */
void lc_win_new_end(struct lc_call *call, int result, MPI_Comm comm, const MPI_Win *win);
/* Before MPI_Win_free: the window leaves the list, a record of its end is written. */
void lc_win_free_begin(struct lc_call *call, MPI_Win win);
/* After MPI_Win_set_name; result: what MPI returned. */
void lc_win_named(struct lc_call *call, int result, MPI_Win win, const char *name);
/* A one-sided operation is started: bytes to the target, and back. */
void lc_trace_rma(struct lc_call *call, enum lc_rma_kind kind, MPI_Win win, int target,
                  uint64_t bytes, uint64_t bytes_back);
/* Before an operation that synchronises windows. */
void lc_trace_win_begin(struct lc_call *call, enum lc_win_sync what, MPI_Win win);
/* After it; rank: the target, -1: none. */
void lc_trace_win_end(struct lc_call *call, enum lc_win_sync what, MPI_Win win, int rank,
                      MPI_Group group, bool shared);

#endif
