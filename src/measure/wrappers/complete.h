/* Completion of requests: MPI_Wait*, MPI_Test*. Requests are looked up before the call, since MPI
 * forgets the handles; bytes come from the statuses, our own ones where the program ignores them.
 */
#ifndef LC_MEASURE_WRAPPERS_COMPLETE_H
#define LC_MEASURE_WRAPPERS_COMPLETE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "format/raw.h"
#include "measure/wrappers/messages.h"
#include "measure/mpi/request.h"
#include "measure/core/core.h"
#include "measure/hot/hot.h"
#include "measure/core/thread.h"

struct lc_array {
    int count;
    struct lc_request **known;
    const MPI_Request *handles;
    MPI_Status *own;
};
/* A request is complete that is neither a message nor a collective. */
void lc_complete_other(struct lc_request *r);
/* Room for as many requests as the call has, kept by the thread. false: no memory. */
bool lc_array_grow(struct lc_thread *t, struct lc_array *array);
/* MPI refused the call, or the operation failed. Its request is forgotten if it is over. */
void lc_complete_failed(struct lc_call *call, int result, struct lc_request *known,
                        const MPI_Request *request, const MPI_Status *status);
/* MPI_Waitall or MPI_Testall failed: the requests that are over are forgotten, and those of them
 * that are complete are left in array->known. */
void lc_array_failed(struct lc_call *call, struct lc_array *array, int result,
                     const MPI_Status *statuses);
/* MPI_Waitany or MPI_Testany failed; more requests than the one at *index can be over. */
void lc_any_failed(struct lc_call *call, struct lc_array *array, int result, const int *index,
                   const MPI_Status *status);

static inline struct lc_request *lc_known(MPI_Request handle) {
    if (handle == MPI_REQUEST_NULL)
        return NULL;
    struct lc_request *r = lc_request_find(handle);
    return r != NULL && r->active ? r : NULL;
}

/* requests NULL: as the program passed it; MPI will refuse. */
static inline void lc_complete_begin(struct lc_call *call, int n, const MPI_Request *requests,
                                     struct lc_request **known) {
    if (lc_unlikely(requests == NULL)) {
        for (int i = 0; i < n; i++)
            known[i] = NULL;
        return;
    }
    for (int i = 0; i < n; i++)
        known[i] = lc_known(requests[i]);
    lc_hook_completing(call, n, known);
}

/* What one completed request adds to the call; returns 1 for a receive with bytes, 2 without, 0
 * else. */
static inline int lc_complete_book(struct lc_call *call, struct lc_request *r,
                                   const MPI_Status *status) {
    if (r->kind == LC_REQUEST_RECV) {
        bool status_valid = lc_status_is_set(r, status);
        if (lc_unlikely(status_valid && lc_status_cancelled(status)))
            return 0;
        uint64_t bytes = status_valid ? lc_status_bytes(status) : 0;
        call->flags |= LC_RAW_ROW_RECV;
        call->bytes_rcvd += bytes;
        return bytes != 0 ? 1 : 2;
    }
    if (r->kind == LC_REQUEST_SEND) {
        call->flags |= LC_RAW_ROW_SEND;
        call->class_bytes += r->bytes;
    }
    return 0;
}

static inline void lc_complete_end(struct lc_request *r) {
    if (lc_unlikely(r->kind == LC_REQUEST_OTHER || r->pair != NULL))
        lc_complete_other(r);
    if (lc_unlikely(r->persistent))
        r->active = false;
    else
        lc_request_drop(r);
}

static inline void lc_complete_one(struct lc_call *call, int result, struct lc_request *known,
                                   const MPI_Request *request, const MPI_Status *status) {
    if (known == NULL)
        return;
    if (lc_unlikely(result != MPI_SUCCESS)) {
        lc_complete_failed(call, result, known, request, status);
        return;
    }
    lc_complete_book(call, known, status);
    lc_hook_completed(call, 1, &known, status);
    if (call->bytes_rcvd != 0)
        call->class_bytes = call->bytes_rcvd;
    lc_complete_end(known);
}

/* MPI_Test and MPI_Improbe at a call site of which only some calls are timed (hot/polls.h) are made
 * before it is known what they will be. */
enum lc_tried { LC_NOT_TRIED, LC_IN_VAIN, LC_TRIED };
struct lc_test {
    uint32_t fn;
    void *frame, *ra;
    MPI_Request *request;
    int *flag;
    MPI_Status *status;
    struct lc_request *known; /* LC_TRIED: what it completed, or failed to */
    int result;               /* unless LC_NOT_TRIED */
};

struct lc_look { /* MPI_Improbe */
    uint32_t fn;
    void *frame, *ra;
    int source, tag;
    MPI_Comm comm;
    int *flag;
    MPI_Message *message;
    MPI_Status *status;
    int result; /* unless LC_NOT_TRIED */
};

