/* Handles, groups, communicators. */
#include "sim_mpi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *sim_new(size_t bytes) {
    void *memory = calloc(1, bytes);
    if (memory == NULL)
        sim_fail("no memory");
    return memory;
}

int sim_handle(struct sim_table *t, void *object) {
    int i = t->lowest;
    while (i < t->n && t->objects[i] != NULL)
        i++;
    if (i >= t->n) {
        int n = i >= 32 ? 2 * i : 64;
        t->objects = realloc(t->objects, (size_t)n * sizeof *t->objects);
        if (t->objects == NULL)
            sim_fail("no memory");
        memset(t->objects + t->n, 0, (size_t)(n - t->n) * sizeof *t->objects);
        t->n = n;
    }
    t->objects[i] = object;
    return (int)(t->kind | (unsigned)i);
}

void *sim_object(const struct sim_table *t, int handle) {
    unsigned h = (unsigned)handle;
    int i = (int)(h & 0xffffff);
    return (h & 0xff000000u) == t->kind && i < t->n ? t->objects[i] : NULL;
}

void sim_drop(struct sim_table *t, int handle) {
    t->objects[handle & 0xffffff] = NULL;
}

/* ---- groups ---- */

static struct sim_table groups = {.kind = 0x88000000u};
static struct sim_group empty = {.rank = MPI_UNDEFINED};

struct sim_group *sim_group_new(int size) {
    struct sim_group *g = sim_new(sizeof *g);
    g->size = size;
    g->world = sim_new((size_t)size * sizeof *g->world + 1);
    g->rank = MPI_UNDEFINED;
    return g;
}

static void group_free(struct sim_group *g) {
    if (g != NULL && g != &empty) {
        free(g->world);
        free(g);
    }
}

static struct sim_group *find_own_rank(struct sim_group *g) {
    g->rank = MPI_UNDEFINED;
    for (int i = 0; i < g->size; i++)
        if (g->world[i] == sim_self()->rank)
            g->rank = i;
    return g;
}

static struct sim_group *group_copy(const struct sim_group *g) {
    struct sim_group *copy = sim_group_new(g->size);
    memcpy(copy->world, g->world, (size_t)g->size * sizeof *g->world);
    return find_own_rank(copy);
}

static int place_of(const struct sim_group *g, int world) {
    for (int i = 0; i < g->size; i++)
        if (g->world[i] == world)
            return i;
    return MPI_UNDEFINED;
}

struct sim_group *sim_group(MPI_Group group) {
    return group == MPI_GROUP_EMPTY ? &empty : sim_object(&groups, group);
}

/* A handle of what becomes ours. */
static int group_handle(struct sim_group *g, MPI_Group *handle) {
    find_own_rank(g);
    if (g->size == 0) {
        group_free(g);
        *handle = MPI_GROUP_EMPTY;
    } else {
        *handle = sim_handle(&groups, g);
    }
    return MPI_SUCCESS;
}

#define GROUP(handle)                                                                              \
    ({                                                                                             \
        struct sim_group *group_ = sim_group(handle);                                              \
        if (group_ == NULL)                                                                        \
            return sim_error(NULL, MPI_ERR_GROUP);                                                 \
        group_;                                                                                    \
    })

BOTH(MPI_Group_size)(MPI_Group group, int *size) {
    *size = GROUP(group)->size;
    return MPI_SUCCESS;
}

BOTH(MPI_Group_rank)(MPI_Group group, int *rank) {
    *rank = GROUP(group)->rank;
    return MPI_SUCCESS;
}

BOTH(MPI_Group_free)(MPI_Group *group) {
    struct sim_group *g = GROUP(*group);
    if (g != &empty)
        sim_drop(&groups, *group);
    group_free(g);
    *group = MPI_GROUP_NULL;
    return MPI_SUCCESS;
}

static bool good_ranks(const struct sim_group *g, int n, const int *ranks) {
    for (int i = 0; i < n; i++) {
        if (ranks[i] < 0 || ranks[i] >= g->size)
            return false;
        for (int j = 0; j < i; j++)
            if (ranks[i] == ranks[j])
                return false;
    }
    return n >= 0;
}

BOTH(MPI_Group_incl)(MPI_Group group, int n, const int *ranks, MPI_Group *new) {
    const struct sim_group *g = GROUP(group);
    if (!good_ranks(g, n, ranks))
        return sim_error(NULL, MPI_ERR_RANK);
    struct sim_group *made = sim_group_new(n);
    for (int i = 0; i < n; i++)
        made->world[i] = g->world[ranks[i]];
    return group_handle(made, new);
}

BOTH(MPI_Group_excl)(MPI_Group group, int n, const int *ranks, MPI_Group *new) {
    const struct sim_group *g = GROUP(group);
    if (!good_ranks(g, n, ranks))
        return sim_error(NULL, MPI_ERR_RANK);
    struct sim_group *made = sim_group_new(g->size);
    made->size = 0;
    for (int i = 0; i < g->size; i++) {
        bool out = false;
        for (int j = 0; j < n; j++)
            out = out || ranks[j] == i;
        if (!out)
            made->world[made->size++] = g->world[i];
    }
    return group_handle(made, new);
}

/* Ranks of the ranges, in their order; the caller frees. */
static int *spread(int n, int ranges[][3], int *count) {
    int *ranks = sim_new(65536 * sizeof *ranks);
    *count = 0;
    for (int i = 0; i < n; i++)
        for (int r = ranges[i][0]; ranges[i][2] > 0 ? r <= ranges[i][1] : r >= ranges[i][1];
             r += ranges[i][2]) {
            if (ranges[i][2] == 0 || *count == 65536)
                break;
            ranks[(*count)++] = r;
        }
    return ranks;
}

BOTH(MPI_Group_range_incl)(MPI_Group group, int n, int ranges[][3], MPI_Group *new) {
    int count, *ranks = spread(n, ranges, &count);
    int result = PMPI_Group_incl(group, count, ranks, new);
    free(ranks);
    return result;
}

