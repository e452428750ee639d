/* The operations that can be measured: one table. */
#ifndef LC_BENCH_HARNESS_BENCH_OPERATIONS_H
#define LC_BENCH_HARNESS_BENCH_OPERATIONS_H

#include <stdbool.h>

#include "bench/harness/operation_data.h"

struct lc_operation {
    const char *name;
    int (*run)(struct lc_op_data *data); /* the error code of MPI */
    bool in_place;                       /* has such a form */
    enum lc_op_window window;            /* what it works on */
};

/* The last has no name. */
extern const struct lc_operation lc_operations[];

#endif
