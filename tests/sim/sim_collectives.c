/* Collective operations: each rank brings what others need of it, and takes what it needs from
 * what they brought, when all those have come for whom it waits. One form for all: blocking,
 * nonblocking, persistent, on both kinds of communicators, and on neighbourhoods. */
#include "sim_mpi.h"
#include "sim_probes.h"

#include <stdlib.h>
#include <string.h>

enum operation {
    BARRIER,
    BCAST,
    GATHER,
    SCATTER,
    ALLGATHER,
    ALLTOALL,
    REDUCE,
    ALLREDUCE,
    REDUCE_SCATTER,
    SCAN,
    EXSCAN,
    NEIGHBOUR_ALLGATHER,
    NEIGHBOUR_ALLTOALL
};

/* A number for each partner, whichever form the program gave. One: the same for all. */
struct layout {
    long count;
    int *counts, *places; /* NULL: count, and one after the other */
    MPI_Aint *bytes;      /* places in bytes */
    MPI_Datatype type, *types;
};

struct sim_collective {
    const char *name;
    enum operation operation;
    struct sim_comm *comm;
    const void *send;
    void *receive;
    struct layout out, in;
    MPI_Op op;
    int root, n_out, n_in;
};

static void *copy_of(const void *from, size_t bytes) {
    return from != NULL ? memcpy(sim_new(bytes + 1), from, bytes) : NULL;
}

static struct layout uniform(long count, MPI_Datatype type) {
    return (struct layout){.count = count, .type = type};
}

static struct layout varying(const int *counts, const int *places, MPI_Datatype type, int n) {
    size_t bytes = (size_t)n * sizeof *counts;
    return (struct layout){
        .counts = copy_of(counts, bytes), .places = copy_of(places, bytes), .type = type};
}

/* The program may free its types while an operation is under way. */
static void use_types(const struct layout *l, int n, int by) {
    for (int i = 0; i < (l->types != NULL ? n : 1); i++) {
        struct sim_type *t = sim_type(l->types != NULL ? l->types[i] : l->type);
        if (t != NULL)
            sim_type_use(t, by);
    }
}

static void layout_free(struct layout *l, int n) {
    use_types(l, n, -1);
    free(l->counts);
    free(l->places);
    free(l->bytes);
    free(l->types);
}

void sim_collective_free(struct sim_collective *c) {
    if (c == NULL)
        return;
    layout_free(&c->out, c->n_out);
    layout_free(&c->in, c->n_in);
    free(c);
}

static long count_of(const struct layout *l, int i) {
    return l->counts != NULL ? l->counts[i] : l->count;
}

static const struct sim_type *type_of(const struct layout *l, int i) {
    return sim_type(l->types != NULL ? l->types[i] : l->type);
}

static long place_of(const struct layout *l, int i) {
    if (l->bytes != NULL)
        return l->bytes[i];
    const struct sim_type *t = type_of(l, i);
    if (l->types != NULL)
        return l->places[i]; /* alltoallw: in bytes */
    return (l->places != NULL ? l->places[i] : i * l->count) * (t->ub - t->lb);
}

static long total_of(const struct layout *l, int n) {
    long total = 0;
    for (int i = 0; i < n; i++)
        total += count_of(l, i);
    return total;
}

static bool inter(const struct sim_collective *c) {
    return c->comm->remote != NULL;
}

static int me(const struct sim_collective *c) {
    return c->comm->group->rank;
}

/* Ranks that this one's collectives speak to: of the own group, or the other. */
static int n_partners(const struct sim_collective *c) {
    return sim_others(c->comm)->size;
}

static bool is_root(const struct sim_collective *c) {
    return inter(c) ? c->root == MPI_ROOT : c->root == me(c);
}

static bool rooted(const struct sim_collective *c) {
    return c->operation == BCAST || c->operation == GATHER || c->operation == SCATTER ||
           c->operation == REDUCE;
}

/* ---- what a rank brings: a number of blocks, one after the other; a reduction's operand is a copy
 * of the memory, with its gaps ---- */

struct brought {
    size_t bytes;
    char *data;
};

