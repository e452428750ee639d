#include "measure/mpi/grid.h"

#include <pthread.h>
#include <stdbool.h>

#include "measure/mpi/handles.h"
#include "measure/core/core.h"

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