BOTH(MPI_Group_range_excl)(MPI_Group group, int n, int ranges[][3], MPI_Group *new) {
    int count, *ranks = spread(n, ranges, &count);
    int result = PMPI_Group_excl(group, count, ranks, new);
    free(ranks);
    return result;
}

/* Those of a that are in b, or are not; then those of c that are not in a. */
static int combine(const struct sim_group *a, const struct sim_group *b, bool in,
                   const struct sim_group *c, MPI_Group *new) {
    struct sim_group *made = sim_group_new(a->size + c->size);
    made->size = 0;
    for (int i = 0; i < a->size; i++)
        if (b == NULL || (place_of(b, a->world[i]) != MPI_UNDEFINED) == in)
            made->world[made->size++] = a->world[i];
    for (int i = 0; i < c->size; i++)
        if (place_of(a, c->world[i]) == MPI_UNDEFINED)
            made->world[made->size++] = c->world[i];
    return group_handle(made, new);
}

BOTH(MPI_Group_union)(MPI_Group a, MPI_Group b, MPI_Group *new) {
    return combine(GROUP(a), NULL, true, GROUP(b), new);
}

BOTH(MPI_Group_intersection)(MPI_Group a, MPI_Group b, MPI_Group *new) {
    return combine(GROUP(a), GROUP(b), true, &empty, new);
}

BOTH(MPI_Group_difference)(MPI_Group a, MPI_Group b, MPI_Group *new) {
    return combine(GROUP(a), GROUP(b), false, &empty, new);
}

static int compare(const struct sim_group *a, const struct sim_group *b) {
    bool same = a->size == b->size;
    for (int i = 0; i < a->size; i++) {
        if (place_of(b, a->world[i]) == MPI_UNDEFINED)
            return MPI_UNEQUAL;
        same = same && a->world[i] == b->world[i];
    }
    if (a->size != b->size)
        return MPI_UNEQUAL;
    return same ? MPI_IDENT : MPI_SIMILAR;
}

BOTH(MPI_Group_compare)(MPI_Group a, MPI_Group b, int *result) {
    *result = compare(GROUP(a), GROUP(b));
    return MPI_SUCCESS;
}

BOTH(MPI_Group_translate_ranks)
(MPI_Group from, int n, const int *ranks, MPI_Group to, int *translated) {
    const struct sim_group *a = GROUP(from), *b = GROUP(to);
    for (int i = 0; i < n; i++) {
        if (ranks[i] != MPI_PROC_NULL && (ranks[i] < 0 || ranks[i] >= a->size))
            return sim_error(NULL, MPI_ERR_RANK);
        translated[i] = ranks[i] == MPI_PROC_NULL ? MPI_PROC_NULL : place_of(b, a->world[ranks[i]]);
    }
    return MPI_SUCCESS;
}

/* ---- communicators ---- */

static struct sim_table comms = {.kind = 0x84000000u};
static struct sim_comm *world, *own;

enum { WORLD_CONTEXT = 2, SELF_CONTEXT = 3 };

struct sim_comm *sim_comm(MPI_Comm comm) {
    if (comm == MPI_COMM_WORLD)
        return world;
    return comm == MPI_COMM_SELF ? own : sim_object(&comms, comm);
}

int sim_check_comm(MPI_Comm comm, struct sim_comm **found) {
    if (world == NULL)
        sim_fail("a call before MPI_Init");
    *found = sim_comm(comm);
    return *found == NULL ? sim_error(NULL, MPI_ERR_COMM) : MPI_SUCCESS;
}

struct sim_comm *sim_comm_new(uint64_t context, struct sim_group *group, struct sim_group *remote) {
    struct sim_comm *c = sim_new(sizeof *c);
    c->context = context;
    c->group = find_own_rank(group);
    c->remote = remote;
    c->low = remote == NULL || group->world[0] < remote->world[0];
    c->errhandler = MPI_ERRORS_ARE_FATAL;
    c->uses = 1;
    return c;
}

uint64_t sim_context(const struct sim_comm *c, bool own_message) {
    return 2 * c->context + own_message;
}

const struct sim_group *sim_others(const struct sim_comm *c) {
    return c->remote != NULL ? c->remote : c->group;
}

void sim_comms_start(void) {
    int n = sim->model.ranks;
    struct sim_group *all = sim_group_new(n), *one = sim_group_new(1);
    for (int i = 0; i < n; i++)
        all->world[i] = i;
    one->world[0] = sim_self()->rank;
    world = sim_comm_new(WORLD_CONTEXT, all, NULL);
    own = sim_comm_new((uint64_t)(sim_self()->rank + 1) << 40 | SELF_CONTEXT, one, NULL);
    world->handle = MPI_COMM_WORLD;
    own->handle = MPI_COMM_SELF;
    strcpy(world->name, "MPI_COMM_WORLD");
    strcpy(own->name, "MPI_COMM_SELF");
}

static MPI_Comm comm_handle(struct sim_comm *c, const struct sim_comm *parent) {
    if (parent != NULL)
        c->errhandler = parent->errhandler;
    return c->handle = sim_handle(&comms, c);
}

int sim_members(const struct sim_comm *c) {
    return c->group->size + (c->remote != NULL ? c->remote->size : 0);
}

int sim_member(const struct sim_comm *c, int rank, bool remote) {
    if (c->remote == NULL || c->low == !remote)
        return rank;
    return rank + (remote ? c->group->size : c->remote->size);
}

struct sim_request *sim_comm_meet(struct sim_comm *c, const char *what, const void *data,
                                  size_t bytes, const unsigned char *needs) {
    return sim_meet(c->context, c->meetings++, sim_members(c), sim_member(c, c->group->rank, false),
                    what, sim->model.latency_ns, data, bytes, needs);
}

static bool is_complete(void *request) {
    return ((struct sim_request *)request)->complete;
}

void sim_wait_request(struct sim_request *request) {
    sim_wait_until(is_complete, request);
}

