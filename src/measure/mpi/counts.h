/* Counts per member, of int or MPI_Count. */
#ifndef LC_MEASURE_MPI_COUNTS_H
#define LC_MEASURE_MPI_COUNTS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* The program's arrays are read before MPI has looked at them; what is counted of a call that it
 * then refuses is taken back (lc_coll_failed). */
static inline uint64_t lc_count_at(const void *counts, bool large, int i) {
    if (counts == NULL)
        return 0;
    if (large)
        return (uint64_t)((const MPI_Count *)counts)[i];
    return (uint64_t)((const int *)counts)[i];
}

static inline uint64_t lc_count_sum(const void *counts, bool large, int n) {
    uint64_t sum = 0;
    for (int i = 0; i < n; i++)
        sum += lc_count_at(counts, large, i);
    return sum;
}

#endif
