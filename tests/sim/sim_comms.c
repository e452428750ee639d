/* Handles and communicators. */
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
    c->group = sim_group_find_own_rank(group);
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

MPI_Comm sim_comm_handle(struct sim_comm *c, const struct sim_comm *parent) {
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

void sim_comm_leave(const struct sim_comm *c, struct sim_meeting *meeting) {
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
    return sim_group_handle(sim_group_copy(c->group), group);
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
    return sim_group_handle(sim_group_copy(c->remote), group);
}

BOTH(MPI_Comm_compare)(MPI_Comm a, MPI_Comm b, int *result) {
    struct sim_comm *x, *y;
    TRY(sim_check_comm(a, &x));
    TRY(sim_check_comm(b, &y));
    if ((x->remote == NULL) != (y->remote == NULL)) {
        *result = MPI_UNEQUAL;
        return MPI_SUCCESS;
    }
    *result = sim_group_compare(x->group, y->group);
    if (x->remote != NULL && sim_group_compare(x->remote, y->remote) > *result)
        *result = sim_group_compare(x->remote, y->remote);
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

struct sim_comm *sim_comm_twin(const struct sim_comm *c, uint64_t context) {
    struct sim_comm *made = sim_comm_new(context, sim_group_copy(c->group),
                                         c->remote != NULL ? sim_group_copy(c->remote) : NULL);
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
    struct sim_comm *made = sim_comm_twin(c, (*request)->meeting->fresh);
    made->topology = sim_topology_copy(c->topology);
    *new = sim_comm_handle(made, c);
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
        sim_comm_leave(sim_comm(comm), finish_meeting(request));
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

int sim_comm_split(const char *what, MPI_Comm comm, int colour, int key, MPI_Comm *new) {
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
        *new = sim_comm_handle(made, c);
    } else {
        sim_group_free(group);
        sim_group_free(remote);
    }
    sim_comm_leave(c, m);
    return MPI_SUCCESS;
}

BOTH(MPI_Comm_split)(MPI_Comm comm, int colour, int key, MPI_Comm *new) {
    return sim_comm_split("MPI_Comm_split", comm, colour, key, new);
}

BOTH(MPI_Comm_split_type)(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *new) {
    (void)info;
    int node = sim_node_of(sim_self()->rank);
    return sim_comm_split("MPI_Comm_split_type", comm, type == MPI_UNDEFINED ? MPI_UNDEFINED : node,
                          key, new);
}

BOTH(MPI_Comm_create)(MPI_Comm comm, MPI_Group group, MPI_Comm *new) {
    struct sim_comm *c;
    ENTER("MPI_Comm_create");
    TRY(sim_check_comm(comm, &c));
    const struct sim_group *g = GROUP(group);
    for (int i = 0; i < g->size; i++)
        if (sim_group_place(c->group, g->world[i]) == MPI_UNDEFINED)
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
        int first = sim_member(c, sim_group_place(c->group, g->world[0]), false);
        for (int i = 0; i < g->size; i++) {
            int member = sim_member(c, sim_group_place(c->group, g->world[i]), false);
            first = member < first ? member : first;
        }
        for (int i = 0; remote != NULL && i < remote->size; i++) {
            int member = sim_member(c, sim_group_place(c->remote, remote->world[i]), true);
            first = member < first ? member : first;
        }
        struct sim_comm *made = sim_comm_new(m->fresh + (uint64_t)first, sim_group_copy(g), remote);
        made->low = c->low;
        *new = sim_comm_handle(made, c);
    } else {
        sim_group_free(remote);
    }
    sim_comm_leave(c, m);
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
    *new = sim_comm_handle(sim_comm_new(m->fresh, sim_group_copy(g), NULL), c);
    sim_leave(m, g->rank);
    return MPI_SUCCESS;
}

BOTH(MPI_Comm_create_from_group)
(MPI_Group group, const char *name, MPI_Info info, MPI_Errhandler errhandler, MPI_Comm *new) {
    (void)info;
    ENTER("MPI_Comm_create_from_group");
    const struct sim_group *g = GROUP(group);
    uint64_t hash = 0;
    *new = MPI_COMM_NULL;
    if (g->rank == MPI_UNDEFINED)
        return sim_error(NULL, MPI_ERR_GROUP);
    for (const char *at = name; *at != '\0'; at++)
        hash = hash * 31 + (unsigned char)*at;
    uint64_t context = 3ull << 62 | (hash & 0xffffffff) << 12 | (uint64_t)g->world[0];
    struct sim_meeting *m = finish_meeting(sim_meet(context, next_of(context), g->size, g->rank,
                                                    "MPI_Comm_create_from_group",
                                                    sim->model.latency_ns, NULL, 0, NULL));
    struct sim_comm *made = sim_comm_new(m->fresh, sim_group_copy(g), NULL);
    *new = sim_comm_handle(made, NULL);
    made->errhandler = errhandler;
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
    sim_comm_leave(c, m);
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
    sim_comm_leave(c, m);
    struct sim_group *remote = sim_group_new(theirs->n);
    memcpy(remote->world, theirs->world, (size_t)theirs->n * sizeof *theirs->world);
    uint64_t context = mine->fresh < theirs->fresh ? mine->fresh : theirs->fresh;
    struct sim_comm *made = sim_comm_new(context, sim_group_copy(c->group), remote);
    made->low = mine->fresh < theirs->fresh;
    *new = sim_comm_handle(made, c);
    free(mine);
    free(theirs);
    sim_comm_leave(made, sim_all_meet(made, "MPI_Intercomm_create", NULL, 0, NULL));
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
    *new = sim_comm_handle(sim_comm_new(m->fresh, all, NULL), c);
    sim_comm_leave(c, m);
    return MPI_SUCCESS;
}