static struct sim_meeting *finish_meeting(struct sim_request *request) {
    struct sim_meeting *meeting = request->meeting;
    sim_wait_request(request);
    sim_request_free(request);
    return meeting;
}

struct sim_meeting *sim_all_meet(struct sim_comm *c, const char *what, const void *data,
                                 size_t bytes, const unsigned char *needs) {
    return finish_meeting(sim_comm_meet(c, what, data, bytes, needs));
}

struct sim_meeting *sim_all_meet_at_once(struct sim_comm *c, const char *what) {
    return finish_meeting(sim_meet(c->context, c->meetings++, sim_members(c),
                                   sim_member(c, c->group->rank, false), what, 0, NULL, 0, NULL));
}

static void leave(const struct sim_comm *c, struct sim_meeting *meeting) {
    sim_leave(meeting, sim_member(c, c->group->rank, false));
}

BOTH(MPI_Comm_size)(MPI_Comm comm, int *size) {
    struct sim_comm *c;
    TRY(sim_check_comm(comm, &c));
    *size = c->group->size;
    return MPI_SUCCESS;
}

BOTH(MPI_Comm_rank)(MPI_Comm comm, int *rank) {
    struct sim_comm *c;
    TRY(sim_check_comm(comm, &c));
    *rank = c->group->rank;
    return MPI_SUCCESS;
}

BOTH(MPI_Comm_test_inter)(MPI_Comm comm, int *inter) {
    struct sim_comm *c;
    TRY(sim_check_comm(comm, &c));
    *inter = c->remote != NULL;
    return MPI_SUCCESS;
}

BOTH(MPI_Comm_remote_size)(MPI_Comm comm, int *size) {
    struct sim_comm *c;
    TRY(sim_check_comm(comm, &c));
    if (c->remote == NULL)
        return sim_error(c, MPI_ERR_COMM);
    *size = c->remote->size;
    return MPI_SUCCESS;
}

int sim_group_of(const struct sim_comm *c, MPI_Group *group) {
    return group_handle(group_copy(c->group), group);
}

BOTH(MPI_Comm_group)(MPI_Comm comm, MPI_Group *group) {
    struct sim_comm *c;
    TRY(sim_check_comm(comm, &c));
    return sim_group_of(c, group);
}

BOTH(MPI_Comm_remote_group)(MPI_Comm comm, MPI_Group *group) {
    struct sim_comm *c;
    TRY(sim_check_comm(comm, &c));
    if (c->remote == NULL)
        return sim_error(c, MPI_ERR_COMM);
    return group_handle(group_copy(c->remote), group);
}

BOTH(MPI_Comm_compare)(MPI_Comm a, MPI_Comm b, int *result) {
    struct sim_comm *x, *y;
    TRY(sim_check_comm(a, &x));
    TRY(sim_check_comm(b, &y));
    if ((x->remote == NULL) != (y->remote == NULL)) {
        *result = MPI_UNEQUAL;
        return MPI_SUCCESS;
    }
    *result = compare(x->group, y->group);
    if (x->remote != NULL && compare(x->remote, y->remote) > *result)
        *result = compare(x->remote, y->remote);
    if (x != y && *result == MPI_IDENT)
        *result = MPI_CONGRUENT;
    return MPI_SUCCESS;
}

BOTH(MPI_Comm_set_name)(MPI_Comm comm, const char *name) {
    struct sim_comm *c;
    TRY(sim_check_comm(comm, &c));
    snprintf(c->name, sizeof c->name, "%s", name);
    return MPI_SUCCESS;
}

BOTH(MPI_Comm_get_name)(MPI_Comm comm, char *name, int *length) {
    struct sim_comm *c;
    TRY(sim_check_comm(comm, &c));
    strcpy(name, c->name);
    *length = (int)strlen(name);
    return MPI_SUCCESS;
}

static int comm_release(MPI_Comm *comm) {
    struct sim_comm *c;
    TRY(sim_check_comm(*comm, &c));
    if (c == world || c == own)
        return sim_error(c, MPI_ERR_COMM);
    TRY(sim_attributes_free(*comm, &c->attributes));
    sim_drop(&comms, *comm); /* requests may still need the rest of it */
    sim_topology_free(c->topology);
    c->topology = NULL;
    c->freed = true;
    *comm = MPI_COMM_NULL;
    return MPI_SUCCESS;
}

BOTH(MPI_Comm_free)(MPI_Comm *comm) {
    ENTER("MPI_Comm_free");
    return comm_release(comm);
}

BOTH(MPI_Comm_disconnect)(MPI_Comm *comm) {
    ENTER("MPI_Comm_disconnect");
    return comm_release(comm);
}

static struct sim_comm *twin(const struct sim_comm *c, uint64_t context) {
    struct sim_comm *made = sim_comm_new(context, group_copy(c->group),
                                         c->remote != NULL ? group_copy(c->remote) : NULL);
    made->low = c->low;
    return made;
}

/* The numbers for new contexts are drawn when the first member comes, so they are known at once. */
static int duplicate(const char *what, MPI_Comm comm, bool attributes, MPI_Comm *new,
                     struct sim_request **request) {
    struct sim_comm *c;
    ENTER(what);
    TRY(sim_check_comm(comm, &c));
    *request = sim_comm_meet(c, what, NULL, 0, NULL);
    struct sim_comm *made = twin(c, (*request)->meeting->fresh);
    made->topology = sim_topology_copy(c->topology);
    *new = comm_handle(made, c);
    if (attributes) {
        int result = sim_attributes_copy(comm, c->attributes, &made->attributes);
        if (result != MPI_SUCCESS) {
            sim_drop(&comms, *new);
            *new = MPI_COMM_NULL;
            return sim_error(c, result);
        }
    }
    return MPI_SUCCESS;
}

static int duplicate_now(const char *what, MPI_Comm comm, MPI_Comm *new) {
    struct sim_request *request = NULL;
    int result = duplicate(what, comm, true, new, &request);
    if (request != NULL)
        leave(sim_comm(comm), finish_meeting(request));
    return result;
}

