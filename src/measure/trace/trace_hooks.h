/* The event trace: what happens at the points of hooks.h (called only with the mode bit set).
 * Records go straight into the thread's chunk in shared memory (format/trace_record.h): 24 bytes
 * and two stores of time for a call, 24 to 32 more for a message or collective; no lock, no
 * allocation, no system call but where a chunk is full (trace_area.c). Nothing is recorded while
 * measurement is off; of requests, the completion is recorded if the start was (request->trace). */
#ifndef LC_MEASURE_TRACE_TRACE_HOOKS_H
#define LC_MEASURE_TRACE_TRACE_HOOKS_H

#include "base/timer.h"
#include "format/trace_defs.h"
#include "format/trace_record.h"

struct lc_coll;
struct lc_msg;
struct lc_matched;

/* trace_area.c */
void lc_trace_start(void); /* once, when the state exists: makes the area if tracing is asked for */
struct lc_trace_stream *lc_trace_stream_new(struct lc_thread *thread,
                                            uint64_t begin_ticks); /* NULL: no room */
uint64_t *
lc_trace_refill(struct lc_trace_stream *stream,
                unsigned words); /* never NULL; a place nobody reads if the stream stopped */
/* at the end of a call: gets room for the next ones, flushing if need be */
void lc_trace_renew(struct lc_trace_stream *stream);
/* definitions.c */
void lc_trace_define_process(void);
/* A measured offset between this node's clock and that of rank 0: at `ticks` of this process (as
 * lc_ticks gives them), global time - local time; nothing if no trace is written. */
void lc_trace_define_clock(uint64_t ticks, int64_t offset_ticks, uint64_t deviation_ticks);
void lc_trace_define_name(bool window, uint32_t id, const char *name);
void lc_trace_define_comm(struct lc_comm *comm, struct lc_comm *parent);
/* A test makes this process believe in another clock (base/timer.h). */
void lc_trace_define_bend(uint64_t base_ticks, double ns_per_tick,
                          const struct lc_timer_bend *bend);
uint32_t lc_trace_define_string(const char *text, enum lc_def_string use);
/* trace_sites.c: of a call path that was not seen before */
void lc_trace_sites(const struct lc_entry *entry);
/* trace_unify.c */
void lc_trace_close(void); /* once, behind MPI_Finalize's end stamp; collective if lc_core.agreed */
/* trace_calls.c: everything seldom or long */
void lc_trace_completed_cold(struct lc_call *call, int n, struct lc_request *const *requests,
                             const MPI_Status *statuses);
void lc_trace_tested_cold(struct lc_trace_stream *stream, const struct lc_request *request);
void lc_trace_coll_write(struct lc_call *call, struct lc_coll *coll, bool nonblocking);

/* trace_calls.c: a constructor over `parent`; MPI_Comm_set_name */
void lc_trace_made_from(struct lc_call *call, struct lc_comm *parent);
void lc_trace_comm_named(struct lc_call *call, struct lc_comm *comm, const char *name);
/* trace_calls.c: a communicator that no constructor announced (MPI_Comm_idup, ..) */
void lc_trace_comm_found(struct lc_call *call, struct lc_comm *comm);

enum {
    /* free behind every call: most calls need no check that fails */
    LC_TRACE_MARGIN_WORDS = 64
};

#define LC_TRACE_RECORDING (LC_MODE_TRACE | LC_MODE_ON)

static inline struct lc_trace_stream *lc_trace_stream_of(const struct lc_call *call) {
    return lc_likely((call->mode & LC_TRACE_RECORDING) == LC_TRACE_RECORDING) ? call->thread->trace
                                                                              : NULL;
}

static inline uint64_t *lc_trace_room(struct lc_trace_stream *s, unsigned words) {
    return lc_likely(s->next + words <= s->limit) ? s->next : lc_trace_refill(s, words);
}

/* The words before `end` are complete: whoever reads the stream after this process was killed sees
 * them or does not. */