static void put(struct brought *b, const void *data, size_t bytes) {
    b->data = realloc(b->data, b->bytes + bytes + 1);
    if (b->data == NULL)
        sim_fail("no memory for a collective operation");
    if (bytes > 0)
        memcpy(b->data + b->bytes, data, bytes);
    b->bytes += bytes;
}

/* The number of blocks and their lengths, then the blocks. */
static void put_blocks(struct brought *b, const void *buffer, const struct layout *l, int n,
                       bool one) {
    long *head = sim_new((size_t)(n + 1) * sizeof *head);
    struct brought data = {0, NULL};
    head[0] = n;
    for (int i = 0; i < n; i++) {
        size_t bytes;
        const char *at = (const char *)buffer + (one ? 0 : place_of(l, i));
        char *packed = sim_pack(at, count_of(l, i), type_of(l, i), &bytes);
        put(&data, packed, bytes);
        head[i + 1] = (long)bytes;
        free(packed);
    }
    put(b, head, (size_t)(n + 1) * sizeof *head);
    put(b, data.data, data.bytes);
    free(head);
    free(data.data);
}

static const char *block(const struct sim_part *p, int i, size_t *bytes) {
    const long *head = (const long *)(const void *)p->data;
    const char *at = p->data + (size_t)(head[0] + 1) * sizeof *head;
    for (int j = 0; j < i; j++)
        at += head[j + 1];
    *bytes = i < head[0] ? (size_t)head[i + 1] : 0;
    return at;
}

static long span_of(long count, const struct sim_type *t) {
    return count > 0 ? (count - 1) * (t->ub - t->lb) + t->true_ub - t->true_lb : 0;
}

static void put_operand(struct brought *b, const void *buffer, long count, MPI_Datatype type) {
    const struct sim_type *t = sim_type(type);
    put(b, (const char *)buffer + t->true_lb, (size_t)span_of(count, t));
}

/* At its end: to whom the blocks go. */
static void put_neighbours(const struct sim_collective *c, struct brought *b) {
    int *ranks, n = sim_neighbours(c->comm, true, &ranks);
    put(b, ranks, (size_t)n * sizeof *ranks);
    free(ranks);
}

static void bring(const struct sim_collective *c, struct brought *b) {
    bool in_place = c->send == MPI_IN_PLACE;
    switch (c->operation) {
    case BARRIER:
        return;
    case BCAST:
        if (is_root(c))
            put_blocks(b, c->send, &c->out, 1, true);
        return;
    case GATHER:
        if (c->root != MPI_ROOT && c->root != MPI_PROC_NULL && !in_place)
            put_blocks(b, c->send, &c->out, 1, true);
        return;
    case SCATTER:
        if (is_root(c))
            put_blocks(b, c->send, &c->out, c->n_out, false);
        return;
    case ALLGATHER:
        if (in_place) {
            struct layout own = uniform(count_of(&c->in, me(c)), c->in.type);
            put_blocks(b, (char *)c->receive + place_of(&c->in, me(c)), &own, 1, true);
            return;
        }
        put_blocks(b, c->send, &c->out, 1, true);
        return;
    case ALLTOALL:
        if (in_place)
            put_blocks(b, c->receive, &c->in, c->n_in, false);
        else
            put_blocks(b, c->send, &c->out, c->n_out, false);
        return;
    case NEIGHBOUR_ALLGATHER:
        put_blocks(b, c->send, &c->out, 1, true);
        return;
    case NEIGHBOUR_ALLTOALL:
        put_blocks(b, c->send, &c->out, c->n_out, false);
        put_neighbours(c, b);
        return;
    default: /* reductions */
        if (c->root == MPI_ROOT || c->root == MPI_PROC_NULL)
            return;
        put_operand(b, in_place ? c->receive : c->send, total_of(&c->out, c->n_out), c->out.type);
    }
}

/* ---- for whom it waits: the rules of virtual.h ---- */

