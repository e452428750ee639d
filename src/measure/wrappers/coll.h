/* The begin and the end of a collective operation; its bytes: coll_bytes.h. */
#ifndef LC_MEASURE_WRAPPERS_COLL_H
#define LC_MEASURE_WRAPPERS_COLL_H

#include <mpi.h>
#include <stdbool.h>

#include "format/raw.h"
#include "measure/mpi/handles.h"
#include "measure/wrappers/failed.h"
#include "measure/mpi/operations.h"
#include "measure/mpi/request.h"
#include "measure/core/core.h"
#include "measure/hot/hooks.h"
#include "measure/hot/hot.h"
#include "measure/core/thread.h"

enum lc_coll_mode { LC_BLOCKING, LC_NONBLOCKING };

/* Nothing is known yet. Field by field: what is set anyway is not cleared. */
static inline void lc_coll_clear(struct lc_coll *coll, bool large) {
    coll->nonblocking = coll->persistent = false;
    coll->large = large;
    coll->root = -1;
    coll->is_root = false;
    coll->bytes_sent = coll->bytes_rcvd = 0;
    coll->sendcounts = coll->recvcounts = NULL;
    coll->sendtype = coll->recvtype = MPI_DATATYPE_NULL;
    coll->sendtypes = coll->recvtypes = NULL;
    coll->in_place = coll->failed = false;
    coll->request = NULL;
    coll->id = 0;
    coll->clocks = NULL;
}

/* Common part; false: no such communicator. */
static inline bool lc_coll_fill(struct lc_call *call, struct lc_coll *coll, enum lc_coll_kind kind,
                                MPI_Comm comm, int root) {
    coll->comm = lc_comm_get(call->thread, comm);
    coll->kind = kind;
    coll->root = root;
    if (coll->comm == NULL)
        return false;
    coll->is_root = coll->comm->inter ? root == MPI_ROOT : root == coll->comm->rank;
    return true;
}

static inline void lc_coll_begin(struct lc_call *call, struct lc_coll *coll,
                                 enum lc_coll_mode mode) {
    call->bytes_sent = coll->bytes_sent;
    call->bytes_rcvd = coll->bytes_rcvd;
    if (coll->is_root)
        call->flags |= LC_RAW_ROW_ROOT;
    coll->nonblocking = mode == LC_NONBLOCKING;
    if (coll->nonblocking)
        coll->id = lc_request_id(call->thread);
    if (lc_likely(coll->comm != NULL)) {
        call->flags |= coll->comm->row_flags; /* shortest times: compared in groups of one size */
        lc_hook_coll_begin(call, coll);
    }
}

static inline void lc_coll_end(struct lc_call *call, struct lc_coll *coll, int result) {
    if (lc_unlikely(coll->comm == NULL))
        return;
    if (lc_likely(result == MPI_SUCCESS))
        lc_hook_coll_end(call, coll);
    else
        lc_coll_failed(call, coll, result);
}
/* After a nonblocking collective: its request is read only if MPI accepted the call. */
void lc_icoll_end(struct lc_call *call, struct lc_coll *coll, int result,
                  const MPI_Request *request);
/* After one that makes a persistent collective. */
void lc_coll_init_end(struct lc_call *call, struct lc_coll *coll, int result,
                      const MPI_Request *request);

#endif
