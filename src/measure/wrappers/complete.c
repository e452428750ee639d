#include <stdlib.h>
#include <string.h>

#include "measure/wrappers/complete.h"
#include "measure/wrappers/special.h"
#include "measure/clocks/clocks_hooks.h"
#include "measure/trace/trace_hooks.h"
#include "measure/wrappers/messages.h"
#include "measure/mpi/operations.h"
#include "measure/mpi/request.h"
#include "measure/core/core.h"
#include "measure/hot/hot.h"
#include "measure/core/thread.h"

/* Calls that MPI refused and operations that failed. Under MPI_ERRORS_RETURN the program goes on,
 * so nothing of them may stay: no entry of a message that was not sent, no receive that
 * holds a place in its stream, no number of a collective that this process took no part in. */

/* MPI's class of a code; MPI_ERR_UNKNOWN if MPI does not tell. */
static int error_class(int result) {
    int class = MPI_ERR_UNKNOWN;
    if (lc_real.Error_class(result, &class) != MPI_SUCCESS)
        return MPI_ERR_UNKNOWN;
    return class;
}

bool lc_was_refused(int result) {
    static const int classes[] = {MPI_ERR_BUFFER, MPI_ERR_COUNT,    MPI_ERR_TYPE,  MPI_ERR_TAG,
                                  MPI_ERR_COMM,   MPI_ERR_RANK,     MPI_ERR_ROOT,  MPI_ERR_GROUP,
                                  MPI_ERR_OP,     MPI_ERR_TOPOLOGY, MPI_ERR_DIMS,  MPI_ERR_ARG,
                                  MPI_ERR_INFO,   MPI_ERR_REQUEST,  MPI_ERR_WIN,   MPI_ERR_FILE,
                                  MPI_ERR_SIZE,   MPI_ERR_DISP,     MPI_ERR_ASSERT};
    int class = error_class(result);
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (class == classes[i])
            return true;
    return false;
}

/* After a call that has failed, with this error for the request: it is complete. MPI is not asked:
 * where that makes complete ones inactive, the program would not get their statuses. */
static bool is_over(const struct lc_request *r, const MPI_Request *handle, int error) {
    if (!r->persistent || *handle == MPI_REQUEST_NULL)
        return *handle == MPI_REQUEST_NULL;
    return error_class(error) != MPI_ERR_PENDING && !lc_was_refused(error);
}

/* Nothing was transferred. */
static void book_nothing(struct lc_call *call) {
    call->bytes_sent = call->bytes_rcvd = call->class_bytes = 0;
}

void lc_send_failed(struct lc_call *call, struct lc_msg *msg) {
    book_nothing(call);
    call->flags |= LC_RAW_ROW_NULL;
    if (call->mode & LC_MODE_CLOCKS)
        lc_clocks_send_failed(call, msg);
}

void lc_recv_failed(struct lc_call *call, struct lc_msg *msg, int result,
                    const MPI_Status *status) {
    if (!(call->mode & LC_MODE_CLOCKS))
        return;
    if (status == NULL || error_class(result) != MPI_ERR_TRUNCATE) {
        lc_clocks_recv_failed(call, msg);
        return;
    }
    msg->peer = status->MPI_SOURCE;
    msg->tag = status->MPI_TAG;
    lc_clocks_recv_truncated(call, msg);
}

void lc_sendrecv_failed(struct lc_call *call, struct lc_msg *out, struct lc_msg *in, int result,
                        const MPI_Status *status) {
    bool sent = status != NULL && error_class(result) == MPI_ERR_TRUNCATE;
    if (out->comm != NULL && sent) {
        lc_hook_send_done(call, out);
        lc_count_messages(call, 0, 0, out->bytes != 0, out->bytes == 0);
    } else if (out->comm != NULL) {
        lc_send_failed(call, out);
    }
    if (in->comm != NULL)
        lc_recv_failed(call, in, result, status);
    call->flags = 0;
}

void lc_coll_failed(struct lc_call *call, struct lc_coll *coll, int result) {
    book_nothing(call);
    if (call->mode & LC_MODE_CLOCKS)
        lc_clocks_coll_failed(call, coll, lc_was_refused(result));
}

