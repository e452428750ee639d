/* The event trace: what happens at the points of hooks.h (called only with the mode bit set). */
#ifndef LC_MEASURE_TRACE_HOOKS_H
#define LC_MEASURE_TRACE_HOOKS_H

static inline void lc_trace_call_begin(struct lc_call *call) {
    (void)call;
}

static inline void lc_trace_call_end(struct lc_call *call) {
    (void)call;
}

static inline void lc_trace_send(struct lc_call *call, struct lc_msg *msg) {
    (void)call;
    (void)msg;
}

static inline void lc_trace_send_started(struct lc_call *call, struct lc_msg *msg) {
    (void)call;
    (void)msg;
}

static inline void lc_trace_send_done(struct lc_call *call, struct lc_msg *msg) {
    (void)call;
    (void)msg;
}

static inline void lc_trace_recv(struct lc_call *call, struct lc_msg *msg) {
    (void)call;
    (void)msg;
}

static inline void lc_trace_recv_started(struct lc_call *call, struct lc_msg *msg) {
    (void)call;
    (void)msg;
}

static inline void lc_trace_recv_done(struct lc_call *call, struct lc_msg *msg) {
    (void)call;
    (void)msg;
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
    (void)call;
    (void)n;
    (void)requests;
    (void)statuses;
}

static inline void lc_trace_tested(struct lc_call *call, int n,
                                   struct lc_request *const *requests) {
    (void)call;
    (void)n;
    (void)requests;
}

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
    (void)call;
    (void)coll;
}

static inline void lc_trace_coll_end(struct lc_call *call, struct lc_coll *coll) {
    (void)call;
    (void)coll;
}

static inline void lc_trace_comm_new(struct lc_call *call, struct lc_comm *comm) {
    (void)call;
    (void)comm;
}

static inline void lc_trace_comm_free(struct lc_call *call, struct lc_comm *comm) {
    (void)call;
    (void)comm;
}

static inline void lc_trace_init(struct lc_call *call) {
    (void)call;
}

static inline void lc_trace_finalize(struct lc_call *call) {
    (void)call;
}

static inline void lc_trace_region_begin(struct lc_call *call) {
    (void)call;
}

static inline void lc_trace_region_end(struct lc_call *call, struct lc_region_open *open) {
    (void)call;
    (void)open;
}

static inline void lc_trace_control(struct lc_call *call, bool on) {
    (void)call;
    (void)on;
}

static inline void lc_trace_thread_new(struct lc_call *call) {
    (void)call;
}

static inline void lc_trace_thread_end(struct lc_call *call) {
    (void)call;
}

#endif