BOTH(MPI_Comm_dup)(MPI_Comm comm, MPI_Comm *new) {
    return duplicate_now("MPI_Comm_dup", comm, new);
}

BOTH(MPI_Comm_dup_with_info)(MPI_Comm comm, MPI_Info info, MPI_Comm *new) {
    (void)info;
    return duplicate_now("MPI_Comm_dup_with_info", comm, new);
}

static int duplicate_later(const char *what, MPI_Comm comm, MPI_Comm *new, MPI_Request *request) {
    struct sim_request *meeting = NULL;
    TRY(duplicate(what, comm, true, new, &meeting));
    struct sim_handle *handle = sim_handle_new(SIM_USE_COLLECTIVE);
    handle->request = meeting;
    handle->comm = sim_comm(comm);
    handle->active = true;
    *request = sim_request_handle(handle);
    return MPI_SUCCESS;
}

BOTH(MPI_Comm_idup)(MPI_Comm comm, MPI_Comm *new, MPI_Request *request) {
    return duplicate_later("MPI_Comm_idup", comm, new, request);
}

BOTH(MPI_Comm_idup_with_info)
(MPI_Comm comm, MPI_Info info, MPI_Comm *new, MPI_Request *request) {
    (void)info;
    return duplicate_later("MPI_Comm_idup_with_info", comm, new, request);
}

struct choice {
    int colour, key, rank, world;
};

static int by_key(const void *a, const void *b) {
    const struct choice *x = a, *y = b;
    return x->key != y->key ? (x->key < y->key ? -1 : 1)
                            : (x->rank > y->rank) - (x->rank < y->rank);
}

/* Those of this colour, sorted; first: the smallest member. NULL: none. */
static struct sim_group *chosen(const struct sim_comm *c, const struct sim_meeting *m, bool remote,
                                int colour, int *first) {
    const struct sim_group *from = remote ? c->remote : c->group;
    struct choice *all = sim_new((size_t)from->size * sizeof *all);
    int n = 0;
    for (int i = 0; i < from->size; i++) {
        int member = sim_member(c, i, remote);
        memcpy(&all[n], m->parts[member].data, sizeof *all);
        if (all[n].colour != colour)
            continue;
        if (member < *first)
            *first = member;
        n++;
    }
    struct sim_group *g = n > 0 ? sim_group_new(n) : NULL;
    qsort(all, (size_t)n, sizeof *all, by_key);
    for (int i = 0; i < n; i++)
        g->world[i] = all[i].world;
    free(all);
    return g;
}

static int split(const char *what, MPI_Comm comm, int colour, int key, MPI_Comm *new) {
    struct sim_comm *c;
    ENTER(what);
    TRY(sim_check_comm(comm, &c));
    if (colour < 0 && colour != MPI_UNDEFINED)
        return sim_error(c, MPI_ERR_ARG);
    struct choice mine = {colour, key, c->group->rank, sim_self()->rank};
    struct sim_meeting *m = sim_all_meet(c, what, &mine, sizeof mine, NULL);
    int first = sim_members(c);
    struct sim_group *group = chosen(c, m, false, colour, &first);
    struct sim_group *remote = c->remote != NULL ? chosen(c, m, true, colour, &first) : NULL;
    *new = MPI_COMM_NULL;
    if (colour != MPI_UNDEFINED && (c->remote == NULL || remote != NULL)) {
        struct sim_comm *made = sim_comm_new(m->fresh + (uint64_t)first, group, remote);
        made->low = c->low;
        *new = comm_handle(made, c);
    } else {
        group_free(group);
        group_free(remote);
    }
    leave(c, m);
    return MPI_SUCCESS;
}

BOTH(MPI_Comm_split)(MPI_Comm comm, int colour, int key, MPI_Comm *new) {
    return split("MPI_Comm_split", comm, colour, key, new);
}

BOTH(MPI_Comm_split_type)(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *new) {
    (void)info;
    int node = sim_self()->rank * sim->model.nodes / sim->model.ranks;
    return split("MPI_Comm_split_type", comm, type == MPI_UNDEFINED ? MPI_UNDEFINED : node, key,
                 new);
}

BOTH(MPI_Comm_create)(MPI_Comm comm, MPI_Group group, MPI_Comm *new) {
    struct sim_comm *c;
    ENTER("MPI_Comm_create");
    TRY(sim_check_comm(comm, &c));
    const struct sim_group *g = GROUP(group);
    for (int i = 0; i < g->size; i++)
        if (place_of(c->group, g->world[i]) == MPI_UNDEFINED)
            return sim_error(c, MPI_ERR_GROUP);
    struct sim_meeting *m =
        sim_all_meet(c, "MPI_Comm_create", g->world, (size_t)g->size * sizeof *g->world, NULL);
    struct sim_group *remote = NULL;
    *new = MPI_COMM_NULL;
    if (c->remote != NULL) { /* what the others gave: all of them the same */
        const struct sim_part *p = &m->parts[sim_member(c, 0, true)];
        remote = sim_group_new((int)(p->bytes / sizeof(int)));
        if (p->bytes > 0)
            memcpy(remote->world, p->data, p->bytes);
    }
    if (g->rank != MPI_UNDEFINED && (remote == NULL || remote->size > 0)) {
        int first = sim_member(c, place_of(c->group, g->world[0]), false);
        for (int i = 0; i < g->size; i++) {
            int member = sim_member(c, place_of(c->group, g->world[i]), false);
            first = member < first ? member : first;
        }
        for (int i = 0; remote != NULL && i < remote->size; i++) {
            int member = sim_member(c, place_of(c->remote, remote->world[i]), true);
            first = member < first ? member : first;
        }
        struct sim_comm *made = sim_comm_new(m->fresh + (uint64_t)first, group_copy(g), remote);
        made->low = c->low;
        *new = comm_handle(made, c);
    } else {
        group_free(remote);
    }
    leave(c, m);
    return MPI_SUCCESS;
}

/* Operations among some members of a communicator have contexts of their own: by the communicator,
 * the tag and the first member; how many there were so far. */
