/* The operations that can be measured: one table. */
#ifndef LC_BENCH_HARNESS_BENCH_OPERATIONS_H
#define LC_BENCH_HARNESS_BENCH_OPERATIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "bench/harness/operation_data.h"

struct lc_operation {
    const char *name;
    int (*run)(struct lc_op_data *data); /* the error code of MPI */
    bool in_place;                       /* has such a form */
    enum lc_op_window window;            /* what it works on */
};

/* The last has no name. */
extern const struct lc_operation lc_operations[];

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
