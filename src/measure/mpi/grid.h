/* The Cartesian grid of the program: the largest of its communicators with one, as this process saw
 * it. Goes into the facts (gather/rank_facts.c). */
#ifndef LC_MEASURE_MPI_GRID_H
#define LC_MEASURE_MPI_GRID_H

#include <stdint.h>

#include "format/facts.h"

struct lc_comm;

/* A communicator was made: its grid, kept if it is the largest so far; n_dims 0 without one, or
 * with one of a single process. */
struct lc_grid lc_grid_seen(const struct lc_comm *comm);
/* The largest Cartesian grid seen so far; without dimensions: none. */
struct lc_grid lc_grid_largest(void);

#endif