/* The cold half of lc_test_first: the thread has sites of which not all calls are timed. */
enum lc_tried lc_test_first_cold(struct lc_thread *t, struct lc_test *test);
/* The cold half of lc_look_first. */
enum lc_tried lc_look_first_cold(struct lc_thread *t, struct lc_look *look);

/* LC_IN_VAIN: there is nothing else to do. */
static inline enum lc_tried lc_test_first(struct lc_test *test) {
    struct lc_thread *t = LC_NOP ? NULL : lc_self;
    return lc_unlikely(t != NULL && t->counted_sites != NULL) ? lc_test_first_cold(t, test)
                                                              : LC_NOT_TRIED;
}

/* LC_IN_VAIN: there is nothing else to do. */
static inline enum lc_tried lc_look_first(struct lc_look *look) {
    struct lc_thread *t = LC_NOP ? NULL : lc_self;
    return lc_unlikely(t != NULL && t->counted_sites != NULL) ? lc_look_first_cold(t, look)
                                                              : LC_NOT_TRIED;
}

static inline void lc_test_one(struct lc_call *call, int result, struct lc_request *known,
                               const MPI_Request *request, const int *flag,
                               const MPI_Status *status) {
    bool in_vain = known != NULL && result == MPI_SUCCESS && !*flag;
    if (!in_vain)
        lc_poll_no_measure(call->thread);
    if (known == NULL)
        return;
    if (in_vain) {
        lc_hook_tested(call, 1, &known);
        lc_hook_asked(call);
        return;
    }
    lc_complete_one(call, result, known, request, status);
}

static inline void lc_array_begin(struct lc_call *call, struct lc_array *array, int count,
                                  const MPI_Request *requests, struct lc_request **few,
                                  MPI_Status *own) {
    array->count = count > 0 && requests != NULL ? count : 0;
    array->handles = requests;
    array->known = few;
    array->own = own;
    if (lc_unlikely(array->count > LC_FEW) && !lc_array_grow(call->thread, array))
        array->count = 0; /* no memory: completions stay unknown */
    lc_complete_begin(call, array->count, requests, array->known);
}

static inline MPI_Status *lc_array_statuses(struct lc_call *call, struct lc_array *array,
                                            MPI_Status *statuses) {
    (void)call;
    return statuses == MPI_STATUSES_IGNORE && array->count > 0 ? array->own : statuses;
}

/* The requests left in array->known are complete. */
static inline void lc_array_book(struct lc_call *call, struct lc_array *array,
                                 const MPI_Status *statuses) {
    uint64_t rcvd = 0, rcvd_empty = 0;
    for (int i = 0; i < array->count; i++) {
        if (array->known[i] == NULL)
            continue;
        int what = lc_complete_book(call, array->known[i], &statuses[i]);
        rcvd += what == 1;
        rcvd_empty += what == 2;
    }
    lc_hook_completed(call, array->count, array->known, statuses);
    for (int i = 0; i < array->count; i++)
        if (array->known[i] != NULL)
            lc_complete_end(array->known[i]);
    if (call->bytes_rcvd != 0)
        call->class_bytes = call->bytes_rcvd;
    lc_count_messages(call, rcvd, rcvd_empty, 0, 0);
}

static inline void lc_array_all(struct lc_call *call, struct lc_array *array, int result, bool flag,
                                const MPI_Status *statuses) {
    if (lc_unlikely(result != MPI_SUCCESS))
        lc_array_failed(call, array, result, statuses);
    else if (!flag) {
        lc_hook_tested(call, array->count, array->known);
        lc_hook_asked(call);
        return;
    }
    lc_array_book(call, array, statuses);
}

static inline void lc_array_any(struct lc_call *call, struct lc_array *array, int result, bool flag,
                                const int *index, const MPI_Status *status) {
    if (lc_unlikely(result != MPI_SUCCESS)) {
        lc_any_failed(call, array, result, index, status);
        return;
    }
    if (!flag) {
        lc_hook_tested(call, array->count, array->known);
        lc_hook_asked(call);
        return;
    }
    if (*index < 0 || *index >= array->count) /* MPI_UNDEFINED */
        return;
    lc_complete_one(call, result, array->known[*index], NULL, status);
}

/* MPI_Waitsome, MPI_Testsome: the operations that `indices` names are complete. */
void lc_array_some(struct lc_call *call, struct lc_array *array, int result, const int *outcount,
                   const int *indices, const MPI_Status *statuses);
/* Before MPI_Request_free. request NULL: MPI will refuse. */
void lc_request_free_begin(struct lc_call *call, const MPI_Request *request);
/* Before MPI_Cancel. request NULL: MPI will refuse. */
void lc_cancel_begin(const MPI_Request *request);
/* After it. A receive that was cancelled holds no place in its stream any more, whenever the
 * program completes its request, or frees it. */
void lc_cancel_end(struct lc_call *call, int result, const MPI_Request *request);

#endif
