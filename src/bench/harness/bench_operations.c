#include "bench/harness/bench_operations.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/timer.h"
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

void lc_op_compute(const struct lc_op_data *d) {
    uint64_t until = lc_ticks() + (uint64_t)(d->compute_ns / lc_timer.ns_per_tick);
    while (d->compute_ns > 0 && lc_ticks() < until)
        ;
}

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

static enum lc_err allocate(struct lc_op_data *d, size_t room) {
    size_t blocks = (size_t)(d->size > 2 ? d->size : 2), bytes = blocks * room * (size_t)d->n;
    LC_TRY(lc_alloc(&d->send, bytes + 64, 1));
    LC_TRY(lc_alloc(&d->receive, bytes + 64, 1));
    LC_TRY(lc_alloc(&d->extra, bytes + 64, 1));
    LC_TRY(lc_alloc(&d->counts, 6 * blocks, sizeof d->counts[0]));
    LC_TRY(lc_alloc(&d->types, blocks, sizeof(MPI_Datatype)));
    LC_TRY(lc_alloc(&d->far_places, blocks, sizeof d->far_places[0]));
    d->places = d->counts + blocks;
    d->parts = d->counts + 2 * blocks;
    d->part_places = d->counts + 3 * blocks;
    d->root_counts = d->counts + 4 * blocks;
    d->no_places = d->counts + 5 * blocks;
    memset(d->send, 1, bytes); /* pages that exist */
    return LC_OK;
}

static void fill_counts(struct lc_op_data *d) {
    for (int i = 0; i < (d->size > 2 ? d->size : 2); i++) {
        d->counts[i] = d->n;
        d->places[i] = i * d->n;
        d->far_places[i] = (MPI_Aint)i * d->n;
        d->types[i] = MPI_BYTE;
        d->parts[i] = i < d->size ? d->n / d->size + (i < d->n % d->size) : 0;
        d->part_places[i] = i > 0 ? d->part_places[i - 1] + d->parts[i - 1] : 0;
        d->root_counts[i] = i == d->root ? d->n : 0;
    }
}

enum lc_err lc_op_data_new(struct lc_op_data *d, MPI_Comm comm, size_t bytes, size_t room,
                           int root) {
    int size, periodic = 1;
    *d = (struct lc_op_data){
        .comm = comm, .ring = MPI_COMM_NULL, .window = MPI_WIN_NULL, .root = root};
    MPI_Comm_rank(comm, &d->rank);
    MPI_Comm_size(comm, &d->size);
    if (bytes * room > (size_t)(0x7fffffff / (d->size > 2 ? d->size : 2)))
        return lc_fail(LC_ERR_RANGE,
                       "bench: --bytes %zu: too much for %d ranks: blocks of all "
                       "ranks must fit into 2 GiB",
                       bytes * room, d->size);
    d->n = (int)bytes;
    size = d->size;
    MPI_Cart_create(comm, 1, &size, &periodic, 0, &d->ring);
    enum lc_err err = allocate(d, room);
    if (err == LC_OK)
        fill_counts(d);
    else
        lc_op_data_free(d);
    return err;
}

int lc_op_window_new(struct lc_op_data *d, enum lc_op_window kind) {
    MPI_Aint bytes = d->n > 8 ? d->n : 8;
    int error = MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, d->comm, &d->window_memory, &d->window);
    if (error != MPI_SUCCESS) {
        d->window = MPI_WIN_NULL;
        return error;
    }
    d->epoch = kind;
    MPI_Win_set_errhandler(d->window, MPI_ERRORS_RETURN);
    return kind == LC_OP_FENCED   ? MPI_Win_fence(0, d->window)
           : kind == LC_OP_LOCKED ? MPI_Win_lock_all(0, d->window)
                                  : MPI_SUCCESS;
}

static void free_window(struct lc_op_data *d) {
    if (d->epoch == LC_OP_FENCED)
        MPI_Win_fence(MPI_MODE_NOSUCCEED, d->window);
    if (d->epoch == LC_OP_LOCKED)
        MPI_Win_unlock_all(d->window);
    MPI_Win_free(&d->window);
}

void lc_op_data_free(struct lc_op_data *d) {
    if (d->window != MPI_WIN_NULL)
        free_window(d);
    if (d->ring != MPI_COMM_NULL)
        MPI_Comm_free(&d->ring);
    free(d->send);
    free(d->receive);
    free(d->extra);
    free(d->counts);
    free(d->types);
    free(d->far_places);
    d->send = d->receive = d->extra = NULL;
}