static uint64_t next_of(uint64_t context) {
    static struct counted {
        uint64_t context, n;
        struct counted *next;
    } * all;
    struct counted *c = all;
    while (c != NULL && c->context != context)
        c = c->next;
    if (c == NULL) {
        c = sim_new(sizeof *c);
        c->context = context;
        c->next = all;
        all = c;
    }
    return c->n++;
}

static struct sim_meeting *group_meet(const struct sim_comm *c, const struct sim_group *g, int tag,
                                      const char *what) {
    uint64_t context =
        1ull << 63 | c->context << 40 | (uint64_t)(unsigned)tag << 12 | (uint64_t)g->world[0];
    return finish_meeting(sim_meet(context, next_of(context), g->size, g->rank, what,
                                   sim->model.latency_ns, NULL, 0, NULL));
}

BOTH(MPI_Comm_create_group)(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *new) {
    struct sim_comm *c;
    ENTER("MPI_Comm_create_group");
    TRY(sim_check_comm(comm, &c));
    const struct sim_group *g = GROUP(group);
    *new = MPI_COMM_NULL;
    if (g->rank == MPI_UNDEFINED)
        return MPI_SUCCESS;
    struct sim_meeting *m = group_meet(c, g, tag, "MPI_Comm_create_group");
    *new = comm_handle(sim_comm_new(m->fresh, group_copy(g), NULL), c);
    sim_leave(m, g->rank);
    return MPI_SUCCESS;
}

/* The leaders tell each other who they are; then both groups meet. */
struct leader {
    uint64_t fresh;
    int n, world[SIM_MOST_RANKS];
};

static void exchange(struct sim_comm *peers, int other, int tag, const struct leader *mine,
                     struct leader *theirs) {
    struct sim_envelope to = {sim_context(peers, true), sim_others(peers)->world[other],
                              peers->group->rank, tag};
    struct sim_request *send = sim_send(to, mine, sizeof *mine, false, true);
    struct sim_request *receive = sim_receive(sim_context(peers, true), other, tag);
    sim_wait_request(send);
    sim_wait_request(receive);
    memcpy(theirs, receive->message->data, sizeof *theirs);
    sim_request_free(send);
    sim_request_free(receive);
}

BOTH(MPI_Intercomm_create)
(MPI_Comm local, int leader, MPI_Comm peer, int other, int tag, MPI_Comm *new) {
    struct sim_comm *c, *peers = NULL;
    struct leader *mine = sim_new(sizeof *mine), *theirs = sim_new(sizeof *theirs);
    ENTER("MPI_Intercomm_create");
    TRY(sim_check_comm(local, &c));
    if (leader < 0 || leader >= c->group->size)
        return sim_error(c, MPI_ERR_RANK);
    unsigned char *needs = sim_new((size_t)c->group->size); /* nobody: only for its number */
    struct sim_meeting *m = sim_all_meet(c, "MPI_Intercomm_create", NULL, 0, needs);
    mine->fresh = m->fresh;
    leave(c, m);
    mine->n = c->group->size;
    memcpy(mine->world, c->group->world, (size_t)mine->n * sizeof *mine->world);
    bool leads = c->group->rank == leader;
    if (leads) {
        TRY(sim_check_comm(peer, &peers));
        if (other < 0 || other >= sim_others(peers)->size)
            return sim_error(peers, MPI_ERR_RANK);
        exchange(peers, other, tag, mine, theirs);
    }
    needs[leader] = !leads;
    m = sim_all_meet(c, "MPI_Intercomm_create", theirs, leads ? sizeof *theirs : 0, needs);
    free(needs);
    memcpy(theirs, m->parts[leader].data, sizeof *theirs);
    leave(c, m);
    struct sim_group *remote = sim_group_new(theirs->n);
    memcpy(remote->world, theirs->world, (size_t)theirs->n * sizeof *theirs->world);
    uint64_t context = mine->fresh < theirs->fresh ? mine->fresh : theirs->fresh;
    struct sim_comm *made = sim_comm_new(context, group_copy(c->group), remote);
    made->low = mine->fresh < theirs->fresh;
    *new = comm_handle(made, c);
    free(mine);
    free(theirs);
    leave(made, sim_all_meet(made, "MPI_Intercomm_create", NULL, 0, NULL));
    return MPI_SUCCESS;
}

BOTH(MPI_Intercomm_merge)(MPI_Comm inter, int high, MPI_Comm *new) {
    struct sim_comm *c;
    ENTER("MPI_Intercomm_merge");
    TRY(sim_check_comm(inter, &c));
    if (c->remote == NULL)
        return sim_error(c, MPI_ERR_COMM);
    struct sim_meeting *m = sim_all_meet(c, "MPI_Intercomm_merge", &high, sizeof high, NULL);
    int theirs;
    memcpy(&theirs, m->parts[sim_member(c, 0, true)].data, sizeof theirs);
    bool first = !high != !theirs ? !high : c->low;
    const struct sim_group *a = first ? c->group : c->remote, *b = first ? c->remote : c->group;
    struct sim_group *all = sim_group_new(a->size + b->size);
    memcpy(all->world, a->world, (size_t)a->size * sizeof *all->world);
    memcpy(all->world + a->size, b->world, (size_t)b->size * sizeof *all->world);
    *new = comm_handle(sim_comm_new(m->fresh, all, NULL), c);
    leave(c, m);
    return MPI_SUCCESS;
}

/* ---- topologies ---- */

static int *ints_copy(const int *from, int n) {
    int *copy = sim_new((size_t)(n > 0 ? n : 1) * sizeof *copy);
    if (n > 0 && from != NULL)
        memcpy(copy, from, (size_t)n * sizeof *copy);
    return copy;
}

void sim_topology_free(struct sim_topology *t) {
    if (t == NULL)
        return;
    int *all[] = {t->dims, t->periods, t->coords,     t->index,      t->edges,
                  t->in,   t->out,     t->in_weights, t->out_weights};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    free(t);
}

