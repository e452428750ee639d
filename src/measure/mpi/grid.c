#include "measure/mpi/grid.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
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

static const struct lc_grid *at(const struct lc_grid *grids, int i, uint32_t stride) {
    return (const struct lc_grid *)(const void *)((const char *)grids + (size_t)i * stride);
}

static bool same_shape(const struct lc_grid *a, const struct lc_grid *b) {
    return a->n_dims == b->n_dims && memcmp(a->dims, b->dims, sizeof a->dims) == 0 &&
           memcmp(a->periodic, b->periodic, sizeof a->periodic) == 0;
}

/* Grids of the same shape, as MPI_Cart_sub makes them, do not give one grid. */
static bool find_members(const struct lc_grid *grids, int n, uint32_t stride,
                         const struct lc_grid *of, int *members) {
    uint32_t found = 0;
    for (int i = 0; i < n; i++) {
        const struct lc_grid *grid = at(grids, i, stride);
        if (!same_shape(grid, of))
            continue;
        if (grid->position >= of->size || members[grid->position] >= 0)
            return false;
        members[grid->position] = i;
        found++;
    }
    return found == of->size;
}

static void put_list(struct lc_strbuf *out, const char *name, const int *values, size_t n) {
    lc_strbuf_printf(out, "\"%s\": [", name);
    for (size_t i = 0; i < n; i++)
        lc_strbuf_printf(out, i > 0 ? ", %d" : "%d", values[i]);
    lc_strbuf_putc(out, ']');
}

void lc_grid_put(struct lc_strbuf *out, const struct lc_grid *grids, int n, uint32_t stride) {
    const struct lc_grid *of = grids;
    for (int i = 1; i < n; i++)
        if (at(grids, i, stride)->size > of->size)
            of = at(grids, i, stride);
    int *members = of->n_dims > 0 ? malloc(of->size * sizeof *members) : NULL;
    if (members == NULL)
        return;
    for (uint32_t i = 0; i < of->size; i++)
        members[i] = -1;
    if (find_members(grids, n, stride, of, members)) {
        lc_strbuf_puts(out, ", \"topologies\": [{");
        put_list(out, "dims", of->dims, of->n_dims);
        lc_strbuf_puts(out, ", ");
        put_list(out, "periodic", of->periodic, of->n_dims);
        lc_strbuf_puts(out, ", ");
        put_list(out, "members", members, of->size);
        lc_strbuf_puts(out, "}]");
    }
    free(members);
}
