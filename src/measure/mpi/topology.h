/* The neighbours of a rank in the topology of its communicator: Cartesian, graph or distributed
 * graph. Asked once per communicator, by counts of bytes, clocks and traces. */
#ifndef LC_MEASURE_MPI_TOPOLOGY_H
#define LC_MEASURE_MPI_TOPOLOGY_H

#include <mpi.h>
#include <stdint.h>

#include "format/facts.h"

struct lc_neighbours {
    int *sources, *targets; /* with MPI_PROC_NULL among them; targets NULL: the same as sources */
    int n_sources, n_targets;
};

/* Of `rank`, the caller's in `comm`; without a topology, or without memory, there are none. The
 * caller frees both with free(). */
void lc_neighbours_of(MPI_Comm comm, int rank, struct lc_neighbours *neighbours);

/* The Cartesian grid of the program: the largest of its communicators with one, as this process saw
 * it. Goes into the facts (gather/rank_facts.c). */

struct lc_comm;

/* A communicator was made: its grid, kept if it is the largest so far; n_dims 0 without one, or
 * with one of a single process. */
struct lc_grid lc_grid_seen(const struct lc_comm *comm);
/* The largest Cartesian grid seen so far; without dimensions: none. */
struct lc_grid lc_grid_largest(void);

#endif