static inline void lc_trace_commit(struct lc_trace_stream *s, uint64_t *end) {
    atomic_signal_fence(memory_order_release);
    s->next = end;
}

static inline void lc_trace_put1(struct lc_trace_stream *s, uint64_t a) {
    uint64_t *p = lc_trace_room(s, 1);
    p[0] = a;
    lc_trace_commit(s, p + 1);
}

static inline void lc_trace_put2(struct lc_trace_stream *s, uint64_t a, uint64_t b) {
    uint64_t *p = lc_trace_room(s, 2);
    p[0] = a;
    p[1] = b;
    lc_trace_commit(s, p + 2);
}

static inline void lc_trace_put3(struct lc_trace_stream *s, uint64_t a, uint64_t b, uint64_t c) {
    uint64_t *p = lc_trace_room(s, 3);
    p[0] = a;
    p[1] = b;
    p[2] = c;
    lc_trace_commit(s, p + 3);
}

static inline void lc_trace_put4(struct lc_trace_stream *s, uint64_t a, uint64_t b, uint64_t c,
                                 uint64_t d) {
    uint64_t *p = lc_trace_room(s, 4);
    p[0] = a;
    p[1] = b;
    p[2] = c;
    p[3] = d;
    lc_trace_commit(s, p + 4);
}

/* Not left out by its size. */
static inline bool lc_trace_sized(const struct lc_trace_stream *s, uint64_t bytes) {
    return lc_likely(bytes - s->min_bytes <= s->more_bytes);
}

static inline uint32_t lc_trace_comm_id(struct lc_call *call, struct lc_comm *comm) {
    if (lc_unlikely(comm->trace == NULL))
        lc_trace_comm_found(call, comm);
    return comm->id;
}

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
    if (lc_unlikely(s->next + LC_TRACE_MARGIN_WORDS > s->limit))
        lc_trace_renew(s);
}

static inline void lc_trace_send(struct lc_call *call, struct lc_msg *msg) {
    (void)call;
    (void)msg;
}

/* When the call returned: so a start that failed leaves no record. The time of the record is the
 * begin of the call. */
static inline void lc_trace_send_done(struct lc_call *call, struct lc_msg *msg) {
    struct lc_trace_stream *s = lc_trace_stream_of(call);
    int members = msg->comm->inter ? msg->comm->remote_size : msg->comm->size;
    if (lc_likely(s != NULL) &&
        lc_likely((unsigned)msg->peer < (unsigned)members) && /* else: refused */
        lc_trace_sized(s, msg->bytes))
        lc_trace_put3(
            s, lc_rec_pair(LC_REC_SEND, lc_trace_comm_id(call, msg->comm), (uint32_t)msg->peer),
            (uint32_t)msg->tag, msg->bytes);
}

static inline void lc_trace_send_started(struct lc_call *call, struct lc_msg *msg) {
    struct lc_trace_stream *s = lc_trace_stream_of(call);
    if (lc_unlikely(s == NULL) || !lc_trace_sized(s, msg->bytes))
        return;
    lc_trace_put4(s,
                  lc_rec_pair(LC_REC_ISEND, lc_trace_comm_id(call, msg->comm), (uint32_t)msg->peer),
                  (uint32_t)msg->tag, msg->bytes, msg->id);
    if (lc_likely(msg->request != NULL))
        msg->request->trace = 1;
    else /* MPI gave a handle that many requests share, since this one is complete already */
        lc_trace_put1(s, lc_rec_word(LC_REC_ISEND_DONE, msg->id));
}

static inline void lc_trace_recv(struct lc_call *call, struct lc_msg *msg) {
    (void)call;
    (void)msg;
}

static inline void lc_trace_recv_started(struct lc_call *call, struct lc_msg *msg) {
    struct lc_trace_stream *s = lc_trace_stream_of(call);
    if (lc_unlikely(s == NULL || msg->request == NULL))
        return;
    lc_trace_put1(s, lc_rec_word(LC_REC_IRECV_POST, msg->id));
    msg->request->trace = 1;
}