void lc_start_failed(struct lc_call *call, struct lc_request *r, struct lc_msg *msg) {
    r->active = false;
    book_nothing(call);
    if (!(call->mode & LC_MODE_CLOCKS))
        return;
    if (r->kind == LC_REQUEST_COLL)
        lc_clocks_coll_failed(call, r->coll, true);
    else if (r->kind == LC_REQUEST_SEND)
        lc_clocks_send_failed(call, msg);
    else
        lc_clocks_recv_failed(call, msg);
    lc_op_clocks_clear(&r->clocks);
}

void lc_complete_other(struct lc_request *r) {
    if (r->kind == LC_REQUEST_OTHER)
        lc_comm_idup_complete(r);
    free(r->pair);
    r->pair = NULL;
}

/* Room for `count` requests: known ones, the compact list of MPI_Waitsome, statuses. */
bool lc_array_grow(struct lc_thread *t, struct lc_array *array) {
    size_t n = (size_t)array->count;
    if (n > t->cap_scratch) {
        struct lc_request **requests = malloc(2 * n * sizeof(struct lc_request *));
        MPI_Status *statuses = malloc(n * sizeof *statuses);
        if (requests == NULL || statuses == NULL) {
            free(requests);
            free(statuses);
            return false;
        }
        free(t->scratch_requests);
        free(t->scratch_statuses);
        t->scratch_requests = requests;
        t->scratch_statuses = statuses;
        t->cap_scratch = n;
    }
    array->known = t->scratch_requests;
    array->own = t->scratch_statuses;
    return true;
}

/* status NULL: not known. */
static void request_failed(struct lc_call *call, struct lc_request *r, int result,
                           const MPI_Request *handle, const MPI_Status *status) {
    bool came = r->kind == LC_REQUEST_RECV && error_class(result) == MPI_ERR_TRUNCATE;
    if (call->mode & LC_MODE_TRACE)
        lc_trace_request_failed(call, r);
    if (call->mode & LC_MODE_CLOCKS && came && status != NULL)
        lc_clocks_truncated(call, r, status);
    else if (call->mode & LC_MODE_CLOCKS)
        lc_clocks_request_failed(call, r);
    if (*handle == MPI_REQUEST_NULL) /* Open MPI frees persistent requests that fail */
        r->persistent = false;
    lc_complete_end(r);
}

void lc_complete_failed(struct lc_call *call, int result, struct lc_request *known,
                        const MPI_Request *request, const MPI_Status *status) {
    if (is_over(known, request, result))
        request_failed(call, known, result, request, status);
}

/* Open MPI ends all receives that have failed by then, and tells of one. */
void lc_any_failed(struct lc_call *call, struct lc_array *array, int result, const int *index,
                   const MPI_Status *status) {
    bool refused = lc_was_refused(result); /* *index need not be readable */
    for (int i = 0; i < array->count; i++) {
        struct lc_request *r = array->known[i];
        bool told = r != NULL && !refused && i == *index;
        if (r == NULL || !is_over(r, &array->handles[i], told ? result : MPI_ERR_PENDING))
            continue;
        MPI_Status posted;
        memset(&posted, 0, sizeof posted);
        posted.MPI_SOURCE = r->peer;
        posted.MPI_TAG = r->tag;
        bool known = r->peer != MPI_ANY_SOURCE && r->tag != MPI_ANY_TAG;
        request_failed(call, r, result, &array->handles[i], told ? status : known ? &posted : NULL);
    }
}

void lc_array_failed(struct lc_call *call, struct lc_array *array, int result,
                     const MPI_Status *statuses) {
    bool each = error_class(result) == MPI_ERR_IN_STATUS;
    for (int i = 0; i < array->count; i++) {
        struct lc_request *r = array->known[i];
        int error = each ? statuses[i].MPI_ERROR : result;
        if (r == NULL || error == MPI_SUCCESS) /* complete */
            continue;
        array->known[i] = NULL;
        if (is_over(r, &array->handles[i], error))
            request_failed(call, r, error, &array->handles[i], &statuses[i]);
    }
}

