#include "bench/harness/mock_ups.h"

#include <string.h>

#define MPI_OK(call)                                                                               \
    do {                                                                                           \
        int error = (call);                                                                        \
        if (error != MPI_SUCCESS)                                                                  \
            return error;                                                                          \
    } while (0)

/* Bytes of one of `size` equal parts that hold n together. */
static int part_of(const struct lc_op_data *d) {
    return (d->n + d->size - 1) / d->size;
}

/* extra[]: zeros but for the own block. */
static void place_own(struct lc_op_data *d) {
    memset(d->extra, 0, (size_t)d->size * (size_t)d->n);
    memcpy(d->extra + (size_t)d->rank * (size_t)d->n, d->send, (size_t)d->n);
}

static void take_own(struct lc_op_data *d, const char *all) {
    memcpy(d->receive, all + (size_t)d->rank * (size_t)d->n, (size_t)d->n);
}

static int barrier_allreduce(struct lc_op_data *d) {
    return MPI_Allreduce(d->send, d->receive, 1, MPI_BYTE, MPI_BOR, d->comm);
}

static int bcast_scatter_allgather(struct lc_op_data *d) {
    int part = part_of(d);
    MPI_OK(MPI_Scatter(d->send, part, MPI_BYTE, d->extra, part, MPI_BYTE, d->root, d->comm));
    return MPI_Allgather(d->extra, part, MPI_BYTE, d->send, part, MPI_BYTE, d->comm);
}

/* Only the root has something to give. */
static int bcast_allgatherv(struct lc_op_data *d) {
    return MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, d->send, d->root_counts, d->no_places,
                          MPI_BYTE, d->comm);
}

static int gather_allgather(struct lc_op_data *d) {
    return MPI_Allgather(d->send, d->n, MPI_BYTE, d->receive, d->n, MPI_BYTE, d->comm);
}

static int gather_gatherv(struct lc_op_data *d) {
    return MPI_Gatherv(d->send, d->n, MPI_BYTE, d->receive, d->counts, d->places, MPI_BYTE, d->root,
                       d->comm);
}

static int gather_reduce(struct lc_op_data *d) {
    place_own(d);
    return MPI_Reduce(d->extra, d->receive, d->size * d->n, MPI_BYTE, MPI_BOR, d->root, d->comm);
}

static int gatherv_allgatherv(struct lc_op_data *d) {
    return MPI_Allgatherv(d->send, d->n, MPI_BYTE, d->receive, d->counts, d->places, MPI_BYTE,
                          d->comm);
}

static int scatter_bcast(struct lc_op_data *d) {
    char *all = d->rank == d->root ? d->send : d->extra;
    MPI_OK(MPI_Bcast(all, d->size * d->n, MPI_BYTE, d->root, d->comm));
    take_own(d, all);
    return MPI_SUCCESS;
}

static int scatter_scatterv(struct lc_op_data *d) {
    return MPI_Scatterv(d->send, d->counts, d->places, MPI_BYTE, d->receive, d->n, MPI_BYTE,
                        d->root, d->comm);
}

static int allgather_gather_bcast(struct lc_op_data *d) {
    MPI_OK(MPI_Gather(d->send, d->n, MPI_BYTE, d->receive, d->n, MPI_BYTE, 0, d->comm));
    return MPI_Bcast(d->receive, d->size * d->n, MPI_BYTE, 0, d->comm);
}

static int allgather_alltoall(struct lc_op_data *d) {
    for (int i = 0; i < d->size; i++)
        memcpy(d->extra + (size_t)i * (size_t)d->n, d->send, (size_t)d->n);
    return MPI_Alltoall(d->extra, d->n, MPI_BYTE, d->receive, d->n, MPI_BYTE, d->comm);
}

static int allgather_allreduce(struct lc_op_data *d) {
    place_own(d);
    return MPI_Allreduce(d->extra, d->receive, d->size * d->n, MPI_BYTE, MPI_BOR, d->comm);
}

