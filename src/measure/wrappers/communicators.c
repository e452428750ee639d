#include "measure/hot/hot.h"
#include "measure/wrappers/complete.h"
#include "measure/wrappers/special.h"

#include <stdlib.h>
#include <string.h>
#include "base/timer.h"

#include "measure/mpi/handles.h"
#include "measure/mpi/operations.h"
#include "measure/mpi/request.h"
#include "measure/clocks/clocks_hooks.h"
#include "measure/core/core.h"
#include "measure/core/thread.h"
#include "measure/trace/trace_hooks.h"

/* Communicators that are made and freed, reported to the hooks. */

void lc_comm_new_end(struct lc_call *call, int result, MPI_Comm parent, const MPI_Comm *comm) {
    if (result != MPI_SUCCESS)
        return;
    struct lc_comm *from = parent != MPI_COMM_NULL ? lc_comm_get(call->thread, parent) : NULL;
    if (call->mode & LC_MODE_TRACE && from != NULL)
        lc_trace_made_from(call, from); /* also of those who are not in the new one */
    if (*comm == MPI_COMM_NULL)
        return;
    struct lc_comm *c = lc_comm_cold(call->thread, *comm);
    if (c == NULL)
        return;
    c->parent = from;
    const struct lc_grid grid = lc_grid_seen(c);
    lc_hook_comm_new(call, c);
    if (call->mode & LC_MODE_TRACE && grid.n_dims > 0)
        lc_trace_comm_grid(call, c, &grid);
    call->end = lc_ticks(); /* our own communication is not the program's work */
}

/* The processes that MPI_Comm_spawn starts run without the tool, unless what is spawned is
 * `latecomer run`: said once, and counted. */
void lc_spawned(int result, int root, MPI_Comm comm, const MPI_Comm *children) {
    int rank = -1, n = 0;
    if (result != MPI_SUCCESS || lc_real.Comm_rank(comm, &rank) != MPI_SUCCESS || rank != root ||
        lc_real.Comm_remote_size(*children, &n) != MPI_SUCCESS)
        return;
    atomic_fetch_add_explicit(&lc_core.n_spawned, (uint64_t)n, memory_order_relaxed);
    lc_say_once("MPI_Comm_spawn: %d processes: not measured, unless `latecomer run` was spawned",
                n);
}

void lc_comm_named(struct lc_call *call, int result, MPI_Comm comm, const char *name) {
    struct lc_comm *c = result == MPI_SUCCESS ? lc_comm_get(call->thread, comm) : NULL;
    if (c != NULL && call->mode & LC_MODE_TRACE)
        lc_trace_comm_named(call, c, name);
}

/* MPI_Comm_idup: the handle is valid only when the request is complete, and completion has no order
 * that members agree on. So the record is made at the call, as a copy of the parent's, with the
 * hooks, and gets its handle at completion. */
struct pending {
    struct pending *next;
    const struct lc_request *request;
    struct lc_comm *made;
    const MPI_Comm *handle; /* the program's, written by MPI */
};
static struct pending *pending;

static int32_t *copy_ranks(const int32_t *ranks, int n) {
    int32_t *copy = malloc(((size_t)n + 1) * sizeof *copy);
    if (copy != NULL)
        memcpy(copy, ranks, (size_t)n * sizeof *copy);
    return copy;
}

static struct lc_comm *copy_of(struct lc_comm *from) {
    struct lc_comm *c = calloc(1, sizeof *c);
    if (c == NULL)
        return NULL;
    c->handle = MPI_COMM_NULL;
    c->parent = from;
    c->size = from->size;
    c->rank = from->rank;
    c->inter = from->inter;
    c->remote_size = from->remote_size;
    c->n_in = c->n_out = -1;
    c->local_world = copy_ranks(from->local_world, from->size);
    c->world = from->inter ? copy_ranks(from->world, from->remote_size) : c->local_world;
    if (c->local_world == NULL || c->world == NULL) {
        free(c->local_world);
        free(c);
        return NULL;
    }
    return c;
}

static struct lc_request *duplicate(struct lc_call *call, MPI_Comm parent, const MPI_Comm *comm,
                                    const MPI_Request *request) {
    struct lc_comm *from = lc_comm_get(call->thread, parent);
    if (from == NULL)
        return NULL;
    struct lc_comm *c = copy_of(from);
    struct pending *p = c != NULL ? calloc(1, sizeof *p) : NULL;
    struct lc_request *r =
        p != NULL ? lc_request_insert(call->thread, *request, LC_REQUEST_OTHER) : NULL;
    if (r == NULL) { /* the record is made at the first use of the handle */
        free(p);
        free(c);
        return NULL;
    }
    r->fn = call->fn;
    r->active = true;
    *p = (struct pending){.request = r, .made = c, .handle = comm};
    pthread_mutex_lock(&lc_core.lock);
    c->id = lc_comm_id_new();
    p->next = pending;
    pending = p;
    pthread_mutex_unlock(&lc_core.lock);
    if (call->mode & LC_MODE_CLOCKS)
        lc_clocks_comm_new(call, c);
    return r;
}

void lc_comm_idup_end(struct lc_call *call, struct lc_coll *coll, int result, MPI_Comm parent,
                      const MPI_Comm *comm, const MPI_Request *request) {
    struct lc_request *r = result == MPI_SUCCESS ? duplicate(call, parent, comm, request) : NULL;
    if (coll->clocks != NULL && result == MPI_SUCCESS)
        lc_clocks_isync_end(call, coll, r);
    else if (coll->clocks != NULL)
        lc_clocks_coll_failed(call, coll, lc_was_refused(result));
}

void lc_comm_idup_complete(const struct lc_request *request) {
    pthread_mutex_lock(&lc_core.lock);
    struct pending **at = &pending;
    while (*at != NULL && (*at)->request != request)
        at = &(*at)->next;
    struct pending *p = *at;
    if (p != NULL)
        *at = p->next;
    if (p != NULL && *p->handle != MPI_COMM_NULL) /* else it failed */
        lc_comm_insert(p->made, *p->handle);
    pthread_mutex_unlock(&lc_core.lock);
    free(p);
}

void lc_comm_free_begin(struct lc_call *call, const MPI_Comm *comm) {
    if (comm == NULL || *comm == MPI_COMM_NULL)
        return;
    struct lc_comm *c = lc_comm_get(call->thread, *comm);
    if (c == NULL || c->id < 2) /* MPI refuses to free MPI_COMM_WORLD and MPI_COMM_SELF */
        return;
    lc_hook_comm_free(call, c);
    lc_comm_forget(call->thread, *comm);
}
