#include <stdlib.h>
#include <stdbool.h>
#include <pthread.h>

#include "measure/mpi/handles.h"
#include "base/hash.h"
#include "format/raw.h"
#include "measure/core/core.h"
#include "measure/core/thread.h"

static struct lc_groups known; /* under lc_core.lock */

static uint64_t hash_of(const struct lc_comm *comm) {
    uint64_t hash = lc_hash_key((uint64_t)comm->size);
    for (int i = 0; i < comm->size; i++)
        hash = lc_hash_key(hash ^ (uint64_t)(uint32_t)comm->world[i]);
    return hash;
}

static bool has_number(const struct lc_comm *comm) {
    if (comm->inter || comm->size < 2)
        return false;
    for (int i = 0; i < comm->size; i++)
        if (comm->world[i] < 0) /* MPI_UNDEFINED */
            return false;
    return true;
}

/* The number of the group of a communicator, found or new; 0: an intercommunicator, one of a single
 * rank, or of processes outside of MPI_COMM_WORLD; LC_RAW_GROUP_OTHER: there are too many. With
 * lc_core.lock held. */
static uint32_t group_number(const struct lc_comm *comm) {
    uint32_t alike = 0;
    if (!has_number(comm))
        return 0;
    uint64_t hash = hash_of(comm);
    for (uint32_t i = 0; i < known.n; i++) {
        const struct lc_known_group *group = &known.group[i];
        if (group->hash == hash && group->size == (uint32_t)comm->size)
            return group->number;
        alike += group->size == (uint32_t)comm->size;
    }
    if (known.n == LC_GROUPS_MOST || alike + 1 >= LC_RAW_GROUP_OTHER)
        return LC_RAW_GROUP_OTHER;
    known.group[known.n++] = (struct lc_known_group){.hash = hash,
                                                     .size = (uint32_t)comm->size,
                                                     .position = (uint32_t)comm->rank,
                                                     .number = alike + 1};
    return alike + 1;
}

void lc_groups_get(struct lc_groups *groups) {
    *groups = known;
}

enum { BUCKETS = 256, GRAVES = 1024 };
static struct lc_comm *buckets[BUCKETS];
static struct lc_comm *freed_comms[GRAVES];
static uint32_t next_grave, next_id;

uint32_t lc_comm_id_new(void) {
    return next_id++;
}

static uint32_t bucket_of(MPI_Comm comm) {
    uint64_t mix = lc_hash_key((uint64_t)(uintptr_t)comm);
    return (uint32_t)(mix >> 56);
}

static uint32_t slot_of(MPI_Comm comm) {
    uint64_t mix = (uint64_t)(uintptr_t)comm;
    return (uint32_t)((mix ^ mix >> 5 ^ mix >> 10) % LC_COMM_SLOTS);
}

/* Fills in the world ranks of a group of n; false: MPI does not tell, or no memory. */
static bool translate(MPI_Group group, int n, int32_t *world) {
    MPI_Group all = MPI_GROUP_NULL;
    int *ranks = malloc(((size_t)n + 1) * sizeof *ranks);
    bool ok = ranks != NULL && lc_real.Comm_group(MPI_COMM_WORLD, &all) == MPI_SUCCESS;
    for (int i = 0; ok && i < n; i++)
        ranks[i] = i;
    ok = ok && lc_real.Group_translate_ranks(group, n, ranks, all, world) == MPI_SUCCESS;
    if (all != MPI_GROUP_NULL)
        lc_real.Group_free(&all);
    free(ranks);
    return ok;
}

int32_t *lc_group_world(MPI_Group group, int *n) {
    int32_t *world = NULL;
    if (lc_real.Group_size(group, n) == MPI_SUCCESS)
        world = malloc(((size_t)*n + 1) * sizeof *world);
    if (world != NULL && translate(group, *n, world))
        return world;
    free(world);
    *n = 0;
    return NULL;
}

typedef int ask_group(MPI_Comm comm, MPI_Group *group);

/* World ranks of a group of n; MPI_UNDEFINED where MPI does not tell. NULL: no memory. */
static int32_t *world_ranks(ask_group *ask, MPI_Comm comm, int n) {
    int32_t *world = malloc(((size_t)n + 1) * sizeof *world);
    MPI_Group group = MPI_GROUP_NULL;
    bool ok = world != NULL && ask(comm, &group) == MPI_SUCCESS && translate(group, n, world);
    for (int i = 0; world != NULL && !ok && i < n; i++)
        world[i] = MPI_UNDEFINED;
    if (group != MPI_GROUP_NULL)
        lc_real.Group_free(&group);
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
        c->id = lc_comm_id_new();
        lc_comm_insert(c, comm);
        pthread_mutex_unlock(&lc_core.lock);
    }
    t->comm_slots[slot_of(comm)] = c;
    return c;
}

void lc_comm_forget(struct lc_thread *t, MPI_Comm comm) {
    pthread_mutex_lock(&lc_core.lock);
    struct lc_comm **at = &buckets[bucket_of(comm)];
    while (*at != NULL && (*at)->handle != comm)
        at = &(*at)->next;
    struct lc_comm *c = *at;
    if (c != NULL) {
        *at = c->next;
        c->freed = true;
        struct lc_comm *old = freed_comms[next_grave];
        freed_comms[next_grave] = c;
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

void lc_comm_insert(struct lc_comm *c, MPI_Comm handle) {
    uint32_t bucket = bucket_of(handle), n = (uint32_t)c->size + (uint32_t)c->remote_size;
    c->handle = handle;
    c->row_flags = (n < LC_RAW_COMM_MOST ? n : (uint32_t)LC_RAW_COMM_MOST)
                       << LC_RAW_ROW_COMM_SHIFT |
                   group_number(c) << LC_RAW_ROW_GROUP_SHIFT;
    c->next = buckets[bucket];
    buckets[bucket] = c;
}

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