static int allgatherv_gatherv_bcast(struct lc_op_data *d) {
    MPI_OK(MPI_Gatherv(d->send, d->n, MPI_BYTE, d->receive, d->counts, d->places, MPI_BYTE, 0,
                       d->comm));
    return MPI_Bcast(d->receive, d->size * d->n, MPI_BYTE, 0, d->comm);
}

static int alltoall_alltoallv(struct lc_op_data *d) {
    return MPI_Alltoallv(d->send, d->counts, d->places, MPI_BYTE, d->receive, d->counts, d->places,
                         MPI_BYTE, d->comm);
}

static int alltoallv_alltoallw(struct lc_op_data *d) {
    return MPI_Alltoallw(d->send, d->counts, d->places, d->types, d->receive, d->counts, d->places,
                         d->types, d->comm);
}

static int reduce_allreduce(struct lc_op_data *d) {
    return MPI_Allreduce(d->send, d->receive, d->n, MPI_BYTE, MPI_BOR, d->comm);
}

static int reduce_reduce_scatter_gather(struct lc_op_data *d) {
    int part = part_of(d);
    MPI_OK(MPI_Reduce_scatter_block(d->send, d->extra, part, MPI_BYTE, MPI_BOR, d->comm));
    return MPI_Gather(d->extra, part, MPI_BYTE, d->receive, part, MPI_BYTE, d->root, d->comm);
}

static int reduce_reduce_scatter_gatherv(struct lc_op_data *d) {
    MPI_OK(MPI_Reduce_scatter(d->send, d->extra, d->parts, MPI_BYTE, MPI_BOR, d->comm));
    return MPI_Gatherv(d->extra, d->parts[d->rank], MPI_BYTE, d->receive, d->parts, d->part_places,
                       MPI_BYTE, d->root, d->comm);
}

static int allreduce_reduce_bcast(struct lc_op_data *d) {
    MPI_OK(MPI_Reduce(d->send, d->receive, d->n, MPI_BYTE, MPI_BOR, 0, d->comm));
    return MPI_Bcast(d->receive, d->n, MPI_BYTE, 0, d->comm);
}

static int allreduce_reduce_scatter_allgather(struct lc_op_data *d) {
    int part = part_of(d);
    MPI_OK(MPI_Reduce_scatter_block(d->send, d->extra, part, MPI_BYTE, MPI_BOR, d->comm));
    return MPI_Allgather(d->extra, part, MPI_BYTE, d->receive, part, MPI_BYTE, d->comm);
}

static int allreduce_reduce_scatter_allgatherv(struct lc_op_data *d) {
    MPI_OK(MPI_Reduce_scatter(d->send, d->extra, d->parts, MPI_BYTE, MPI_BOR, d->comm));
    return MPI_Allgatherv(d->extra, d->parts[d->rank], MPI_BYTE, d->receive, d->parts,
                          d->part_places, MPI_BYTE, d->comm);
}

static int reduce_scatter_reduce_scatterv(struct lc_op_data *d) {
    MPI_OK(MPI_Reduce(d->send, d->extra, d->size * d->n, MPI_BYTE, MPI_BOR, 0, d->comm));
    return MPI_Scatterv(d->extra, d->counts, d->places, MPI_BYTE, d->receive, d->n, MPI_BYTE, 0,
                        d->comm);
}

static int reduce_scatter_allreduce(struct lc_op_data *d) {
    MPI_OK(MPI_Allreduce(d->send, d->extra, d->size * d->n, MPI_BYTE, MPI_BOR, d->comm));
    take_own(d, d->extra);
    return MPI_SUCCESS;
}

static int block_reduce_scatter(struct lc_op_data *d) {
    return MPI_Reduce_scatter(d->send, d->receive, d->counts, MPI_BYTE, MPI_BOR, d->comm);
}

static int block_reduce_then_scatter(struct lc_op_data *d) {
    MPI_OK(MPI_Reduce(d->send, d->extra, d->size * d->n, MPI_BYTE, MPI_BOR, 0, d->comm));
    return MPI_Scatter(d->extra, d->n, MPI_BYTE, d->receive, d->n, MPI_BYTE, 0, d->comm);
}