struct sim_topology *sim_topology_copy(const struct sim_topology *t) {
    if (t == NULL)
        return NULL;
    struct sim_topology *copy = sim_new(sizeof *copy);
    *copy = *t;
    copy->dims = ints_copy(t->dims, t->n_dims);
    copy->periods = ints_copy(t->periods, t->n_dims);
    copy->coords = ints_copy(t->coords, t->n_dims);
    copy->index = ints_copy(t->index, t->n_nodes);
    copy->edges = ints_copy(t->edges, t->n_nodes > 0 ? t->index[t->n_nodes - 1] : 0);
    copy->in = ints_copy(t->in, t->n_in);
    copy->out = ints_copy(t->out, t->n_out);
    copy->in_weights = ints_copy(t->in_weights, t->n_in);
    copy->out_weights = ints_copy(t->out_weights, t->n_out);
    return copy;
}

static struct sim_topology *cartesian(int n, const int *dims, const int *periods, int rank) {
    struct sim_topology *t = sim_new(sizeof *t);
    t->kind = MPI_CART;
    t->n_dims = n;
    t->dims = ints_copy(dims, n);
    t->periods = ints_copy(periods, n);
    t->coords = ints_copy(NULL, n);
    for (int d = n - 1; d >= 0; rank /= dims[d], d--)
        t->coords[d] = rank % dims[d];
    return t;
}

/* The first n members in a communicator of their own; NULL handle for the others. */
static int first_members(const char *what, struct sim_comm *c, int n, struct sim_comm **made) {
    struct sim_meeting *m = sim_all_meet(c, what, NULL, 0, NULL);
    *made = NULL;
    if (c->group->rank < n) {
        struct sim_group *g = sim_group_new(n);
        memcpy(g->world, c->group->world, (size_t)n * sizeof *g->world);
        *made = sim_comm_new(m->fresh, g, NULL);
    }
    leave(c, m);
    return MPI_SUCCESS;
}

BOTH(MPI_Cart_create)
(MPI_Comm comm, int n, const int *dims, const int *periods, int reorder, MPI_Comm *new) {
    struct sim_comm *c, *made;
    int total = 1;
    (void)reorder;
    ENTER("MPI_Cart_create");
    TRY(sim_check_comm(comm, &c));
    for (int d = 0; d < n; d++) {
        if (dims[d] <= 0)
            return sim_error(c, MPI_ERR_DIMS);
        total *= dims[d];
    }
    if (total > c->group->size)
        return sim_error(c, MPI_ERR_TOPOLOGY);
    TRY(first_members("MPI_Cart_create", c, total, &made));
    *new = MPI_COMM_NULL;
    if (made != NULL) {
        made->topology = cartesian(n, dims, periods, made->group->rank);
        *new = comm_handle(made, c);
    }
    return MPI_SUCCESS;
}

BOTH(MPI_Graph_create)
(MPI_Comm comm, int n, const int *index, const int *edges, int reorder, MPI_Comm *new) {
    struct sim_comm *c, *made;
    (void)reorder;
    ENTER("MPI_Graph_create");
    TRY(sim_check_comm(comm, &c));
    if (n < 0 || n > c->group->size)
        return sim_error(c, MPI_ERR_ARG);
    TRY(first_members("MPI_Graph_create", c, n, &made));
    *new = MPI_COMM_NULL;
    if (made != NULL) {
        struct sim_topology *t = made->topology = sim_new(sizeof *t);
        t->kind = MPI_GRAPH;
        t->n_nodes = n;
        t->index = ints_copy(index, n);
        t->edges = ints_copy(edges, index[n - 1]);
        *new = comm_handle(made, c);
    }
    return MPI_SUCCESS;
}

/* One edge of a distributed graph. */
struct edge {
    int from, to, weight;
};

static int graph_from_edges(const char *what, struct sim_comm *c, const struct edge *mine, int n,
                            bool weighted, MPI_Comm *new) {
    struct sim_meeting *m = sim_all_meet(c, what, mine, (size_t)n * sizeof *mine, NULL);
    struct sim_comm *made = twin(c, m->fresh);
    struct sim_topology *t = made->topology = sim_new(sizeof *t);
    int total = 0;
    for (int i = 0; i < m->n; i++)
        total += (int)(m->parts[i].bytes / sizeof *mine);
    t->kind = MPI_DIST_GRAPH;
    t->weighted = weighted;
    t->in = ints_copy(NULL, total);
    t->out = ints_copy(NULL, total);
    t->in_weights = ints_copy(NULL, total);
    t->out_weights = ints_copy(NULL, total);
    for (int i = 0; i < m->n; i++) {
        const struct edge *e = (const struct edge *)(const void *)m->parts[i].data;
        for (size_t j = 0; j < m->parts[i].bytes / sizeof *e; j++) {
            if (e[j].to == c->group->rank) {
                t->in[t->n_in] = e[j].from;
                t->in_weights[t->n_in++] = e[j].weight;
            }
            if (e[j].from == c->group->rank) {
                t->out[t->n_out] = e[j].to;
                t->out_weights[t->n_out++] = e[j].weight;
            }
        }
    }
    leave(c, m);
    *new = comm_handle(made, c);
    return MPI_SUCCESS;
}

static bool has_weights(const int *weights) {
    return weights != MPI_UNWEIGHTED;
}

BOTH(MPI_Dist_graph_create)
(MPI_Comm comm, int n, const int *sources, const int *degrees, const int *to, const int *weights,
 MPI_Info info, int reorder, MPI_Comm *new) {
    struct sim_comm *c;
    int total = 0, k = 0;
    (void)info;
    (void)reorder;
    ENTER("MPI_Dist_graph_create");
    TRY(sim_check_comm(comm, &c));
    for (int i = 0; i < n; i++)
        total += degrees[i];
    struct edge *edges = sim_new((size_t)total * sizeof *edges + 1);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < degrees[i]; j++, k++)
            edges[k] = (struct edge){sources[i], to[k], has_weights(weights) ? weights[k] : 1};
    int result =
        graph_from_edges("MPI_Dist_graph_create", c, edges, total, has_weights(weights), new);
    free(edges);
    return result;
}

