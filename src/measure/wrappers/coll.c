#include <stdlib.h>

#include "measure/wrappers/coll.h"
#include "measure/mpi/request.h"
#include "measure/clocks/clocks_hooks.h"
#include "measure/core/core.h"
#include "measure/hot/hooks.h"
#include "measure/callpath/entry.h"
#include "measure/core/thread.h"
#include "measure/mpi/operations.h"
#include "measure/mpi/topology.h"
#include "measure/trace/trace_calls.h"

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

/* Collectives whose counts differ between members, and neighbourhood collectives. */

static uint64_t larger(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

void lc_coll_reduce_scatter(struct lc_call *call, struct lc_coll *coll, const void *sendbuf,
                            const void *recvcounts, MPI_Datatype type, MPI_Comm comm) {
    if (!lc_coll_fill(call, coll, LC_COLL_N2N, comm, -1))
        return;
    uint64_t bytes = lc_type_bytes(call->thread, type);
    uint64_t own = lc_count_at(recvcounts, coll->large, coll->comm->rank) * bytes;
    uint64_t all = lc_count_sum(recvcounts, coll->large, coll->comm->size) * bytes;
    coll->recvcounts = recvcounts;
    coll->recvtype = type;
    coll->in_place = sendbuf == MPI_IN_PLACE;
    lc_coll_bytes(call, coll, coll->in_place ? all - own : all,
                  (lc_coll_members(coll) - coll->in_place) * own, all);
}

void lc_coll_reduce_scatter_block(struct lc_call *call, struct lc_coll *coll, const void *sendbuf,
                                  uint64_t recvcount, MPI_Datatype type, MPI_Comm comm) {
    lc_coll_allreduce(call, coll, sendbuf, recvcount, type, comm);
}

void lc_coll_gatherv(struct lc_call *call, struct lc_coll *coll, const void *sendbuf,
                     uint64_t sendcount, MPI_Datatype sendtype, const void *recvcounts,
                     MPI_Datatype recvtype, int root, MPI_Comm comm) {
    if (!lc_coll_fill(call, coll, LC_COLL_N2ONE, comm, root) || root == MPI_PROC_NULL)
        return;
    uint64_t rcvd = 0;
    coll->in_place = coll->is_root && sendbuf == MPI_IN_PLACE;
    if (coll->is_root) {
        rcvd = lc_count_sum(recvcounts, coll->large, (int)lc_coll_members(coll));
        if (coll->in_place)
            rcvd -= lc_count_at(recvcounts, coll->large, coll->comm->rank);
        rcvd *= lc_type_bytes(call->thread, recvtype);
        coll->recvcounts = recvcounts;
        coll->recvtype = recvtype;
    }
    bool sends = !coll->in_place && !(coll->is_root && coll->comm->inter);
    uint64_t sent = sends ? sendcount * lc_type_bytes(call->thread, sendtype) : 0;
    lc_coll_bytes(call, coll, sent, rcvd, larger(sent, rcvd));
}

void lc_coll_scatterv(struct lc_call *call, struct lc_coll *coll, const void *sendcounts,
                      MPI_Datatype sendtype, const void *recvbuf, uint64_t recvcount,
                      MPI_Datatype recvtype, int root, MPI_Comm comm) {
    if (!lc_coll_fill(call, coll, LC_COLL_ONE2N, comm, root) || root == MPI_PROC_NULL)
        return;
    uint64_t sent = 0;
    coll->in_place = coll->is_root && recvbuf == MPI_IN_PLACE;
    if (coll->is_root) {
        sent = lc_count_sum(sendcounts, coll->large, (int)lc_coll_members(coll));
        if (coll->in_place)
            sent -= lc_count_at(sendcounts, coll->large, coll->comm->rank);
        sent *= lc_type_bytes(call->thread, sendtype);
        coll->sendcounts = sendcounts;
        coll->sendtype = sendtype;
    }
    bool receives = !coll->in_place && !(coll->is_root && coll->comm->inter);
    uint64_t rcvd = receives ? recvcount * lc_type_bytes(call->thread, recvtype) : 0;
    lc_coll_bytes(call, coll, sent, rcvd, larger(sent, rcvd));
}

void lc_coll_allgatherv(struct lc_call *call, struct lc_coll *coll, const void *sendbuf,
                        uint64_t sendcount, MPI_Datatype sendtype, const void *recvcounts,
                        MPI_Datatype recvtype, MPI_Comm comm) {
    if (!lc_coll_fill(call, coll, LC_COLL_N2N, comm, -1))
        return;
    uint64_t bytes = lc_type_bytes(call->thread, recvtype);
    uint64_t n = lc_coll_members(coll);
    uint64_t rcvd = lc_count_sum(recvcounts, coll->large, (int)n) * bytes;
    uint64_t sent;
    coll->recvcounts = recvcounts;
    coll->recvtype = recvtype;
    coll->in_place = sendbuf == MPI_IN_PLACE;
    if (coll->in_place) {
        uint64_t own = lc_count_at(recvcounts, coll->large, coll->comm->rank) * bytes;
        sent = (n - 1) * own;
        rcvd -= own;
    } else {
        sent = n * sendcount * lc_type_bytes(call->thread, sendtype);
    }
    lc_coll_bytes(call, coll, sent, rcvd, larger(sent, rcvd));
}

void lc_coll_alltoallv(struct lc_call *call, struct lc_coll *coll, const void *sendbuf,
                       const void *sendcounts, MPI_Datatype sendtype, const void *recvcounts,
                       MPI_Datatype recvtype, MPI_Comm comm) {
    if (!lc_coll_fill(call, coll, LC_COLL_V2V, comm, -1))
        return;
    int n = (int)lc_coll_members(coll);
    uint64_t rcvd = lc_count_sum(recvcounts, coll->large, n), sent;
    coll->recvcounts = recvcounts;
    coll->recvtype = recvtype;
    coll->in_place = sendbuf == MPI_IN_PLACE;
    if (coll->in_place) {
        rcvd -= lc_count_at(recvcounts, coll->large, coll->comm->rank);
        rcvd *= lc_type_bytes(call->thread, recvtype);
        sent = rcvd;
        coll->sendcounts = recvcounts;
        coll->sendtype = recvtype;
    } else {
        rcvd *= lc_type_bytes(call->thread, recvtype);
        sent = lc_count_sum(sendcounts, coll->large, n) * lc_type_bytes(call->thread, sendtype);
        coll->sendcounts = sendcounts;
        coll->sendtype = sendtype;
    }
    lc_coll_bytes(call, coll, sent, rcvd, larger(sent, rcvd));
}

static uint64_t sum_w(struct lc_call *call, const struct lc_coll *coll, const void *counts,
                      const MPI_Datatype *types, int n, int without) {
    uint64_t sum = 0;
    for (int i = 0; types != NULL && i < n; i++)
        if (i != without)
            sum += lc_count_at(counts, coll->large, i) * lc_type_bytes(call->thread, types[i]);
    return sum;
}

void lc_coll_alltoallw(struct lc_call *call, struct lc_coll *coll, const void *sendbuf,
                       const void *sendcounts, const MPI_Datatype *sendtypes,
                       const void *recvcounts, const MPI_Datatype *recvtypes, MPI_Comm comm) {
    if (!lc_coll_fill(call, coll, LC_COLL_V2V, comm, -1))
        return;
    int n = (int)lc_coll_members(coll);
    coll->in_place = sendbuf == MPI_IN_PLACE;
    coll->recvcounts = recvcounts;
    coll->recvtypes = recvtypes;
    coll->sendcounts = coll->in_place ? recvcounts : sendcounts;
    coll->sendtypes = coll->in_place ? recvtypes : sendtypes;
    int without = coll->in_place ? coll->comm->rank : -1;
    uint64_t rcvd = sum_w(call, coll, recvcounts, recvtypes, n, without);
    uint64_t sent = sum_w(call, coll, coll->sendcounts, coll->sendtypes, n, without);
    lc_coll_bytes(call, coll, sent, rcvd, larger(sent, rcvd));
}

/* --- neighbourhoods --- */

static void ask_neighbours(struct lc_call *call, struct lc_comm *c) {
    struct lc_neighbours of;
    lc_neighbours_of(c->handle, c->rank, &of);
    c->n_in = of.n_sources;
    c->n_out = of.n_targets;
    lc_trace_define_neighbours(call, c, of.sources, of.n_sources);
    free(of.sources);
    free(of.targets);
}

static bool neighbor_fill(struct lc_call *call, struct lc_coll *coll, MPI_Comm comm) {
    if (!lc_coll_fill(call, coll, LC_COLL_NEIGHBOR, comm, -1))
        return false;
    if (coll->comm->n_in < 0)
        ask_neighbours(call, coll->comm);
    return true;
}

void lc_coll_neighbor_allgather(struct lc_call *call, struct lc_coll *coll, uint64_t sendcount,
                                MPI_Datatype sendtype, uint64_t recvcount, MPI_Datatype recvtype,
                                MPI_Comm comm) {
    if (!neighbor_fill(call, coll, comm))
        return;
    uint64_t sent = sendcount * lc_type_bytes(call->thread, sendtype) * (uint64_t)coll->comm->n_out;
    uint64_t rcvd = recvcount * lc_type_bytes(call->thread, recvtype) * (uint64_t)coll->comm->n_in;
    lc_coll_bytes(call, coll, sent, rcvd, larger(sent, rcvd));
}

void lc_coll_neighbor_alltoall(struct lc_call *call, struct lc_coll *coll, uint64_t sendcount,
                               MPI_Datatype sendtype, uint64_t recvcount, MPI_Datatype recvtype,
                               MPI_Comm comm) {
    lc_coll_neighbor_allgather(call, coll, sendcount, sendtype, recvcount, recvtype, comm);
}

void lc_coll_neighbor_allgatherv(struct lc_call *call, struct lc_coll *coll, uint64_t sendcount,
                                 MPI_Datatype sendtype, const void *recvcounts,
                                 MPI_Datatype recvtype, MPI_Comm comm) {
    if (!neighbor_fill(call, coll, comm))
        return;
    uint64_t sent = sendcount * lc_type_bytes(call->thread, sendtype) * (uint64_t)coll->comm->n_out;
    uint64_t rcvd = lc_count_sum(recvcounts, coll->large, coll->comm->n_in) *
                    lc_type_bytes(call->thread, recvtype);
    lc_coll_bytes(call, coll, sent, rcvd, larger(sent, rcvd));
}

void lc_coll_neighbor_alltoallv(struct lc_call *call, struct lc_coll *coll, const void *sendcounts,
                                MPI_Datatype sendtype, const void *recvcounts,
                                MPI_Datatype recvtype, MPI_Comm comm) {
    if (!neighbor_fill(call, coll, comm))
        return;
    uint64_t sent = lc_count_sum(sendcounts, coll->large, coll->comm->n_out) *
                    lc_type_bytes(call->thread, sendtype);
    uint64_t rcvd = lc_count_sum(recvcounts, coll->large, coll->comm->n_in) *
                    lc_type_bytes(call->thread, recvtype);
    lc_coll_bytes(call, coll, sent, rcvd, larger(sent, rcvd));
}

void lc_coll_neighbor_alltoallw(struct lc_call *call, struct lc_coll *coll, const void *sendcounts,
                                const MPI_Datatype *sendtypes, const void *recvcounts,
                                const MPI_Datatype *recvtypes, MPI_Comm comm) {
    if (!neighbor_fill(call, coll, comm))
        return;
    uint64_t sent = sum_w(call, coll, sendcounts, sendtypes, coll->comm->n_out, -1);
    uint64_t rcvd = sum_w(call, coll, recvcounts, recvtypes, coll->comm->n_in, -1);
    lc_coll_bytes(call, coll, sent, rcvd, larger(sent, rcvd));
}