static inline void lc_trace_recv_done(struct lc_call *call, struct lc_msg *msg) {
    struct lc_trace_stream *s = lc_trace_stream_of(call);
    if (lc_likely(s != NULL) && lc_likely(msg->peer >= 0) && lc_trace_sized(s, msg->bytes))
        lc_trace_put3(
            s, lc_rec_pair(LC_REC_RECV, lc_trace_comm_id(call, msg->comm), (uint32_t)msg->peer),
            (uint32_t)msg->tag, msg->bytes);
}

static inline void lc_trace_completing(struct lc_call *call, int n,
                                       struct lc_request *const *requests) {
    (void)call;
    (void)n;
    (void)requests;
}

static inline void lc_trace_completed(struct lc_call *call, int n,
                                      struct lc_request *const *requests,
                                      const MPI_Status *statuses) {
    lc_trace_completed_cold(call, n, requests, statuses);
}

static inline void lc_trace_tested(struct lc_call *call, int n,
                                   struct lc_request *const *requests) {
    struct lc_trace_stream *s = lc_trace_stream_of(call);
    for (int i = 0; s != NULL && i < n; i++)
        if (requests[i] != NULL && requests[i]->trace != 0)
            lc_trace_tested_cold(s, requests[i]);
}

/* Recorded when the request is completed: only then it is known whether it was cancelled. */
static inline void lc_trace_cancel(struct lc_call *call, struct lc_request *request) {
    (void)call;
    (void)request;
}

static inline void lc_trace_request_free(struct lc_call *call, struct lc_request *request) {
    (void)call;
    (void)request;
}

static inline void lc_trace_mprobed(struct lc_call *call, struct lc_matched *matched) {
    (void)call;
    (void)matched;
}

static inline void lc_trace_mrecv(struct lc_call *call, struct lc_matched *matched,
                                  struct lc_msg *msg) {
    (void)call;
    (void)matched;
    (void)msg;
}

static inline void lc_trace_coll_begin(struct lc_call *call, struct lc_coll *coll) {
    if (lc_likely(!coll->nonblocking && !coll->persistent && coll->comm != NULL))
        lc_trace_coll_write(call, coll, false);
}

static inline void lc_trace_coll_end(struct lc_call *call, struct lc_coll *coll) {
    if (lc_unlikely((coll->nonblocking || coll->persistent) && coll->comm != NULL))
        lc_trace_coll_write(call, coll, true);
}

/* trace_calls.c */
void lc_trace_comm_new(struct lc_call *call, struct lc_comm *comm);
void lc_trace_comm_free(struct lc_call *call, struct lc_comm *comm);
void lc_trace_init(struct lc_call *call);
void lc_trace_finalize(struct lc_call *call);
void lc_trace_control(struct lc_call *call, bool on);
void lc_trace_thread_new(struct lc_call *call);
void lc_trace_thread_end(struct lc_call *call);

/* An outermost region by name is a phase: its name becomes a parameter. */
void lc_trace_phase(struct lc_call *call);

static inline void lc_trace_region_begin(struct lc_call *call) {
    struct lc_trace_stream *s = lc_trace_stream_of(call);
    if (lc_unlikely(s == NULL))
        return;
    lc_trace_put2(s, lc_rec_word(LC_REC_REGION_IN, call->begin - s->base_ticks),
                  call->entry->path->node | (uint64_t)call->common << 32);
    if (call->thread->n_named == 0)
        lc_trace_phase(call);
}

static inline void lc_trace_region_end(struct lc_call *call, struct lc_region_open *open) {
    struct lc_trace_stream *s = lc_trace_stream_of(call);
    (void)open;
    if (lc_unlikely(s == NULL))
        return;
    lc_trace_put1(s, lc_rec_word(LC_REC_REGION_OUT, call->begin - s->base_ticks));
    if (lc_unlikely(s->next + LC_TRACE_MARGIN_WORDS > s->limit))
        lc_trace_renew(s);
}

#endif
