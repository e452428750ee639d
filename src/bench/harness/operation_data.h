/* What the operations of latecomer bench work on. */
#ifndef LC_BENCH_HARNESS_OPERATION_DATA_H
#define LC_BENCH_HARNESS_OPERATION_DATA_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* `bytes` are those that each rank contributes per partner: the whole
 * buffer of MPI_Bcast, one block of MPI_Alltoall. Reductions are MPI_BOR of MPI_BYTE. */
struct lc_op_data {
    MPI_Comm comm, ring; /* ring: a periodic one-dimensional grid over comm, for neighbours */
    int rank, size, n, root;
    bool in_place;
    char *send, *receive, *extra; /* room for a block of each rank; extra: of mock-ups */
    int *counts, *places;         /* [size + 2], equal blocks */
    /* of mock-ups, [size + 2] each: n in as many parts as ranks; n of the root alone, at 0 */
    int *parts, *part_places, *root_counts, *no_places;
    MPI_Datatype *types;
    MPI_Aint *far_places;
    MPI_Win window; /* of a block; MPI_WIN_NULL: none */
    char *window_memory;
    enum lc_op_window { LC_OP_NO_WINDOW, LC_OP_FENCED, LC_OP_LOCKED, LC_OP_UNLOCKED } epoch;
    double compute_ns; /* between start and completion of a nonblocking operation */
};

/* What computes beside a nonblocking operation: compute_ns. */
void lc_op_compute(const struct lc_op_data *data);

/* Collective over comm. Buffers have room for blocks of `room` times the bytes. lc_op_data_free().
 * LC_ERR_NOMEM; LC_ERR_RANGE: blocks of all ranks are 2 GiB and more. */
enum lc_err lc_op_data_new(struct lc_op_data *data, MPI_Comm comm, size_t bytes, size_t room,
                           int root);
/* Makes the window that a one-sided operation works on, in the epoch that it wants. Collective. The
 * error code of MPI. */
int lc_op_window_new(struct lc_op_data *data, enum lc_op_window kind);
/* Frees buffers, types, window and communicator, not the struct. Collective. */
void lc_op_data_free(struct lc_op_data *data);

#endif