static int scan_exscan(struct lc_op_data *d) {
    MPI_OK(MPI_Exscan(d->send, d->receive, d->n, MPI_BYTE, MPI_BOR, d->comm));
    if (d->rank > 0)
        return MPI_Reduce_local(d->send, d->receive, d->n, MPI_BYTE, MPI_BOR);
    memcpy(d->receive, d->send, (size_t)d->n);
    return MPI_SUCCESS;
}

/* Those that can have more bytes, or fewer in several calls. `bytes` of each block, behind the `at`
 * that former calls had of it; where a buffer holds a block of each rank, those of a call lie side
 * by side. X(name, arguments) */
#define ALL_AT (size_t) d->size *(size_t)at
#define DIVISIBLE(X)                                                                               \
    X(Bcast, d->send + at, bytes, MPI_BYTE, d->root, d->comm)                                      \
    X(Gather, d->send + at, bytes, MPI_BYTE, d->receive + ALL_AT, bytes, MPI_BYTE, d->root,        \
      d->comm)                                                                                     \
    X(Scatter, d->send + ALL_AT, bytes, MPI_BYTE, d->receive + at, bytes, MPI_BYTE, d->root,       \
      d->comm)                                                                                     \
    X(Allgather, d->send + at, bytes, MPI_BYTE, d->receive + ALL_AT, bytes, MPI_BYTE, d->comm)     \
    X(Alltoall, d->send + ALL_AT, bytes, MPI_BYTE, d->receive + ALL_AT, bytes, MPI_BYTE, d->comm)  \
    X(Reduce, d->send + at, d->receive + at, bytes, MPI_BYTE, MPI_BOR, d->root, d->comm)           \
    X(Allreduce, d->send + at, d->receive + at, bytes, MPI_BYTE, MPI_BOR, d->comm)                 \
    X(Reduce_scatter_block, d->send + ALL_AT, d->receive + at, bytes, MPI_BYTE, MPI_BOR, d->comm)  \
    X(Scan, d->send + at, d->receive + at, bytes, MPI_BYTE, MPI_BOR, d->comm)                      \
    X(Exscan, d->send + at, d->receive + at, bytes, MPI_BYTE, MPI_BOR, d->comm)

#define FUNCTIONS(name, ...)                                                                       \
    static int piece_##name(struct lc_op_data *d, int at, int bytes) {                             \
        return MPI_##name(__VA_ARGS__);                                                            \
    }                                                                                              \
    static int larger_##name(struct lc_op_data *d) {                                               \
        return piece_##name(d, 0, 2 * d->n);                                                       \
    }                                                                                              \
    static int parts_##name(struct lc_op_data *d) {                                                \
        MPI_OK(piece_##name(d, 0, d->n / 2));                                                      \
        return piece_##name(d, d->n / 2, d->n - d->n / 2);                                         \
    }
DIVISIBLE(FUNCTIONS)