BOTH(MPI_Dist_graph_create_adjacent)
(MPI_Comm comm, int n_in, const int *in, const int *in_weights, int n_out, const int *out,
 const int *out_weights, MPI_Info info, int reorder, MPI_Comm *new) {
    struct sim_comm *c;
    (void)info;
    (void)reorder;
    ENTER("MPI_Dist_graph_create_adjacent");
    TRY(sim_check_comm(comm, &c));
    struct sim_meeting *m = sim_all_meet(c, "MPI_Dist_graph_create_adjacent", NULL, 0, NULL);
    struct sim_comm *made = twin(c, m->fresh);
    struct sim_topology *t = made->topology = sim_new(sizeof *t);
    leave(c, m);
    t->kind = MPI_DIST_GRAPH;
    t->weighted = has_weights(in_weights);
    t->n_in = n_in;
    t->n_out = n_out;
    t->in = ints_copy(in, n_in);
    t->out = ints_copy(out, n_out);
    bool weights = t->weighted && in_weights != MPI_WEIGHTS_EMPTY;
    t->in_weights = ints_copy(weights ? in_weights : NULL, n_in);
    weights = has_weights(out_weights) && out_weights != MPI_WEIGHTS_EMPTY;
    t->out_weights = ints_copy(weights ? out_weights : NULL, n_out);
    *new = comm_handle(made, c);
    return MPI_SUCCESS;
}

static int cart_rank(const struct sim_topology *t, const int *coords) {
    int rank = 0;
    for (int d = 0; d < t->n_dims; d++) {
        int at = coords[d];
        if (t->periods[d])
            at = (at % t->dims[d] + t->dims[d]) % t->dims[d];
        else if (at < 0 || at >= t->dims[d])
            return MPI_PROC_NULL;
        rank = rank * t->dims[d] + at;
    }
    return rank;
}

static int shifted(const struct sim_topology *t, int dim, int by) {
    int *coords = ints_copy(t->coords, t->n_dims);
    coords[dim] += by;
    int rank = cart_rank(t, coords);
    free(coords);
    return rank;
}

int sim_neighbours(const struct sim_comm *c, bool out, int **ranks) {
    const struct sim_topology *t = c->topology;
    int n = 0, first = 0, me = c->group->rank;
    *ranks = NULL;
    if (t == NULL)
        return -1;
    if (t->kind == MPI_DIST_GRAPH) {
        n = out ? t->n_out : t->n_in;
        *ranks = ints_copy(out ? t->out : t->in, n);
        return n;
    }
    if (t->kind == MPI_GRAPH) {
        first = me > 0 ? t->index[me - 1] : 0;
        n = t->index[me] - first;
        *ranks = ints_copy(t->edges + first, n);
        return n;
    }
    *ranks = ints_copy(NULL, 2 * t->n_dims);
    for (int d = 0; d < t->n_dims; d++) {
        (*ranks)[n++] = shifted(t, d, -1);
        (*ranks)[n++] = shifted(t, d, 1);
    }
    return n;
}

/* Of a kind, or the class of the error. */
static int topology_of(MPI_Comm comm, int kind, struct sim_comm **c) {
    TRY(sim_check_comm(comm, c));
    return (*c)->topology != NULL && (*c)->topology->kind == kind ? MPI_SUCCESS
                                                                  : sim_error(*c, MPI_ERR_TOPOLOGY);
}

BOTH(MPI_Topo_test)(MPI_Comm comm, int *kind) {
    struct sim_comm *c;
    TRY(sim_check_comm(comm, &c));
    *kind = c->topology != NULL ? c->topology->kind : MPI_UNDEFINED;
    return MPI_SUCCESS;
}

BOTH(MPI_Cartdim_get)(MPI_Comm comm, int *n) {
    struct sim_comm *c;
    TRY(topology_of(comm, MPI_CART, &c));
    *n = c->topology->n_dims;
    return MPI_SUCCESS;
}

BOTH(MPI_Cart_get)(MPI_Comm comm, int most, int *dims, int *periods, int *coords) {
    struct sim_comm *c;
    TRY(topology_of(comm, MPI_CART, &c));
    for (int d = 0; d < c->topology->n_dims && d < most; d++) {
        dims[d] = c->topology->dims[d];
        periods[d] = c->topology->periods[d];
        coords[d] = c->topology->coords[d];
    }
    return MPI_SUCCESS;
}

BOTH(MPI_Cart_rank)(MPI_Comm comm, const int *coords, int *rank) {
    struct sim_comm *c;
    TRY(topology_of(comm, MPI_CART, &c));
    *rank = cart_rank(c->topology, coords);
    return *rank == MPI_PROC_NULL ? sim_error(c, MPI_ERR_ARG) : MPI_SUCCESS;
}

BOTH(MPI_Cart_coords)(MPI_Comm comm, int rank, int most, int *coords) {
    struct sim_comm *c;
    TRY(topology_of(comm, MPI_CART, &c));
    if (rank < 0 || rank >= c->group->size)
        return sim_error(c, MPI_ERR_RANK);
    for (int d = c->topology->n_dims - 1; d >= 0; rank /= c->topology->dims[d], d--)
        if (d < most)
            coords[d] = rank % c->topology->dims[d];
    return MPI_SUCCESS;
}

BOTH(MPI_Cart_shift)(MPI_Comm comm, int dim, int by, int *from, int *to) {
    struct sim_comm *c;
    TRY(topology_of(comm, MPI_CART, &c));
    if (dim < 0 || dim >= c->topology->n_dims)
        return sim_error(c, MPI_ERR_ARG);
    *from = shifted(c->topology, dim, -by);
    *to = shifted(c->topology, dim, by);
    return MPI_SUCCESS;
}

BOTH(MPI_Cart_map)
(MPI_Comm comm, int n, const int *dims, const int *periods, int *rank) {
    struct sim_comm *c;
    int total = 1;
    (void)periods;
    TRY(sim_check_comm(comm, &c));
    for (int d = 0; d < n; d++)
        total *= dims[d];
    *rank = c->group->rank < total ? c->group->rank : MPI_UNDEFINED;
    return MPI_SUCCESS;
}

