/* The neighbours of a rank in the topology of its communicator: Cartesian, graph or distributed
 * graph. Asked once per communicator, by counts of bytes, clocks and traces. */
#ifndef LC_MEASURE_MPI_TOPOLOGY_H
#define LC_MEASURE_MPI_TOPOLOGY_H

#include <mpi.h>

struct lc_neighbours {
    int *sources, *targets; /* with MPI_PROC_NULL among them; targets NULL: the same as sources */
    int n_sources, n_targets;
};

/* Of `rank`, the caller's in `comm`; without a topology, or without memory, there are none. The
 * caller frees both with free(). */
void lc_neighbours_of(MPI_Comm comm, int rank, struct lc_neighbours *neighbours);

#endif
