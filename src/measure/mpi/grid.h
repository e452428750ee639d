/* The Cartesian grid of the program: the largest of its communicators with one, as this process saw
 * it. Goes into meta of the result (gather/rank_meta.c). */
#ifndef LC_MEASURE_MPI_GRID_H
#define LC_MEASURE_MPI_GRID_H

#include <stdint.h>

#include "format/trace_def_records.h"

struct lc_comm;
struct lc_strbuf;

struct lc_grid {
    uint32_t n_dims;   /* 0: none */
    uint32_t size;     /* positions */
    uint32_t position; /* of this process; the last dimension counts fastest */
    int32_t dims[LC_GRID_DIMS], periodic[LC_GRID_DIMS];
};

/* A communicator was made: its grid, kept if it is the largest so far; n_dims 0 without one, or
 * with one of a single process. */
struct lc_grid lc_grid_seen(const struct lc_comm *comm);
/* The largest Cartesian grid seen so far; without dimensions: none. */
struct lc_grid lc_grid_largest(void);
/* `, "topologies": [{"dims": [..], "periodic": [..], "members": [..]}]` from the grids of n ranks,
 * of which the `stride` bytes apart: the largest one of which every position is known; nothing
 * without one. */
void lc_grid_put(struct lc_strbuf *out, const struct lc_grid *grids, int n, uint32_t stride);

#endif