void lc_array_some(struct lc_call *call, struct lc_array *array, int result, const int *outcount,
                   const int *indices, const MPI_Status *statuses) {
    struct lc_request *few[LC_FEW];
    bool each = lc_unlikely(result != MPI_SUCCESS) && error_class(result) == MPI_ERR_IN_STATUS;
    if ((result != MPI_SUCCESS && !each) || *outcount > array->count)
        return;
    struct lc_array done = {.count = *outcount, .own = array->own, .known = few};
    if (array->count > LC_FEW)
        done.known = array->known + array->count;
    for (int i = 0; i < done.count; i++) {
        struct lc_request *r = array->known[indices[i]];
        array->known[indices[i]] = NULL;
        done.known[i] = r;
        if (r == NULL || !each || statuses[i].MPI_ERROR == MPI_SUCCESS)
            continue;
        done.known[i] = NULL;
        request_failed(call, r, statuses[i].MPI_ERROR, &array->handles[indices[i]], &statuses[i]);
    }
    if (*outcount >= 0) /* MPI_UNDEFINED is negative: none was active */
        lc_hook_tested(call, array->count, array->known);
    if (*outcount > 0)
        lc_array_book(call, &done, statuses);
    else if (*outcount == 0 && result == MPI_SUCCESS)
        lc_hook_asked(call);
}

void lc_request_free_begin(struct lc_call *call, const MPI_Request *request) {
    struct lc_request *r = lc_request_of_handle(request);
    if (r == NULL)
        return;
    r->freed = true;
    lc_hook_request_free(call, r);
    lc_complete_other(r);
    free(r->coll);
    r->coll = NULL;
    lc_request_drop(r);
}

void lc_cancel_begin(const MPI_Request *request) {
    struct lc_request *r = lc_request_of_handle(request);
    if (r != NULL && r->active)
        r->cancelled = true;
}

void lc_cancel_end(struct lc_call *call, int result, const MPI_Request *request) {
    struct lc_request *r = lc_request_of_handle(request);
    MPI_Status status;
    int done = 0;
    if (result != MPI_SUCCESS || r == NULL || !r->active || r->kind != LC_REQUEST_RECV ||
        (r->persistent && lc_requests.asking_ends_persistent))
        return;
    memset(&status, 0, sizeof status);
    bool known = lc_real.Request_get_status(r->handle, &done, &status) == MPI_SUCCESS && done;
    lc_stamp_end(call); /* asking is part of the call */
    if (known && lc_status_cancelled(&status))
        lc_hook_recv_cancelled(call, r);
}

/* The site of a call that may be tried first; NULL: not this one. */
static struct lc_budget_site *tried_site(const struct lc_thread *t, uint32_t fn, const void *ra) {
    enum { USUAL = LC_MODE_LIVE | LC_MODE_ON };
    uint32_t mode = atomic_load_explicit(&t->mode, memory_order_relaxed);
    if (t->depth != 0 || (mode & (USUAL | LC_MODE_FLUSH | LC_MODE_CHECK)) != USUAL)
        return NULL;
    struct lc_budget_site *site = lc_budget_find_site(t->counted_sites, fn, (uint64_t)ra);
    if (site == NULL || !site->tried)
        return NULL;
    site->completes = false;
    return site;
}

/* What a call that was tried is: it has found nothing, or something. */
static enum lc_tried as_found(struct lc_thread *t, struct lc_budget_site *site, int result,
                              const int *flag) {
    if (result == MPI_SUCCESS && !*flag) {
        lc_poll_skip(t, site);
        return LC_IN_VAIN;
    }
    site->completes = true;
    return LC_TRIED;
}

LC_COLD enum lc_tried lc_test_first_cold(struct lc_thread *t, struct lc_test *test) {
    struct lc_budget_site *site =
        test->request != NULL && test->flag != NULL ? tried_site(t, test->fn, test->ra) : NULL;
    if (site == NULL)
        return LC_NOT_TRIED;
    test->known = lc_known(*test->request);
    bool message = test->known != NULL &&
                   (test->known->kind == LC_REQUEST_SEND || test->known->kind == LC_REQUEST_RECV);
    if (!message || !lc_poll_may_be_skipped(t, site, (uint64_t)test->frame))
        return LC_NOT_TRIED;
    test->result = lc_real.Test(test->request, test->flag, test->status);
    return as_found(t, site, test->result, test->flag);
}

LC_COLD enum lc_tried lc_look_first_cold(struct lc_thread *t, struct lc_look *look) {
    struct lc_budget_site *site = look->flag != NULL ? tried_site(t, look->fn, look->ra) : NULL;
    if (site == NULL || !lc_poll_may_be_skipped(t, site, (uint64_t)look->frame))
        return LC_NOT_TRIED;
    look->result = lc_real.Improbe(look->source, look->tag, look->comm, look->flag, look->message,
                                   look->status);
    return as_found(t, site, look->result, look->flag);
}