static unsigned char *whom(const struct sim_collective *c) {
    int n = sim_members(c->comm);
    unsigned char *needs = sim_new((size_t)n + 1);
    bool to_root = c->operation == GATHER || c->operation == REDUCE;
    if (rooted(c) && to_root && is_root(c)) {
        for (int i = 0; i < n_partners(c); i++)
            needs[sim_member(c->comm, i, inter(c))] = 1;
        return needs;
    }
    if (rooted(c)) {
        if (!to_root && !is_root(c) && c->root != MPI_PROC_NULL)
            needs[sim_member(c->comm, c->root, inter(c))] = 1;
        return needs;
    }
    if (c->operation == SCAN || c->operation == EXSCAN) {
        memset(needs, 1, (size_t)me(c));
        return needs;
    }
    if (c->operation == ALLTOALL && (c->in.counts != NULL || c->in.types != NULL)) {
        for (int i = 0; i < c->n_in; i++)
            if (count_of(&c->in, i) > 0 && (inter(c) || i != me(c)))
                needs[sim_member(c->comm, i, inter(c))] = 1;
        return needs;
    }
    if (c->operation == NEIGHBOUR_ALLGATHER || c->operation == NEIGHBOUR_ALLTOALL) {
        int *ranks, in = sim_neighbours(c->comm, false, &ranks);
        for (int i = 0; i < in; i++)
            if (ranks[i] != MPI_PROC_NULL)
                needs[ranks[i]] = 1;
        free(ranks);
        return needs;
    }
    if (inter(c)) { /* of the others */
        for (int i = 0; i < n_partners(c); i++)
            needs[sim_member(c->comm, i, true)] = 1;
        return needs;
    }
    free(needs);
    return NULL;
}

int sim_collective_start(struct sim_handle *h) {
    const struct sim_collective *c = h->collective;
    struct brought b = {0, NULL};
    bring(c, &b);
    unsigned char *needs = sim->model.strict ? NULL : whom(c);
    h->request = sim_comm_meet(c->comm, c->name, b.data, b.bytes, needs);
    free(needs);
    free(b.data);
    return MPI_SUCCESS;
}

/* ---- what a rank takes ---- */

static const struct sim_part *part(const struct sim_collective *c, const struct sim_meeting *m,
                                   int rank) {
    return &m->parts[sim_member(c->comm, rank, inter(c))];
}

static int take_block(const struct sim_collective *c, const struct sim_part *p, int i, int slot) {
    size_t bytes, room = (size_t)(count_of(&c->in, slot) * type_of(&c->in, slot)->size);
    const char *data = block(p, i, &bytes);
    sim_unpack(data, bytes < room ? bytes : room, (char *)c->receive + place_of(&c->in, slot),
               count_of(&c->in, slot), type_of(&c->in, slot));
    return bytes > room ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
}

/* The operands of ranks first .. last, in their order, in memory of one span; the caller frees. */
static char *combined(const struct sim_collective *c, const struct sim_meeting *m, bool remote,
                      int first, int last) {
    long count = total_of(&c->out, c->n_out);
    const struct sim_type *t = sim_type(c->out.type);
    size_t span = (size_t)span_of(count, t);
    char *result = sim_new(span + 1), *operand = sim_new(span + 1);
    for (int r = last; r >= first; r--) { /* inout = in op inout: from the last one down */
        const struct sim_part *p = &m->parts[sim_member(c->comm, r, remote)];
        if (r == last) {
            memcpy(result, p->data, p->bytes < span ? p->bytes : span);
            continue;
        }
        memcpy(operand, p->data, p->bytes < span ? p->bytes : span);
        sim_reduce(operand - t->true_lb, result - t->true_lb, (int)count, c->out.type, c->op);
    }
    free(operand);
    return result;
}

/* Elements from `from` on of what has been combined. */
static void take_result(const struct sim_collective *c, const char *result, long from, long count) {
    const struct sim_type *t = sim_type(c->out.type);
    sim_copy_typed(result - t->true_lb + from * (t->ub - t->lb), c->receive, count, t);
}

