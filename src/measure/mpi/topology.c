#include <stdlib.h>
#include <pthread.h>
#include <stdbool.h>

#include "measure/mpi/topology.h"
#include "measure/core/core.h"
#include "measure/mpi/handles.h"

static void take_distributed(struct lc_neighbours *of, MPI_Comm comm) {
    int n_in = 0, n_out = 0, weighted = 0;
    if (lc_real.Dist_graph_neighbors_count(comm, &n_in, &n_out, &weighted) != MPI_SUCCESS)
        return;
    int *ranks[4]; /* sources, their weights, targets, their weights */
    for (int i = 0; i < 4; i++)
        ranks[i] = calloc((size_t)(i < 2 ? n_in : n_out) + 1, sizeof *ranks[i]);
    if (ranks[0] != NULL && ranks[1] != NULL && ranks[2] != NULL && ranks[3] != NULL &&
        lc_real.Dist_graph_neighbors(comm, n_in, ranks[0], ranks[1], n_out, ranks[2], ranks[3]) ==
            MPI_SUCCESS) {
        *of = (struct lc_neighbours){ranks[0], ranks[2], n_in, n_out};
        ranks[0] = ranks[2] = NULL;
    }
    for (int i = 0; i < 4; i++)
        free(ranks[i]);
}

static void take_cartesian(struct lc_neighbours *of, MPI_Comm comm) {
    int dims = 0;
    if (lc_real.Cartdim_get(comm, &dims) != MPI_SUCCESS || dims <= 0)
        return;
    of->sources = calloc(2 * (size_t)dims, sizeof *of->sources);
    if (of->sources == NULL)
        return;
    of->n_sources = of->n_targets = 2 * dims;
    for (int d = 0; d < dims; d++)
        lc_real.Cart_shift(comm, d, 1, &of->sources[2 * d], &of->sources[2 * d + 1]);
}

static void take_graph(struct lc_neighbours *of, MPI_Comm comm, int rank) {
    int n = 0;
    if (lc_real.Graph_neighbors_count(comm, rank, &n) != MPI_SUCCESS || n < 0)
        return;
    of->sources = calloc((size_t)n + 1, sizeof *of->sources);
    if (of->sources == NULL)
        return;
    of->n_sources = of->n_targets = n;
    lc_real.Graph_neighbors(comm, rank, n, of->sources);
}

void lc_neighbours_of(MPI_Comm comm, int rank, struct lc_neighbours *neighbours) {
    int kind = MPI_UNDEFINED;
    *neighbours = (struct lc_neighbours){0};
    if (lc_real.Topo_test(comm, &kind) != MPI_SUCCESS)
        return;
    if (kind == MPI_DIST_GRAPH)
        take_distributed(neighbours, comm);
    else if (kind == MPI_CART)
        take_cartesian(neighbours, comm);
    else if (kind == MPI_GRAPH)
        take_graph(neighbours, comm, rank);
}

static struct lc_grid largest; /* under lc_core.lock */

struct lc_grid lc_grid_seen(const struct lc_comm *comm) {
    struct lc_grid grid = {.size = 1};
    const struct lc_grid none = {.n_dims = 0};
    int kind = MPI_UNDEFINED, n = 0, coordinates[LC_GRID_DIMS];
    if (comm->inter || lc_real.Topo_test(comm->handle, &kind) != MPI_SUCCESS || kind != MPI_CART ||
        lc_real.Cartdim_get(comm->handle, &n) != MPI_SUCCESS || n < 1 || n > LC_GRID_DIMS ||
        lc_real.Cart_get(comm->handle, n, grid.dims, grid.periodic, coordinates) != MPI_SUCCESS)
        return none;
    for (int d = 0; d < n; d++)
        grid.size *= grid.dims[d] > 0 && grid.dims[d] <= comm->size ? (uint32_t)grid.dims[d] : 0;
    grid.n_dims = (uint32_t)n;
    grid.position = (uint32_t)comm->rank;
    if (grid.size != (uint32_t)comm->size || grid.size < 2)
        return none;
    pthread_mutex_lock(&lc_core.lock);
    if (grid.size > largest.size)
        largest = grid;
    pthread_mutex_unlock(&lc_core.lock);
    return grid;
}

struct lc_grid lc_grid_largest(void) {
    pthread_mutex_lock(&lc_core.lock);
    struct lc_grid grid = largest;
    pthread_mutex_unlock(&lc_core.lock);
    return grid;
}
