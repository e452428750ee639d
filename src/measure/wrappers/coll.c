#include "measure/wrappers/coll.h"

#include <stdlib.h>

#include "measure/mpi/request.h"
#include "measure/wrappers/sync.h"
#include "measure/clocks/clocks_hooks.h"
#include "measure/core/core.h"
#include "measure/hot/hooks.h"
#include "measure/callpath/entry.h"
#include "measure/core/thread.h"

/* Requests of collectives. */

static struct lc_request *coll_request(struct lc_call *call, const struct lc_coll *coll,
                                       MPI_Request handle) {
    struct lc_request *r = lc_request_insert(call->thread, handle, LC_REQUEST_COLL);
    if (r == NULL)
        return NULL;
    r->fn = call->fn;
    r->comm = coll->comm;
    r->peer = coll->root;
    r->bytes = coll->bytes_sent;
    r->bytes_rcvd = coll->bytes_rcvd;
    r->id = coll->id;
    r->posted_ticks = call->begin;
    r->path = call->entry->path;
    r->clocks.coll = coll->clocks;
    r->clocks.words[1] = 0;
    r->active = true;
    return r;
}

void lc_icoll_end(struct lc_call *call, struct lc_coll *coll, int result,
                  const MPI_Request *request) {
    if (coll->comm == NULL)
        return;
    if (result != MPI_SUCCESS) {
        lc_coll_failed(call, coll, result);
        return;
    }
    coll->request = coll_request(call, coll, *request);
    lc_hook_coll_end(call, coll);
}

void lc_coll_init_end(struct lc_call *call, struct lc_coll *coll, int result,
                      const MPI_Request *request) {
    if (coll->comm == NULL || result != MPI_SUCCESS)
        return;
    call->class_bytes = 0;
    struct lc_request *r = coll_request(call, coll, *request);
    if (r == NULL)
        return;
    r->persistent = true;
    r->active = false;
    r->coll = malloc(sizeof *r->coll);
    if (r->coll == NULL) {
        lc_request_drop(r);
        return;
    }
    *r->coll = *coll;
    /* The arrays belong to the program, which may change them. */
    r->coll->sendcounts = r->coll->recvcounts = NULL;
    r->coll->sendtypes = r->coll->recvtypes = NULL;
    r->coll->nonblocking = r->coll->persistent = true;
    r->coll->request = r;
}

/* A nonblocking collective operation of a file was started. */
void lc_file_isync_end(struct lc_call *call, struct lc_coll *coll, int result,
                       const MPI_Request *request) {
    if (coll->clocks == NULL)
        return;
    if (result != MPI_SUCCESS) {
        lc_clocks_coll_failed(call, coll, lc_was_refused(result));
        return;
    }
    struct lc_request *r = NULL;
    if (*request != MPI_REQUEST_NULL) {
        r = lc_request_find(*request); /* the trace knows it already */
        if (r == NULL)
            r = lc_request_insert(call->thread, *request, LC_REQUEST_OTHER);
    }
    if (r != NULL) {
        r->fn = call->fn;
        r->active = true;
    }
    lc_clocks_isync_end(call, coll, r);
}