#define ENTRIES(name, ...)                                                                         \
    {"MPI_" #name "~larger", larger_##name, false, LC_OP_NO_WINDOW},                               \
        {"MPI_" #name "~parts", parts_##name, false, LC_OP_NO_WINDOW},
const struct lc_operation lc_mock_ups[] = {
    {"MPI_Barrier~Allreduce", barrier_allreduce, false, LC_OP_NO_WINDOW},
    {"MPI_Bcast~Allgatherv", bcast_allgatherv, false, LC_OP_NO_WINDOW},
    {"MPI_Bcast~Scatter_Allgather", bcast_scatter_allgather, false, LC_OP_NO_WINDOW},
    {"MPI_Gather~Allgather", gather_allgather, false, LC_OP_NO_WINDOW},
    {"MPI_Gather~Gatherv", gather_gatherv, false, LC_OP_NO_WINDOW},
    {"MPI_Gather~Reduce", gather_reduce, false, LC_OP_NO_WINDOW},
    {"MPI_Gatherv~Allgatherv", gatherv_allgatherv, false, LC_OP_NO_WINDOW},
    {"MPI_Scatter~Bcast", scatter_bcast, false, LC_OP_NO_WINDOW},
    {"MPI_Scatter~Scatterv", scatter_scatterv, false, LC_OP_NO_WINDOW},
    {"MPI_Scatterv~Bcast", scatter_bcast, false, LC_OP_NO_WINDOW},
    {"MPI_Allgather~Gather_Bcast", allgather_gather_bcast, false, LC_OP_NO_WINDOW},
    {"MPI_Allgather~Alltoall", allgather_alltoall, false, LC_OP_NO_WINDOW},
    {"MPI_Allgather~Allreduce", allgather_allreduce, false, LC_OP_NO_WINDOW},
    {"MPI_Allgather~Allgatherv", gatherv_allgatherv, false, LC_OP_NO_WINDOW},
    {"MPI_Allgatherv~Gatherv_Bcast", allgatherv_gatherv_bcast, false, LC_OP_NO_WINDOW},
    {"MPI_Alltoall~Alltoallv", alltoall_alltoallv, false, LC_OP_NO_WINDOW},
    {"MPI_Alltoallv~Alltoallw", alltoallv_alltoallw, false, LC_OP_NO_WINDOW},
    {"MPI_Reduce~Allreduce", reduce_allreduce, false, LC_OP_NO_WINDOW},
    {"MPI_Reduce~Reduce_scatter_block_Gather", reduce_reduce_scatter_gather, false,
     LC_OP_NO_WINDOW},
    {"MPI_Reduce~Reduce_scatter_Gatherv", reduce_reduce_scatter_gatherv, false, LC_OP_NO_WINDOW},
    {"MPI_Allreduce~Reduce_Bcast", allreduce_reduce_bcast, false, LC_OP_NO_WINDOW},
    {"MPI_Allreduce~Reduce_scatter_block_Allgather", allreduce_reduce_scatter_allgather, false,
     LC_OP_NO_WINDOW},
    {"MPI_Allreduce~Reduce_scatter_Allgatherv", allreduce_reduce_scatter_allgatherv, false,
     LC_OP_NO_WINDOW},
    {"MPI_Reduce_scatter~Reduce_Scatterv", reduce_scatter_reduce_scatterv, false, LC_OP_NO_WINDOW},
    {"MPI_Reduce_scatter~Allreduce", reduce_scatter_allreduce, false, LC_OP_NO_WINDOW},
    {"MPI_Reduce_scatter_block~Reduce_Scatter", block_reduce_then_scatter, false, LC_OP_NO_WINDOW},
    {"MPI_Reduce_scatter_block~Allreduce", reduce_scatter_allreduce, false, LC_OP_NO_WINDOW},
    {"MPI_Reduce_scatter_block~Reduce_scatter", block_reduce_scatter, false, LC_OP_NO_WINDOW},
    {"MPI_Scan~Exscan_Reduce_local", scan_exscan, false, LC_OP_NO_WINDOW},
    DIVISIBLE(ENTRIES){NULL, NULL, false, LC_OP_NO_WINDOW}};

size_t lc_operation_room(const char *name) {
    const char *mark = strchr(name, '~');
    return mark != NULL && strcmp(mark, "~larger") == 0 ? 2 : 1;
}

const struct lc_operation *lc_operation_find(const char *name) {
    const char *plus = strchr(name, '+');
    size_t length = plus != NULL ? (size_t)(plus - name) : strlen(name);
    bool overlap = plus != NULL && strcmp(plus, "+overlap") == 0;
    if (plus != NULL && (!overlap || strncmp(name, "MPI_I", 5) != 0))
        return NULL;
    const struct lc_operation *op = strchr(name, '~') != NULL ? lc_mock_ups : lc_operations;
    for (; op->name != NULL; op++)
        if (strlen(op->name) == length && strncmp(op->name, name, length) == 0)
            return op;
    return NULL;
}
