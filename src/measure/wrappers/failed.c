#include "measure/wrappers/failed.h"

#include <string.h>

#include "measure/wrappers/messages.h"
#include "measure/mpi/operations.h"
#include "measure/mpi/request.h"
#include "measure/clocks/clocks_hooks.h"
#include "measure/core/core.h"
#include "measure/hot/hooks.h"
#include "measure/core/thread.h"

/* Calls that MPI refused and operations that failed. Under MPI_ERRORS_RETURN the program goes on,
 * so nothing of them may stay: no entry of a message that was not sent, no receive that
 * holds a place in its stream, no number of a collective that this process took no part in. */

int lc_error_class(int result) {
    int class = MPI_ERR_UNKNOWN;
    if (lc_real.Error_class(result, &class) != MPI_SUCCESS)
        return MPI_ERR_UNKNOWN;
    return class;
}

bool lc_request_is_over(const struct lc_request *r, const MPI_Request *handle) {
    if (!r->persistent || *handle == MPI_REQUEST_NULL)
        return *handle == MPI_REQUEST_NULL;
    /* of an inactive request the status is empty; that of a complete send need not be set */
    MPI_Status status;
    int done = 0;
    memset(&status, 0, sizeof status);
    return lc_real.Request_get_status(r->handle, &done, &status) == MPI_SUCCESS && done &&
           status.MPI_TAG == MPI_ANY_TAG;
}

bool lc_was_refused(int result) {
    static const int classes[] = {MPI_ERR_BUFFER, MPI_ERR_COUNT,    MPI_ERR_TYPE,  MPI_ERR_TAG,
                                  MPI_ERR_COMM,   MPI_ERR_RANK,     MPI_ERR_ROOT,  MPI_ERR_GROUP,
                                  MPI_ERR_OP,     MPI_ERR_TOPOLOGY, MPI_ERR_DIMS,  MPI_ERR_ARG,
                                  MPI_ERR_INFO,   MPI_ERR_REQUEST,  MPI_ERR_WIN,   MPI_ERR_FILE,
                                  MPI_ERR_SIZE,   MPI_ERR_DISP,     MPI_ERR_ASSERT};
    int class = lc_error_class(result);
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (class == classes[i])
            return true;
    return false;
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
    if (status == NULL || lc_error_class(result) != MPI_ERR_TRUNCATE) {
        lc_clocks_recv_failed(call, msg);
        return;
    }
    msg->peer = status->MPI_SOURCE;
    msg->tag = status->MPI_TAG;
    lc_clocks_recv_truncated(call, msg);
}

void lc_sendrecv_failed(struct lc_call *call, struct lc_msg *out, struct lc_msg *in, int result,
                        const MPI_Status *status) {
    bool sent = status != NULL && lc_error_class(result) == MPI_ERR_TRUNCATE;
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
