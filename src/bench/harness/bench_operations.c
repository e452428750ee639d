#include "bench/harness/bench_operations.h"

#include <stddef.h>

#include "bench/harness/message_operations.h"

/* The place that MPI_IN_PLACE takes: for all ranks, at the root only. */
#define SEND         (d->in_place ? MPI_IN_PLACE : d->send)
#define ROOT_SEND    (d->in_place && d->rank == d->root ? MPI_IN_PLACE : d->send)
#define ROOT_RECEIVE (d->in_place && d->rank == d->root ? MPI_IN_PLACE : d->receive)
#define ONE          d->n, MPI_BYTE
#define MANY         d->counts, d->places, MPI_BYTE
#define FAR          d->counts, d->far_places, d->types
#define WIDE         d->counts, d->places, d->types

/* Every blocking collective of MPI-3.1 and its nonblocking twin, which takes the same arguments and
 * a request. X(name, nonblocking name, has a form in place, arguments) */
#define COLLECTIVES(X)                                                                             \
    X(Barrier, Ibarrier, false, d->comm)                                                           \
    X(Bcast, Ibcast, false, d->send, ONE, d->root, d->comm)                                        \
    X(Gather, Igather, true, ROOT_SEND, ONE, d->receive, ONE, d->root, d->comm)                    \
    X(Gatherv, Igatherv, true, ROOT_SEND, ONE, d->receive, MANY, d->root, d->comm)                 \
    X(Scatter, Iscatter, true, d->send, ONE, ROOT_RECEIVE, ONE, d->root, d->comm)                  \
    X(Scatterv, Iscatterv, true, d->send, MANY, ROOT_RECEIVE, ONE, d->root, d->comm)               \
    X(Allgather, Iallgather, true, SEND, ONE, d->receive, ONE, d->comm)                            \
    X(Allgatherv, Iallgatherv, true, SEND, ONE, d->receive, MANY, d->comm)                         \
    X(Alltoall, Ialltoall, true, SEND, ONE, d->receive, ONE, d->comm)                              \
    X(Alltoallv, Ialltoallv, true, SEND, MANY, d->receive, MANY, d->comm)                          \
    X(Alltoallw, Ialltoallw, true, SEND, WIDE, d->receive, WIDE, d->comm)                          \
    X(Reduce, Ireduce, true, ROOT_SEND, d->receive, ONE, MPI_BOR, d->root, d->comm)                \
    X(Allreduce, Iallreduce, true, SEND, d->receive, ONE, MPI_BOR, d->comm)                        \
    X(Reduce_scatter, Ireduce_scatter, true, SEND, d->receive, d->counts, MPI_BYTE, MPI_BOR,       \
      d->comm)                                                                                     \
    X(Reduce_scatter_block, Ireduce_scatter_block, true, SEND, d->receive, ONE, MPI_BOR, d->comm)  \
    X(Scan, Iscan, true, SEND, d->receive, ONE, MPI_BOR, d->comm)                                  \
    X(Exscan, Iexscan, true, SEND, d->receive, ONE, MPI_BOR, d->comm)                              \
    X(Neighbor_allgather, Ineighbor_allgather, false, d->send, ONE, d->receive, ONE, d->ring)      \
    X(Neighbor_allgatherv, Ineighbor_allgatherv, false, d->send, ONE, d->receive, MANY, d->ring)   \
    X(Neighbor_alltoall, Ineighbor_alltoall, false, d->send, ONE, d->receive, ONE, d->ring)        \
    X(Neighbor_alltoallv, Ineighbor_alltoallv, false, d->send, MANY, d->receive, MANY, d->ring)    \
    X(Neighbor_alltoallw, Ineighbor_alltoallw, false, d->send, FAR, d->receive, FAR, d->ring)

#define FUNCTIONS(name, twin, place, ...)                                                          \
    static int run_##name(struct lc_op_data *d) {                                                  \
        return MPI_##name(__VA_ARGS__);                                                            \
    }                                                                                              \
    static int run_##twin(struct lc_op_data *d) {                                                  \
        MPI_Request request;                                                                       \
        int error = MPI_##twin(__VA_ARGS__, &request);                                             \
        lc_op_compute(d);                                                                          \
        return error != MPI_SUCCESS ? error : MPI_Wait(&request, MPI_STATUS_IGNORE);               \
    }
COLLECTIVES(FUNCTIONS)

static int run_empty(struct lc_op_data *d) {
    (void)d;
    return MPI_SUCCESS;
}

#define ENTRIES(name, twin, place, ...)                                                            \
    {"MPI_" #name, run_##name, place, LC_OP_NO_WINDOW},                                            \
        {"MPI_" #twin, run_##twin, place, LC_OP_NO_WINDOW},
const struct lc_operation lc_operations[] = {
    {"empty", run_empty, false, LC_OP_NO_WINDOW},
    LC_MESSAGE_OPERATIONS COLLECTIVES(ENTRIES){NULL, NULL, false, LC_OP_NO_WINDOW}};