static int take_reduction(const struct sim_collective *c, const struct sim_meeting *m) {
    int first = 0, last = n_partners(c) - 1, before = 0;
    long count = total_of(&c->out, c->n_out);
    if (c->operation == REDUCE && !is_root(c))
        return MPI_SUCCESS;
    if (c->operation == SCAN)
        last = me(c);
    if (c->operation == EXSCAN)
        last = me(c) - 1;
    if (last < first)
        return MPI_SUCCESS;
    char *result = combined(c, m, inter(c), first, last);
    if (c->operation == REDUCE_SCATTER) {
        for (int i = 0; i < me(c); i++)
            before += (int)count_of(&c->out, i);
        count = count_of(&c->out, me(c));
    }
    take_result(c, result, before, count);
    free(result);
    return MPI_SUCCESS;
}

/* Which of the blocks that `from` brings is this rank's: with several edges between two, the k-th
 * one here is the k-th one there. */
static int edge_to(const struct sim_collective *c, const struct sim_meeting *m, int from, int k) {
    const struct sim_part *p = &m->parts[from];
    long n;
    int rank;
    memcpy(&n, p->data, sizeof n);
    for (int i = 0; i < n; i++) {
        memcpy(&rank, p->data + p->bytes - (size_t)(n - i) * sizeof rank, sizeof rank);
        if (rank == me(c) && k-- == 0)
            return i;
    }
    return -1;
}

static int take_neighbours(const struct sim_collective *c, const struct sim_meeting *m) {
    int *ranks, n = sim_neighbours(c->comm, false, &ranks), result = MPI_SUCCESS;
    for (int i = 0; i < n; i++) {
        int which = 0, k = 0;
        if (ranks[i] == MPI_PROC_NULL)
            continue;
        if (c->operation == NEIGHBOUR_ALLTOALL) {
            for (int j = 0; j < i; j++)
                k += ranks[j] == ranks[i];
            /* on a ring of two or one, left and right are the same rank: what goes left comes from
             * the right */
            int same = 0;
            for (int j = 0; j < n; j++)
                same += ranks[j] == ranks[i];
            if (c->comm->topology->kind == MPI_CART)
                k = same - 1 - k;
            which = edge_to(c, m, ranks[i], k);
        }
        int error = which >= 0 ? take_block(c, &m->parts[ranks[i]], which, i) : MPI_SUCCESS;
        result = error != MPI_SUCCESS ? error : result;
    }
    free(ranks);
    return result;
}

static int take(const struct sim_collective *c, const struct sim_meeting *m) {
    bool in_place = c->send == MPI_IN_PLACE;
    int result = MPI_SUCCESS;
    switch (c->operation) {
    case BARRIER:
        return MPI_SUCCESS;
    case BCAST:
        if (is_root(c) || c->root == MPI_PROC_NULL)
            return MPI_SUCCESS;
        return take_block(c, part(c, m, c->root), 0, 0);
    case SCATTER:
        if (c->root == MPI_PROC_NULL || c->root == MPI_ROOT || c->receive == MPI_IN_PLACE)
            return MPI_SUCCESS;
        return take_block(c, part(c, m, c->root), me(c), 0);
    case GATHER:
        if (!is_root(c))
            return MPI_SUCCESS;
        /* fall through */
    case ALLGATHER:
        for (int i = 0; i < n_partners(c); i++) {
            if (in_place && i == me(c))
                continue;
            int error = take_block(c, part(c, m, i), 0, i);
            result = error != MPI_SUCCESS ? error : result;
        }
        return result;
    case ALLTOALL:
        for (int i = 0; i < n_partners(c); i++) {
            if (!part(c, m, i)->joined)
                continue; /* nothing comes from there */
            int error = take_block(c, part(c, m, i), me(c), i);
            result = error != MPI_SUCCESS ? error : result;
        }
        return result;
    case NEIGHBOUR_ALLGATHER:
    case NEIGHBOUR_ALLTOALL:
        return take_neighbours(c, m);
    default:
        return take_reduction(c, m);
    }
}

int sim_collective_finish(struct sim_handle *h) {
    struct sim_meeting *m = h->request->meeting;
    int result = h->collective != NULL ? take(h->collective, m) : MPI_SUCCESS;
    sim_leave(m, sim_member(h->comm, h->comm->group->rank, false));
    return result;
}

