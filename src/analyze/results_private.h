/* The inside of struct lc_results, for results.c and write.c. */
#ifndef LC_ANALYZE_RESULTS_PRIVATE_H
#define LC_ANALYZE_RESULTS_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/lookup.h"
#include "analyze/results.h"

struct lc_result_cell {
    uint32_t cnode, location;
    union {
        int64_t ticks; /* or counts */
        double real;
    } value;
};

struct lc_result_metric {
    char name[64];
    bool real;
    struct lc_result_cell *cells;
    size_t n_cells, cap_cells;
    uint32_t last;
    bool is_sum;             /* this and the next: when the results are written (write.c) */
    uint32_t part_of;        /* the sum that contains it; LC_NONE: none does */
    struct lc_lookup places; /* of cells, by location and call path */
};

struct lc_results {
    struct lc_result_metric *metrics;
    size_t n_metrics, cap_metrics;
};

#endif
