#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/timer.h"
#include "measure/calls/communicators.h"
#include "measure/calls/failed.h"
#include "measure/calls/operations.h"
#include "measure/calls/request.h"
#include "measure/clocks/clocks_hooks.h"
#include "measure/core.h"
#include "measure/hooks.h"
#include "measure/hot.h"
#include "measure/thread.h"
#include "measure/trace/trace_calls.h"

/* Communicators and data types by handle. Records of freed communicators are kept for a while, as
 * requests may still point to them. */

enum { BUCKETS = 256, GRAVES = 1024 };
static struct lc_comm *buckets[BUCKETS];
static struct lc_comm *graves[GRAVES];
static uint32_t next_grave, next_id;

static uint32_t bucket_of(MPI_Comm comm) {
    uint64_t mix = lc_hash_key((uint64_t)(uintptr_t)comm);
    return (uint32_t)(mix >> 56);
}

static uint32_t slot_of(MPI_Comm comm) {
    uint64_t mix = (uint64_t)(uintptr_t)comm;
    return (uint32_t)((mix ^ mix >> 5 ^ mix >> 10) % LC_COMM_SLOTS);
}

typedef int ask_group(MPI_Comm comm, MPI_Group *group);

/* World ranks of a group of n; MPI_UNDEFINED where MPI does not tell. NULL: no memory. */
static int32_t *world_ranks(ask_group *ask, MPI_Comm comm, int n) {
    int32_t *world = malloc(((size_t)n + 1) * sizeof *world);
    int *ranks = malloc(((size_t)n + 1) * sizeof *ranks);
    MPI_Group all, group;
    if (world == NULL || ranks == NULL) {
        free(world);
        free(ranks);
        return NULL;
    }
    for (int i = 0; i < n; i++) {
        world[i] = MPI_UNDEFINED;
        ranks[i] = i;
    }
    if (ask(comm, &group) == MPI_SUCCESS) {
        if (lc_real.Comm_group(MPI_COMM_WORLD, &all) == MPI_SUCCESS) {
            if (lc_real.Group_translate_ranks(group, n, ranks, all, world) != MPI_SUCCESS)
                for (int i = 0; i < n; i++)
                    world[i] = MPI_UNDEFINED;
            lc_real.Group_free(&all);
        }
        lc_real.Group_free(&group);
    }
    free(ranks);
    return world;
}

/* false: no memory, or MPI does not know it. */
static bool describe(struct lc_comm *c) {
    int size = 0, rank = 0, inter = 0, remote = 0;
    if (lc_real.Comm_size(c->handle, &size) != MPI_SUCCESS ||
        lc_real.Comm_rank(c->handle, &rank) != MPI_SUCCESS ||
        lc_real.Comm_test_inter(c->handle, &inter) != MPI_SUCCESS)
        return false;
    c->size = size;
    c->rank = rank;
    c->inter = inter != 0;
    c->n_in = c->n_out = -1;
    c->world = c->local_world = world_ranks(lc_real.Comm_group, c->handle, size);
    if (!c->inter || c->local_world == NULL)
        return c->local_world != NULL;
    if (lc_real.Comm_remote_size(c->handle, &remote) == MPI_SUCCESS)
        c->remote_size = remote;
    c->world = world_ranks(lc_real.Comm_remote_group, c->handle, c->remote_size);
    if (c->world == NULL)
        free(c->local_world);
    return c->world != NULL;
}

LC_COLD struct lc_comm *lc_comm_cold(struct lc_thread *t, MPI_Comm comm) {
    if (comm == MPI_COMM_NULL || !lc_core.initialised || lc_core.finalized)
        return NULL;
    uint32_t bucket = bucket_of(comm);
    pthread_mutex_lock(&lc_core.lock);
    struct lc_comm *c = buckets[bucket];
    while (c != NULL && c->handle != comm)
        c = c->next;
    pthread_mutex_unlock(&lc_core.lock);
    if (c == NULL) {
        c = calloc(1, sizeof *c);
        if (c == NULL)
            return NULL;
        c->handle = comm;
        if (!describe(c)) { /* calls MPI: not under the lock */
            free(c);
            return NULL;
        }
        pthread_mutex_lock(&lc_core.lock);
        c->id = next_id++;
        c->next = buckets[bucket];
        buckets[bucket] = c;
        pthread_mutex_unlock(&lc_core.lock);
    }
    t->comm_slots[slot_of(comm)] = c;
    return c;
}

/* before the handle is freed */
static void comm_forget(struct lc_thread *t, MPI_Comm comm) {
    pthread_mutex_lock(&lc_core.lock);
    struct lc_comm **at = &buckets[bucket_of(comm)];
    while (*at != NULL && (*at)->handle != comm)
        at = &(*at)->next;
    struct lc_comm *c = *at;
    if (c != NULL) {
        *at = c->next;
        c->freed = true;
        struct lc_comm *old = graves[next_grave];
        graves[next_grave] = c;
        next_grave = (next_grave + 1) % GRAVES;
        if (old != NULL) {
            if (old->world != old->local_world)
                free(old->world);
            free(old->local_world);
            free(old);
        }
    }
    bool others = lc_core.threads != NULL && lc_core.threads->next != NULL;
    pthread_mutex_unlock(&lc_core.lock);
    t->comm_slots[slot_of(comm)] = NULL;
    if (others)
        lc_mode_change(0, LC_MODE_FLUSH_COMMS);
}

LC_COLD int64_t lc_type_cold(struct lc_thread *t, MPI_Datatype type) {
    if (type == MPI_DATATYPE_NULL)
        return 0;
    MPI_Count bytes = 0;
    if (lc_real.Type_size_x(type, &bytes) != MPI_SUCCESS || bytes < 0)
        return 0;
    uint64_t mix = (uint64_t)(uintptr_t)type;
    struct lc_type_slot *slot = &t->type_slots[(mix ^ mix >> 6 ^ mix >> 12) % LC_TYPE_SLOTS];
    slot->type = type;
    slot->size_bytes = (int64_t)bytes;
    return (int64_t)bytes;
}

void lc_type_free_begin(struct lc_thread *t, const MPI_Datatype *given) {
    if (given == NULL)
        return;
    MPI_Datatype type = *given;
    for (int i = 0; i < LC_TYPE_SLOTS; i++)
        if (t->type_slots[i].type == type)
            t->type_slots[i].size_bytes = -1;
    pthread_mutex_lock(&lc_core.lock);
    bool others = lc_core.threads != NULL && lc_core.threads->next != NULL;
    pthread_mutex_unlock(&lc_core.lock);
    if (others)
        lc_mode_change(0, LC_MODE_FLUSH_TYPES);
}

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
    lc_hook_comm_new(call, c);
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
    c->id = next_id++;
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
    if (coll->clocks[0] != 0 && result == MPI_SUCCESS)
        lc_clocks_isync_end(call, coll, r);
    else if (coll->clocks[0] != 0)
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
    if (p != NULL && *p->handle != MPI_COMM_NULL) { /* else it failed */
        struct lc_comm *c = p->made;
        uint32_t bucket = bucket_of(*p->handle);
        c->handle = *p->handle;
        c->next = buckets[bucket];
        buckets[bucket] = c;
    }
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
    comm_forget(call->thread, *comm);
}