/* ---- checks, and the three ways to call ---- */

static int check_types(const struct sim_comm *c, const struct layout *l, int n) {
    for (int i = 0; i < n; i++) {
        if (count_of(l, i) < 0)
            return sim_error(c, MPI_ERR_COUNT);
        if (type_of(l, i) == NULL)
            return sim_error(c, MPI_ERR_TYPE);
    }
    return MPI_SUCCESS;
}

static int check(const struct sim_collective *c) {
    bool reduces = c->operation >= REDUCE && c->operation <= EXSCAN;
    bool receives = !rooted(c) || is_root(c) == (c->operation == GATHER);
    if (rooted(c) && inter(c) &&
        (c->root < MPI_ROOT || c->root == MPI_ANY_SOURCE || c->root >= n_partners(c)))
        return sim_error(c->comm, MPI_ERR_ROOT);
    if (rooted(c) && !inter(c) && (c->root < 0 || c->root >= n_partners(c)))
        return sim_error(c->comm, MPI_ERR_ROOT);
    if (c->root == MPI_PROC_NULL)
        return MPI_SUCCESS;
    bool sends = c->send != MPI_IN_PLACE && !(c->operation == SCATTER && !is_root(c)) &&
                 !(inter(c) && c->operation == GATHER && is_root(c));
    if (sends)
        TRY(check_types(c->comm, &c->out, c->n_out));
    if (receives && !reduces && c->operation != BARRIER)
        TRY(check_types(c->comm, &c->in, c->n_in));
    if (reduces && (!sim_op_is(c->op) || !sim_op_fits(c->op, c->out.type)))
        return sim_error(c->comm, MPI_ERR_OP);
    if (reduces && c->send == c->receive && total_of(&c->out, c->n_out) > 0 && c->send != NULL &&
        (!rooted(c) || is_root(c)))
        return sim_error(c->comm, MPI_ERR_BUFFER);
    return MPI_SUCCESS;
}

/* request NULL: blocking; persistent: not started yet. */
static int run(struct sim_collective filled, MPI_Request *request, bool persistent) {
    struct sim_collective *c = copy_of(&filled, sizeof filled);
    use_types(&c->out, c->n_out, 1);
    use_types(&c->in, c->n_in, 1);
    int result = check(c);
    if (result != MPI_SUCCESS) {
        sim_collective_free(c);
        return result;
    }
    struct sim_handle *h = sim_handle_new(SIM_USE_COLLECTIVE);
    h->collective = c;
    h->comm = c->comm;
    h->persistent = persistent;
    if (persistent) {
        *request = sim_request_handle(h);
        return MPI_SUCCESS;
    }
    PROBED(latecomer_probe_count(latecomer_probe_meetings));
    PROBED(latecomer_probe_start(latecomer_probe_meeting));
    int started = sim_start_one(h);
    if (request == NULL && started == MPI_SUCCESS)
        sim_wait_request(h->request);
    PROBED(latecomer_probe_stop(latecomer_probe_meeting));
    TRY(started);
    if (request != NULL) {
        *request = sim_request_handle(h);
        return MPI_SUCCESS;
    }
    result = sim_collective_finish(h);
    sim_request_free(h->request);
    sim_collective_free(c);
    free(h);
    return result != MPI_SUCCESS ? sim_error(filled.comm, result) : MPI_SUCCESS;
}

