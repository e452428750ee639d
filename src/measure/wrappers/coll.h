/* The begin and the end of a collective operation, and its bytes. */
#ifndef LC_MEASURE_WRAPPERS_COLL_H
#define LC_MEASURE_WRAPPERS_COLL_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "format/raw.h"
#include "measure/mpi/handles.h"
#include "measure/wrappers/complete.h"
#include "measure/mpi/operations.h"
#include "measure/mpi/request.h"
#include "measure/core/core.h"
#include "measure/hot/hot.h"
#include "measure/core/thread.h"
#include "measure/samples/counting.h"
#include "measure/wrappers/special.h"
#include "measure/clocks/clocks_hooks.h"

enum lc_coll_mode { LC_BLOCKING, LC_NONBLOCKING };

/* Nothing is known yet. Field by field: what is set anyway is not cleared. */
static inline void lc_coll_clear(struct lc_coll *coll, bool large) {
    coll->nonblocking = coll->persistent = false;
    coll->large = large;
    coll->root = -1;
    coll->is_root = false;
    coll->bytes_sent = coll->bytes_rcvd = 0;
    coll->send.counts = coll->recv.counts = NULL;
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
        lc_counting_sent(call, coll->bytes_sent);
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

/* Collectives: bytes of each member, by the formulas of Score-P (a member counts as its own
 * partner; with MPI_IN_PLACE it does not), and the start and end of the operation. N = members,
 * me = own rank, b = bytes of one block:
 *
 *   bcast                           root sends N b, all receive b
 *   scatter                         root sends N b, all receive b
 *   reduce, gather                  all send b, root receives N b
 *   allreduce, allgather, alltoall  N b both ways
 *   scan                            sends (N - me) b, receives (me + 1) b
 *   exscan                          as scan, one block less each */

/* Partners of a collective: the members, of the remote group in an intercommunicator. */
static inline uint64_t lc_coll_members(const struct lc_coll *coll) {
    return (uint64_t)(coll->comm->inter ? coll->comm->remote_size : coll->comm->size);
}

static inline void lc_coll_bytes(struct lc_call *call, struct lc_coll *coll, uint64_t sent,
                                 uint64_t rcvd, uint64_t block) {
    coll->bytes_sent = sent;
    coll->bytes_rcvd = rcvd;
    call->class_bytes = block;
}

static inline void lc_coll_barrier(struct lc_call *call, struct lc_coll *coll, MPI_Comm comm) {
    lc_coll_fill(call, coll, LC_COLL_BARRIER, comm, -1);
}

static inline void lc_coll_bcast(struct lc_call *call, struct lc_coll *coll, uint64_t count,
                                 MPI_Datatype type, int root, MPI_Comm comm) {
    if (!lc_coll_fill(call, coll, LC_COLL_ONE2N, comm, root) || root == MPI_PROC_NULL)
        return;
    uint64_t block = count * lc_type_bytes(call->thread, type);
    bool receives = !coll->is_root || !coll->comm->inter;
    lc_coll_bytes(call, coll, coll->is_root ? lc_coll_members(coll) * block : 0,
                  receives ? block : 0, block);
}

static inline void lc_coll_reduce(struct lc_call *call, struct lc_coll *coll, const void *sendbuf,
                                  uint64_t count, MPI_Datatype type, int root, MPI_Comm comm) {
    if (!lc_coll_fill(call, coll, LC_COLL_N2ONE, comm, root) || root == MPI_PROC_NULL)
        return;
    uint64_t block = count * lc_type_bytes(call->thread, type);
    coll->in_place = sendbuf == MPI_IN_PLACE;
    uint64_t own = coll->in_place ? 1 : 0;
    bool sends = !own && !(coll->is_root && coll->comm->inter);
    lc_coll_bytes(call, coll, sends ? block : 0,
                  coll->is_root ? (lc_coll_members(coll) - own) * block : 0, block);
}

static inline void lc_coll_allreduce(struct lc_call *call, struct lc_coll *coll,
                                     const void *sendbuf, uint64_t count, MPI_Datatype type,
                                     MPI_Comm comm) {
    if (!lc_coll_fill(call, coll, LC_COLL_N2N, comm, -1))
        return;
    uint64_t block = count * lc_type_bytes(call->thread, type);
    coll->in_place = sendbuf == MPI_IN_PLACE;
    uint64_t all = (lc_coll_members(coll) - coll->in_place) * block;
    lc_coll_bytes(call, coll, all, all, block);
}

/* MPI_Scan, or MPI_Exscan, in which no member is its own partner. */
static inline void lc_coll_prefix(struct lc_call *call, struct lc_coll *coll,
                                  enum lc_coll_kind kind, const void *sendbuf, uint64_t count,
                                  MPI_Datatype type, MPI_Comm comm) {
    if (!lc_coll_fill(call, coll, kind, comm, -1))
        return;
    uint64_t block = count * lc_type_bytes(call->thread, type);
    uint64_t n = (uint64_t)coll->comm->size, me = (uint64_t)coll->comm->rank;
    coll->in_place = sendbuf == MPI_IN_PLACE;
    uint64_t own = kind == LC_COLL_SCAN && !coll->in_place;
    lc_coll_bytes(call, coll, (n - me - 1 + own) * block, (me + own) * block, block);
}

static inline void lc_coll_allgather(struct lc_call *call, struct lc_coll *coll,
                                     const void *sendbuf, uint64_t sendcount, MPI_Datatype sendtype,
                                     uint64_t recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
    if (!lc_coll_fill(call, coll, LC_COLL_N2N, comm, -1))
        return;
    uint64_t rcvd = recvcount * lc_type_bytes(call->thread, recvtype);
    coll->in_place = sendbuf == MPI_IN_PLACE;
    uint64_t sent = coll->in_place ? rcvd : sendcount * lc_type_bytes(call->thread, sendtype);
    uint64_t n = lc_coll_members(coll) - coll->in_place;
    lc_coll_bytes(call, coll, n * sent, n * rcvd, sent > rcvd ? sent : rcvd);
}

static inline void lc_coll_gather(struct lc_call *call, struct lc_coll *coll, const void *sendbuf,
                                  uint64_t sendcount, MPI_Datatype sendtype, uint64_t recvcount,
                                  MPI_Datatype recvtype, int root, MPI_Comm comm) {
    if (!lc_coll_fill(call, coll, LC_COLL_N2ONE, comm, root) || root == MPI_PROC_NULL)
        return;
    uint64_t rcvd = coll->is_root ? recvcount * lc_type_bytes(call->thread, recvtype) : 0;
    coll->in_place = coll->is_root && sendbuf == MPI_IN_PLACE;
    bool sends = !coll->in_place && !(coll->is_root && coll->comm->inter);
    uint64_t sent = sends ? sendcount * lc_type_bytes(call->thread, sendtype) : 0;
    lc_coll_bytes(call, coll, sent,
                  coll->is_root ? (lc_coll_members(coll) - coll->in_place) * rcvd : 0,
                  sent > rcvd ? sent : rcvd);
}

static inline void lc_coll_scatter(struct lc_call *call, struct lc_coll *coll, uint64_t sendcount,
                                   MPI_Datatype sendtype, const void *recvbuf, uint64_t recvcount,
                                   MPI_Datatype recvtype, int root, MPI_Comm comm) {
    if (!lc_coll_fill(call, coll, LC_COLL_ONE2N, comm, root) || root == MPI_PROC_NULL)
        return;
    uint64_t sent = coll->is_root ? sendcount * lc_type_bytes(call->thread, sendtype) : 0;
    coll->in_place = coll->is_root && recvbuf == MPI_IN_PLACE;
    bool receives = !coll->in_place && !(coll->is_root && coll->comm->inter);
    uint64_t rcvd = receives ? recvcount * lc_type_bytes(call->thread, recvtype) : 0;
    lc_coll_bytes(call, coll, coll->is_root ? (lc_coll_members(coll) - coll->in_place) * sent : 0,
                  rcvd, sent > rcvd ? sent : rcvd);
}

/* The v and w forms, and those of neighbourhoods: coll->send and coll->recv say what was passed. */

/* MPI_Reduce_scatter. */
void lc_coll_reduce_scatter(struct lc_call *call, struct lc_coll *coll, const void *sendbuf,
                            MPI_Comm comm);
/* MPI_Gatherv; recv is read at the root only. */
void lc_coll_gatherv(struct lc_call *call, struct lc_coll *coll, const void *sendbuf, int root,
                     MPI_Comm comm);
/* MPI_Scatterv; send is read at the root only. */
void lc_coll_scatterv(struct lc_call *call, struct lc_coll *coll, const void *recvbuf, int root,
                      MPI_Comm comm);
/* MPI_Allgatherv. */
void lc_coll_allgatherv(struct lc_call *call, struct lc_coll *coll, const void *sendbuf,
                        MPI_Comm comm);
/* MPI_Alltoallv, MPI_Alltoallw. */
void lc_coll_alltoallv(struct lc_call *call, struct lc_coll *coll, const void *sendbuf,
                       MPI_Comm comm);
/* Those of neighbourhoods: partners are the neighbours. */
void lc_coll_neighbor(struct lc_call *call, struct lc_coll *coll, MPI_Comm comm);

/* Around calls that make all members of a communicator wait for each other without data:
 * constructors, collective operations of files. */

/* Around a call that makes all members of `comm` wait for each other. */
static inline void lc_sync_begin(struct lc_call *call, MPI_Comm comm) {
    struct lc_comm *c = call->mode & LC_MODE_CLOCKS ? lc_comm_get(call->thread, comm) : NULL;
    if (c != NULL && !c->inter)
        lc_clocks_sync_begin(call, c);
}

static inline void lc_sync_end(struct lc_call *call, int result) {
    if (call->mode & LC_MODE_CLOCKS)
        lc_clocks_sync_end(call, lc_likely(result == MPI_SUCCESS) || !lc_was_refused(result));
}

static inline void lc_file_sync_begin(struct lc_call *call, MPI_File file) {
    if (call->mode & LC_MODE_CLOCKS)
        lc_clocks_file_begin(call, file);
}

/* Nonblocking ones. */
static inline void lc_idup_begin(struct lc_call *call, struct lc_coll *coll, MPI_Comm comm) {
    coll->clocks = NULL;
    if (call->mode & LC_MODE_CLOCKS)
        lc_clocks_isync_begin(call, coll, lc_comm_get(call->thread, comm));
}

static inline void lc_file_isync_begin(struct lc_call *call, struct lc_coll *coll, MPI_File file) {
    coll->clocks = NULL;
    if (call->mode & LC_MODE_CLOCKS)
        lc_clocks_file_ibegin(call, file, coll);
}
/* The begin of a nonblocking collective of a file, after the call. */
void lc_file_isync_end(struct lc_call *call, struct lc_coll *coll, int result,
                       const MPI_Request *request);

static inline void lc_file_split_sync(struct lc_call *call, MPI_File file, bool begins) {
    if (call->mode & LC_MODE_CLOCKS)
        (begins ? lc_clocks_file_split_begin : lc_clocks_file_split_end)(call, file);
}

/* A constructor whose members are only those of the new communicator. */
static inline void lc_comm_sync(struct lc_call *call, int result, const MPI_Comm *comm) {
    struct lc_comm *c = result == MPI_SUCCESS ? lc_comm_get(call->thread, *comm) : NULL;
    if (call->mode & LC_MODE_CLOCKS && c != NULL)
        lc_clocks_comm_sync(call, c);
}

/* A constructor over the members of `comm`, after lc_sync_end: those of both groups. */
static inline void lc_comm_sync_groups(struct lc_call *call, int result, MPI_Comm comm) {
    struct lc_comm *c = result == MPI_SUCCESS ? lc_comm_get(call->thread, comm) : NULL;
    if (call->mode & LC_MODE_CLOCKS && c != NULL && c->inter)
        lc_clocks_comm_sync(call, c);
}

static inline void lc_file_known(struct lc_call *call, int result, MPI_Comm comm,
                                 const MPI_File *file) {
    struct lc_comm *c = result == MPI_SUCCESS ? lc_comm_get(call->thread, comm) : NULL;
    if (call->mode & LC_MODE_CLOCKS && c != NULL)
        lc_clocks_file_new(*file, c);
}

/* A file that could not be closed is still open. */
static inline void lc_file_sync_over(int result, MPI_File file) {
    if (result == MPI_SUCCESS)
        lc_clocks_file_closed(file);
}

#endif