BOTH(MPI_Graph_map)(MPI_Comm comm, int n, const int *index, const int *edges, int *rank) {
    struct sim_comm *c;
    (void)index;
    (void)edges;
    TRY(sim_check_comm(comm, &c));
    *rank = c->group->rank < n ? c->group->rank : MPI_UNDEFINED;
    return MPI_SUCCESS;
}

BOTH(MPI_Cart_sub)(MPI_Comm comm, const int *remain, MPI_Comm *new) {
    struct sim_comm *c;
    int colour = 0, key = 0, n = 0, dims[32], periods[32];
    TRY(topology_of(comm, MPI_CART, &c));
    const struct sim_topology *t = c->topology;
    for (int d = 0; d < t->n_dims; d++)
        if (remain[d]) {
            dims[n] = t->dims[d];
            periods[n++] = t->periods[d];
            key = key * t->dims[d] + t->coords[d];
        } else {
            colour = colour * t->dims[d] + t->coords[d];
        }
    TRY(split("MPI_Cart_sub", comm, colour, key, new));
    struct sim_comm *made = sim_comm(*new);
    made->topology = cartesian(n, dims, periods, made->group->rank);
    return MPI_SUCCESS;
}

BOTH(MPI_Graphdims_get)(MPI_Comm comm, int *n_nodes, int *n_edges) {
    struct sim_comm *c;
    TRY(topology_of(comm, MPI_GRAPH, &c));
    *n_nodes = c->topology->n_nodes;
    *n_edges = c->topology->index[*n_nodes - 1];
    return MPI_SUCCESS;
}

BOTH(MPI_Graph_get)(MPI_Comm comm, int most_nodes, int most_edges, int *index, int *edges) {
    struct sim_comm *c;
    TRY(topology_of(comm, MPI_GRAPH, &c));
    const struct sim_topology *t = c->topology;
    for (int i = 0; i < t->n_nodes && i < most_nodes; i++)
        index[i] = t->index[i];
    for (int i = 0; i < t->index[t->n_nodes - 1] && i < most_edges; i++)
        edges[i] = t->edges[i];
    return MPI_SUCCESS;
}

BOTH(MPI_Graph_neighbors_count)(MPI_Comm comm, int rank, int *n) {
    struct sim_comm *c;
    TRY(topology_of(comm, MPI_GRAPH, &c));
    if (rank < 0 || rank >= c->group->size)
        return sim_error(c, MPI_ERR_RANK);
    *n = c->topology->index[rank] - (rank > 0 ? c->topology->index[rank - 1] : 0);
    return MPI_SUCCESS;
}

BOTH(MPI_Graph_neighbors)(MPI_Comm comm, int rank, int most, int *neighbours) {
    struct sim_comm *c;
    TRY(topology_of(comm, MPI_GRAPH, &c));
    if (rank < 0 || rank >= c->group->size)
        return sim_error(c, MPI_ERR_RANK);
    int first = rank > 0 ? c->topology->index[rank - 1] : 0;
    for (int i = first; i < c->topology->index[rank] && i - first < most; i++)
        neighbours[i - first] = c->topology->edges[i];
    return MPI_SUCCESS;
}

BOTH(MPI_Dist_graph_neighbors_count)(MPI_Comm comm, int *n_in, int *n_out, int *weighted) {
    struct sim_comm *c;
    TRY(topology_of(comm, MPI_DIST_GRAPH, &c));
    *n_in = c->topology->n_in;
    *n_out = c->topology->n_out;
    *weighted = c->topology->weighted;
    return MPI_SUCCESS;
}

BOTH(MPI_Dist_graph_neighbors)
(MPI_Comm comm, int most_in, int *in, int *in_weights, int most_out, int *out, int *out_weights) {
    struct sim_comm *c;
    TRY(topology_of(comm, MPI_DIST_GRAPH, &c));
    const struct sim_topology *t = c->topology;
    for (int i = 0; i < t->n_in && i < most_in; i++) {
        in[i] = t->in[i];
        if (t->weighted && has_weights(in_weights))
            in_weights[i] = t->in_weights[i];
    }
    for (int i = 0; i < t->n_out && i < most_out; i++) {
        out[i] = t->out[i];
        if (t->weighted && has_weights(out_weights))
            out_weights[i] = t->out_weights[i];
    }
    return MPI_SUCCESS;
}

/* As even as may be: the largest prime factor goes to the smallest dimension. */
BOTH(MPI_Dims_create)(int n_nodes, int n, int *dims) {
    int rest = n_nodes;
    for (int d = 0; d < n; d++) {
        if (dims[d] < 0 || (dims[d] > 0 && rest % dims[d] != 0))
            return sim_error(NULL, MPI_ERR_DIMS);
        rest /= dims[d] > 0 ? dims[d] : 1;
    }
    int *sizes = ints_copy(NULL, n), free_dims = 0;
    for (int d = 0; d < n; d++)
        if (dims[d] == 0)
            sizes[free_dims++] = 1;
    while (rest > 1 && free_dims > 0) {
        int largest = 1, left = rest;
        for (int p = 2; left > 1; p++)
            for (; left % p == 0; left /= p)
                largest = p;
        int smallest = 0;
        for (int i = 1; i < free_dims; i++)
            smallest = sizes[i] < sizes[smallest] ? i : smallest;
        sizes[smallest] *= largest;
        rest /= largest;
    }
    for (int i = 1; i < free_dims; i++) /* not increasing */
        for (int j = i; j > 0 && sizes[j] > sizes[j - 1]; j--) {
            int swap = sizes[j];
            sizes[j] = sizes[j - 1];
            sizes[j - 1] = swap;
        }
    for (int d = 0, i = 0; d < n; d++)
        if (dims[d] == 0)
            dims[d] = sizes[i++];
    free(sizes);
    return MPI_SUCCESS;
}