#define COLLECTIVE(which, parameters, ...)                                                         \
    static int do_##which(const char *called, MPI_Request *request, bool persistent,               \
                          UNPACK parameters, MPI_Comm comm) {                                      \
        struct sim_comm *c;                                                                        \
        ENTER(called);                                                                             \
        TRY(sim_check_comm(comm, &c));                                                             \
        int n = sim_others(c)->size;                                                               \
        (void)n;                                                                                   \
        return run((struct sim_collective){.name = "MPI_" #which, .comm = c, __VA_ARGS__},         \
                   request, persistent);                                                           \
    }
#define UNPACK(...) __VA_ARGS__
/* Blocking, nonblocking, persistent. */
#define THREE(name, iname, parameters, arguments)                                                  \
    BOTH(MPI_##name)(UNPACK parameters, MPI_Comm comm) {                                           \
        return do_##name("MPI_" #name, NULL, false, UNPACK arguments, comm);                       \
    }                                                                                              \
    BOTH(MPI_##iname)(UNPACK parameters, MPI_Comm comm, MPI_Request * request) {                   \
        return do_##name("MPI_" #iname, request, false, UNPACK arguments, comm);                   \
    }                                                                                              \
    BOTH(MPI_##name##_init)                                                                        \
    (UNPACK parameters, MPI_Comm comm, MPI_Info info, MPI_Request * request) {                     \
        (void)info;                                                                                \
        return do_##name("MPI_" #name "_init", request, true, UNPACK arguments, comm);             \
    }

#define ONE(count, type)        uniform(count, type)
#define V(counts, places, type) varying(counts, places, type, n)

static int do_Barrier(const char *called, MPI_Request *request, bool persistent, MPI_Comm comm) {
    struct sim_comm *c;
    ENTER(called);
    TRY(sim_check_comm(comm, &c));
    return run((struct sim_collective){.name = "MPI_Barrier", .operation = BARRIER, .comm = c},
               request, persistent);
}

BOTH(MPI_Barrier)(MPI_Comm comm) {
    return do_Barrier("MPI_Barrier", NULL, false, comm);
}

BOTH(MPI_Ibarrier)(MPI_Comm comm, MPI_Request *request) {
    return do_Barrier("MPI_Ibarrier", request, false, comm);
}

BOTH(MPI_Barrier_init)(MPI_Comm comm, MPI_Info info, MPI_Request *request) {
    (void)info;
    return do_Barrier("MPI_Barrier_init", request, true, comm);
}

COLLECTIVE(Bcast, (void *data, int count, MPI_Datatype type, int root), .operation = BCAST,
           .send = data, .receive = data, .out = ONE(count, type), .in = ONE(count, type),
           .n_out = 1, .n_in = 1, .root = root)
THREE(Bcast, Ibcast, (void *data, int count, MPI_Datatype type, int root),
      (data, count, type, root))

#define SIMPLE                                                                                     \
    (const void *out, int n_out, MPI_Datatype type, void *in, int n_in, MPI_Datatype type_in)
#define SIMPLE_ROOT                                                                                \
    (const void *out, int n_out, MPI_Datatype type, void *in, int n_in, MPI_Datatype type_in,      \
     int root)
COLLECTIVE(Gather, SIMPLE_ROOT, .operation = GATHER, .send = out, .receive = in,
           .out = ONE(n_out, type), .in = ONE(n_in, type_in), .n_out = 1, .n_in = n, .root = root)
THREE(Gather, Igather, SIMPLE_ROOT, (out, n_out, type, in, n_in, type_in, root))
COLLECTIVE(Scatter, SIMPLE_ROOT, .operation = SCATTER, .send = out, .receive = in,
           .out = ONE(n_out, type), .in = ONE(n_in, type_in), .n_out = n, .n_in = 1, .root = root)
THREE(Scatter, Iscatter, SIMPLE_ROOT, (out, n_out, type, in, n_in, type_in, root))
COLLECTIVE(Allgather, SIMPLE, .operation = ALLGATHER, .send = out, .receive = in,
           .out = ONE(n_out, type), .in = ONE(n_in, type_in), .n_out = 1, .n_in = n)
THREE(Allgather, Iallgather, SIMPLE, (out, n_out, type, in, n_in, type_in))
COLLECTIVE(Alltoall, SIMPLE, .operation = ALLTOALL, .send = out, .receive = in,
           .out = ONE(n_out, type), .in = ONE(n_in, type_in), .n_out = n, .n_in = n)
THREE(Alltoall, Ialltoall, SIMPLE, (out, n_out, type, in, n_in, type_in))

#define GATHERV                                                                                    \
    (const void *out, int n_out, MPI_Datatype type, void *in, const int *counts,                   \
     const int *places, MPI_Datatype type_in, int root)
COLLECTIVE(Gatherv, GATHERV, .operation = GATHER, .send = out, .receive = in,
           .out = ONE(n_out, type), .in = V(counts, places, type_in), .n_out = 1, .n_in = n,
           .root = root)
THREE(Gatherv, Igatherv, GATHERV, (out, n_out, type, in, counts, places, type_in, root))
#define SCATTERV                                                                                   \
    (const void *out, const int *counts, const int *places, MPI_Datatype type, void *in, int n_in, \
     MPI_Datatype type_in, int root)
COLLECTIVE(Scatterv, SCATTERV, .operation = SCATTER, .send = out, .receive = in,
           .out = V(counts, places, type), .in = ONE(n_in, type_in), .n_out = n, .n_in = 1,
           .root = root)
THREE(Scatterv, Iscatterv, SCATTERV, (out, counts, places, type, in, n_in, type_in, root))
#define ALLGATHERV                                                                                 \
    (const void *out, int n_out, MPI_Datatype type, void *in, const int *counts,                   \
     const int *places, MPI_Datatype type_in)
COLLECTIVE(Allgatherv, ALLGATHERV, .operation = ALLGATHER, .send = out, .receive = in,
           .out = ONE(n_out, type), .in = V(counts, places, type_in), .n_out = 1, .n_in = n)
THREE(Allgatherv, Iallgatherv, ALLGATHERV, (out, n_out, type, in, counts, places, type_in))
#define ALLTOALLV                                                                                  \
    (const void *out, const int *counts, const int *places, MPI_Datatype type, void *in,           \
     const int *counts_in, const int *places_in, MPI_Datatype type_in)
COLLECTIVE(Alltoallv, ALLTOALLV, .operation = ALLTOALL, .send = out, .receive = in,
           .out = V(counts, places, type), .in = V(counts_in, places_in, type_in), .n_out = n,
           .n_in = n)
THREE(Alltoallv, Ialltoallv, ALLTOALLV,
      (out, counts, places, type, in, counts_in, places_in, type_in))

static struct layout with_types(struct layout l, const MPI_Datatype *types, int n) {
    l.types = copy_of(types, (size_t)n * sizeof *types);
    return l;
}
#define ALLTOALLW                                                                                  \
    (const void *out, const int *counts, const int *places, const MPI_Datatype *types, void *in,   \
     const int *counts_in, const int *places_in, const MPI_Datatype *types_in)
COLLECTIVE(Alltoallw, ALLTOALLW, .operation = ALLTOALL, .send = out, .receive = in,
           .out = with_types(V(counts, places, MPI_BYTE), types, out != MPI_IN_PLACE ? n : 0),
           .in = with_types(V(counts_in, places_in, MPI_BYTE), types_in, n), .n_out = n, .n_in = n)
THREE(Alltoallw, Ialltoallw, ALLTOALLW,
      (out, counts, places, types, in, counts_in, places_in, types_in))

#define REDUCTION (const void *out, void *in, int count, MPI_Datatype type, MPI_Op op)
#define REDUCED                                                                                    \
    .send = out, .receive = in, .out = ONE(count, type), .in = ONE(count, type), .n_out = 1,       \
    .n_in = 1, .op = op
#define REDUCTION_ROOT                                                                             \
    (const void *out, void *in, int count, MPI_Datatype type, MPI_Op op, int root)
COLLECTIVE(Reduce, REDUCTION_ROOT, .operation = REDUCE, REDUCED, .root = root)
THREE(Reduce, Ireduce, REDUCTION_ROOT, (out, in, count, type, op, root))
COLLECTIVE(Allreduce, REDUCTION, .operation = ALLREDUCE, REDUCED)
THREE(Allreduce, Iallreduce, REDUCTION, (out, in, count, type, op))
COLLECTIVE(Scan, REDUCTION, .operation = SCAN, REDUCED)
THREE(Scan, Iscan, REDUCTION, (out, in, count, type, op))
COLLECTIVE(Exscan, REDUCTION, .operation = EXSCAN, REDUCED)
THREE(Exscan, Iexscan, REDUCTION, (out, in, count, type, op))

#define SCATTERED (const void *out, void *in, const int *counts, MPI_Datatype type, MPI_Op op)
COLLECTIVE(Reduce_scatter, SCATTERED, .operation = REDUCE_SCATTER, .send = out, .receive = in,
           .out = varying(counts, NULL, type, c->group->size), .in = ONE(0, type),
           .n_out = c->group->size, .n_in = 1, .op = op)
THREE(Reduce_scatter, Ireduce_scatter, SCATTERED, (out, in, counts, type, op))
COLLECTIVE(Reduce_scatter_block, REDUCTION, .operation = REDUCE_SCATTER, .send = out, .receive = in,
           .out = ONE(count, type), .in = ONE(count, type), .n_out = c->group->size, .n_in = 1,
           .op = op)
THREE(Reduce_scatter_block, Ireduce_scatter_block, REDUCTION, (out, in, count, type, op))

/* ---- neighbourhoods ---- */

static int degree(const struct sim_comm *c, bool out) {
    int *ranks, n = sim_neighbours(c, out, &ranks);
    free(ranks);
    return n < 0 ? 0 : n;
}

COLLECTIVE(Neighbor_allgather, SIMPLE, .operation = NEIGHBOUR_ALLGATHER, .send = out, .receive = in,
           .out = ONE(n_out, type), .in = ONE(n_in, type_in), .n_out = 1, .n_in = degree(c, false))
THREE(Neighbor_allgather, Ineighbor_allgather, SIMPLE, (out, n_out, type, in, n_in, type_in))
COLLECTIVE(Neighbor_allgatherv, ALLGATHERV, .operation = NEIGHBOUR_ALLGATHER, .send = out,
           .receive = in, .out = ONE(n_out, type),
           .in = varying(counts, places, type_in, degree(c, false)), .n_out = 1,
           .n_in = degree(c, false))
THREE(Neighbor_allgatherv, Ineighbor_allgatherv, ALLGATHERV,
      (out, n_out, type, in, counts, places, type_in))
COLLECTIVE(Neighbor_alltoall, SIMPLE, .operation = NEIGHBOUR_ALLTOALL, .send = out, .receive = in,
           .out = ONE(n_out, type), .in = ONE(n_in, type_in), .n_out = degree(c, true),
           .n_in = degree(c, false))
THREE(Neighbor_alltoall, Ineighbor_alltoall, SIMPLE, (out, n_out, type, in, n_in, type_in))
COLLECTIVE(Neighbor_alltoallv, ALLTOALLV, .operation = NEIGHBOUR_ALLTOALL, .send = out,
           .receive = in, .out = varying(counts, places, type, degree(c, true)),
           .in = varying(counts_in, places_in, type_in, degree(c, false)), .n_out = degree(c, true),
           .n_in = degree(c, false))
THREE(Neighbor_alltoallv, Ineighbor_alltoallv, ALLTOALLV,
      (out, counts, places, type, in, counts_in, places_in, type_in))

static struct layout in_bytes(const int *counts, const MPI_Aint *places, const MPI_Datatype *types,
                              int n) {
    struct layout l = {.counts = copy_of(counts, (size_t)n * sizeof *counts),
                       .bytes = copy_of(places, (size_t)n * sizeof *places),
                       .types = copy_of(types, (size_t)n * sizeof *types)};
    return l;
}
#define NEIGHBOURS_W                                                                               \
    (const void *out, const int *counts, const MPI_Aint *places, const MPI_Datatype *types,        \
     void *in, const int *counts_in, const MPI_Aint *places_in, const MPI_Datatype *types_in)
COLLECTIVE(Neighbor_alltoallw, NEIGHBOURS_W, .operation = NEIGHBOUR_ALLTOALL, .send = out,
           .receive = in, .out = in_bytes(counts, places, types, degree(c, true)),
           .in = in_bytes(counts_in, places_in, types_in, degree(c, false)),
           .n_out = degree(c, true), .n_in = degree(c, false))
THREE(Neighbor_alltoallw, Ineighbor_alltoallw, NEIGHBOURS_W,
      (out, counts, places, types, in, counts_in, places_in, types_in))
