#include <stdlib.h>

#include "base/choose.h"
#include "measure/wrappers/coll.h"
#include "measure/mpi/request.h"
#include "measure/clocks/clocks_hooks.h"
#include "measure/core/thread.h"
#include "measure/mpi/operations.h"
#include "measure/mpi/handles.h"
#include "measure/trace/trace_hooks.h"

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
    r->coll->send.counts = r->coll->recv.counts = NULL;
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

/* Collectives whose counts differ between members, and neighbourhood collectives. */

/* Of n partners, but for `without` (-1: of all). */
static uint64_t side_bytes(struct lc_call *call, const struct lc_coll *coll,
                           const struct lc_side *side, int n, int without) {
    uint64_t sum = 0;
    if (side->types != NULL) {
        for (int i = 0; i < n; i++)
            sum += i != without ? lc_side_bytes_at(call->thread, side, coll->large, i) : 0;
        return sum;
    }
    if (side->counts == NULL)
        sum = (uint64_t)(n - (without >= 0)) * side->count;
    else
        sum = lc_count_sum(side->counts, coll->large, n) -
              (without >= 0 ? lc_count_at(side->counts, coll->large, without) : 0);
    return sum * lc_type_bytes(call->thread, side->type);
}

static void irregular(struct lc_call *call, struct lc_coll *coll, uint64_t sent, uint64_t rcvd) {
    lc_coll_bytes(call, coll, sent, rcvd, lc_larger(sent, rcvd));
}

void lc_coll_reduce_scatter(struct lc_call *call, struct lc_coll *coll, const void *sendbuf,
                            MPI_Comm comm) {
    if (!lc_coll_fill(call, coll, LC_COLL_N2N, comm, -1))
        return;
    int me = coll->comm->rank;
    uint64_t own = lc_side_bytes_at(call->thread, &coll->recv, coll->large, me);
    uint64_t all = side_bytes(call, coll, &coll->recv, coll->comm->size, -1);
    coll->in_place = sendbuf == MPI_IN_PLACE;
    lc_coll_bytes(call, coll, coll->in_place ? all - own : all,
                  (lc_coll_members(coll) - coll->in_place) * own, all);
}

/* Bytes of the root with all others, and of another member with the root. */
static bool rooted(struct lc_call *call, struct lc_coll *coll, enum lc_coll_kind kind, int root,
                   MPI_Comm comm, const void *in_place, const struct lc_side *others,
                   const struct lc_side *own, uint64_t bytes[2]) {
    if (!lc_coll_fill(call, coll, kind, comm, root) || root == MPI_PROC_NULL)
        return false;
    coll->in_place = coll->is_root && in_place == MPI_IN_PLACE;
    int without = coll->in_place ? coll->comm->rank : -1;
    bool takes_part = !coll->in_place && !(coll->is_root && coll->comm->inter);
    bytes[0] =
        coll->is_root ? side_bytes(call, coll, others, (int)lc_coll_members(coll), without) : 0;
    bytes[1] = takes_part ? side_bytes(call, coll, own, 1, -1) : 0;
    return true;
}

void lc_coll_gatherv(struct lc_call *call, struct lc_coll *coll, const void *sendbuf, int root,
                     MPI_Comm comm) {
    uint64_t bytes[2];
    if (rooted(call, coll, LC_COLL_N2ONE, root, comm, sendbuf, &coll->recv, &coll->send, bytes))
        irregular(call, coll, bytes[1], bytes[0]);
}

void lc_coll_scatterv(struct lc_call *call, struct lc_coll *coll, const void *recvbuf, int root,
                      MPI_Comm comm) {
    uint64_t bytes[2];
    if (rooted(call, coll, LC_COLL_ONE2N, root, comm, recvbuf, &coll->send, &coll->recv, bytes))
        irregular(call, coll, bytes[0], bytes[1]);
}

void lc_coll_allgatherv(struct lc_call *call, struct lc_coll *coll, const void *sendbuf,
                        MPI_Comm comm) {
    if (!lc_coll_fill(call, coll, LC_COLL_N2N, comm, -1))
        return;
    int n = (int)lc_coll_members(coll), me = coll->comm->rank;
    coll->in_place = sendbuf == MPI_IN_PLACE;
    uint64_t sent = coll->in_place ? (uint64_t)(n - 1) * lc_side_bytes_at(call->thread, &coll->recv,
                                                                          coll->large, me)
                                   : side_bytes(call, coll, &coll->send, n, -1);
    irregular(call, coll, sent, side_bytes(call, coll, &coll->recv, n, coll->in_place ? me : -1));
}

void lc_coll_alltoallv(struct lc_call *call, struct lc_coll *coll, const void *sendbuf,
                       MPI_Comm comm) {
    if (!lc_coll_fill(call, coll, LC_COLL_V2V, comm, -1))
        return;
    coll->in_place = sendbuf == MPI_IN_PLACE;
    if (coll->in_place)
        coll->send = coll->recv;
    int n = (int)lc_coll_members(coll), without = coll->in_place ? coll->comm->rank : -1;
    irregular(call, coll, side_bytes(call, coll, &coll->send, n, without),
              side_bytes(call, coll, &coll->recv, n, without));
}

static void ask_neighbours(struct lc_call *call, struct lc_comm *c) {
    struct lc_neighbours of;
    lc_neighbours_of(c->handle, c->rank, &of);
    c->n_in = of.n_sources;
    c->n_out = of.n_targets;
    lc_trace_define_neighbours(call, c, of.sources, of.n_sources);
    free(of.sources);
    free(of.targets);
}

void lc_coll_neighbor(struct lc_call *call, struct lc_coll *coll, MPI_Comm comm) {
    if (!lc_coll_fill(call, coll, LC_COLL_NEIGHBOR, comm, -1))
        return;
    if (coll->comm->n_in < 0)
        ask_neighbours(call, coll->comm);
    irregular(call, coll, side_bytes(call, coll, &coll->send, coll->comm->n_out, -1),
              side_bytes(call, coll, &coll->recv, coll->comm->n_in, -1));
    coll->send.counts = coll->recv.counts = NULL; /* neighbours are not members */
}
