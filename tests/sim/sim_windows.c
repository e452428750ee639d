/* Windows. Memory of MPI_Win_allocate lies in the segment; that of programs is read and written in
 * their process, which does not run meanwhile. Between fences, and between start and complete,
 * what a rank puts and gets is remembered until the epoch ends: only then all sides are there for
 * sure. */
#include "sim_mpi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { POSTED = 1, COMPLETED = 2 }; /* tags */

/* Of one target, in the segment. */
struct lock {
    int exclusive, shared;               /* how many hold it */
    uint64_t after_exclusive, after_any; /* from when on others know that the last one has ended */
};

struct side {
    char *base;
    MPI_Aint bytes;
    int unit;
    pid_t pid;
    bool in_segment;
    struct lock *lock;
};

struct operation {
    enum { PUT, GET, ACCUMULATE, FETCH, SWAP } kind;
    int target, count;
    MPI_Aint place; /* in units of the target */
    MPI_Datatype type;
    char *data; /* packed; what goes there */
    size_t bytes;
    MPI_Op op;
    void *result; /* GET, FETCH, SWAP: where it goes */
    int result_count;
    MPI_Datatype result_type;
    char compare[32];
    struct operation *next;
};

struct window {
    MPI_Win handle;
    struct sim_comm *comm; /* its own context; the handle and error handler are the window's */
    struct side *sides;
    int flavor, model, *locked; /* locked, by target: MPI_LOCK_SHARED, MPI_LOCK_EXCLUSIVE, or 0 */
    struct sim_group *started, *posted;
    struct sim_request **completions; /* of MPI_Win_wait */
    struct operation *first, **last;
    struct sim_attribute *attributes;
    char name[MPI_MAX_OBJECT_NAME];
};
static struct sim_table windows = {.kind = 0xa0000000u};

#define WINDOW(handle)                                                                             \
    ({                                                                                             \
        struct window *window_ = sim_object(&windows, handle);                                     \
        if (window_ == NULL)                                                                       \
            return sim_error(NULL, MPI_ERR_WIN);                                                   \
        window_;                                                                                   \
    })

/* ---- making ---- */

static void leave(const struct window *w, struct sim_meeting *m) {
    sim_leave(m, w->comm->group->rank);
}

static int make(const char *name, MPI_Comm comm, int flavor, void *base, MPI_Aint bytes, int unit,
                bool in_segment, MPI_Win *handle) {
    struct sim_comm *c;
    TRY(sim_check_comm(comm, &c));
    if (bytes < 0)
        return sim_error(c, MPI_ERR_SIZE);
    if (unit <= 0)
        return sim_error(c, MPI_ERR_DISP);
    struct side mine = {base, bytes, unit, getpid(), in_segment, sim_alloc(sizeof(struct lock))};
    struct sim_meeting *m = sim_all_meet(c, name, &mine, sizeof mine, NULL);
    struct window *w = sim_new(sizeof *w);
    int n = c->group->size;
    struct sim_group *group = sim_group_new(n);
    memcpy(group->world, c->group->world, (size_t)n * sizeof *group->world);
    w->comm = sim_comm_new(m->fresh, group, NULL);
    w->sides = sim_new((size_t)n * sizeof *w->sides);
    w->locked = sim_new((size_t)n * sizeof *w->locked);
    for (int i = 0; i < n; i++)
        memcpy(&w->sides[i], m->parts[i].data, sizeof w->sides[i]);
    sim_leave(m, c->group->rank);
    w->flavor = flavor;
    w->model = MPI_WIN_UNIFIED;
    w->last = &w->first;
    *handle = w->handle = w->comm->handle = sim_handle(&windows, w);
    return MPI_SUCCESS;
}

BOTH(MPI_Win_create)
(void *base, MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, MPI_Win *win) {
    (void)info;
    ENTER("MPI_Win_create");
    return make("MPI_Win_create", comm, MPI_WIN_FLAVOR_CREATE, base, bytes, unit, false, win);
}

BOTH(MPI_Win_allocate)
(MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win) {
    (void)info;
    ENTER("MPI_Win_allocate");
    *(void **)base = sim_alloc(bytes > 0 ? (size_t)bytes : 1);
    return make("MPI_Win_allocate", comm, MPI_WIN_FLAVOR_ALLOCATE, *(void **)base, bytes, unit,
                true, win);
}

BOTH(MPI_Win_allocate_shared)
(MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win) {
    (void)info;
    ENTER("MPI_Win_allocate_shared");
    *(void **)base = sim_alloc(bytes > 0 ? (size_t)bytes : 1);
    return make("MPI_Win_allocate_shared", comm, MPI_WIN_FLAVOR_SHARED, *(void **)base, bytes, unit,
                true, win);
}

BOTH(MPI_Win_create_dynamic)(MPI_Info info, MPI_Comm comm, MPI_Win *win) {
    (void)info;
    ENTER("MPI_Win_create_dynamic");
    return make("MPI_Win_create_dynamic", comm, MPI_WIN_FLAVOR_DYNAMIC, NULL, 0, 1, false, win);
}

BOTH(MPI_Win_attach)(MPI_Win win, void *base, MPI_Aint bytes) {
    (void)base;
    (void)bytes;
    (void)WINDOW(win);
    return MPI_SUCCESS;
}

BOTH(MPI_Win_detach)(MPI_Win win, const void *base) {
    (void)base;
    (void)WINDOW(win);
    return MPI_SUCCESS;
}

BOTH(MPI_Win_shared_query)
(MPI_Win win, int rank, MPI_Aint *bytes, int *unit, void *base) {
    const struct window *w = WINDOW(win);
    for (int i = 0; rank == MPI_PROC_NULL && i < w->comm->group->size; i++)
        if (w->sides[i].bytes > 0)
            rank = i; /* the first one that has memory */
    if (rank < 0 || rank >= w->comm->group->size)
        rank = 0;
    *bytes = w->sides[rank].bytes;
    *unit = w->sides[rank].unit;
    *(void **)base = w->sides[rank].base;
    return MPI_SUCCESS;
}

BOTH(MPI_Win_free)(MPI_Win *win) {
    ENTER("MPI_Win_free");
    struct window *w = WINDOW(*win);
    TRY(sim_attributes_free(*win, &w->attributes));
    leave(w, sim_all_meet(w->comm, "MPI_Win_free", NULL, 0, NULL));
    const struct side *mine = &w->sides[w->comm->group->rank];
    if (mine->in_segment)
        sim_free(mine->base);
    sim_free(mine->lock);
    sim_drop(&windows, *win);
    free(w->sides);
    free(w->locked);
    free(w);
    *win = MPI_WIN_NULL;
    return MPI_SUCCESS;
}

/* ---- moving data ---- */

static void move(const struct side *side, char *there, void *here, size_t bytes, bool to_there) {
    if (bytes == 0)
        return;
    if (side->in_segment || side->pid == getpid()) {
        memcpy(to_there ? (void *)there : here, to_there ? here : (void *)there, bytes);
        return;
    }
    struct iovec ours = {here, bytes}, theirs = {there, bytes};
    ssize_t moved = to_there ? process_vm_writev(side->pid, &ours, 1, &theirs, 1, 0)
                             : process_vm_readv(side->pid, &ours, 1, &theirs, 1, 0);
    if (moved != (ssize_t)bytes)
        sim_fail("memory of a window cannot be reached: it is not there, or the kernel forbids it");
}

/* All elements that lie at the target, packed here. */
static void move_typed(const struct window *w, const struct operation *o, char *packed,
                       bool to_there) {
    const struct side *side = &w->sides[o->target];
    const struct sim_type *t = sim_type(o->type);
    char *base = side->base + o->place * (w->flavor == MPI_WIN_FLAVOR_DYNAMIC ? 1 : side->unit);
    for (int i = 0; i < o->count; i++)
        for (int b = 0; b < t->n_blocks; b++) {
            move(side, base + i * (t->ub - t->lb) + t->blocks[b].at, packed,
                 (size_t)t->blocks[b].bytes, to_there);
            packed += t->blocks[b].bytes;
        }
}

/* The predefined type that a type consists of. */
static MPI_Datatype basic_of(MPI_Datatype type) {
    const struct sim_type *t = sim_type(type);
    return t->combiner == MPI_COMBINER_NAMED ? type : basic_of(t->types[0]);
}

static void apply(const struct window *w, struct operation *o) {
    const struct sim_type *t = sim_type(o->type);
    size_t bytes = (size_t)(o->count * t->size);
    char *there = sim_new(bytes + 1);
    if (o->kind != PUT)
        move_typed(w, o, there, false);
    if (o->result != NULL)
        sim_unpack(there, bytes, o->result, o->result_count, sim_type(o->result_type));
    if (o->kind == PUT) {
        move_typed(w, o, o->data, true);
    } else if (o->kind == SWAP && memcmp(there, o->compare, bytes) == 0) {
        move_typed(w, o, o->data, true);
    } else if (o->kind == ACCUMULATE || (o->kind == FETCH && o->op != MPI_NO_OP)) {
        MPI_Datatype basic = basic_of(o->type);
        sim_reduce(o->data, there, (int)(bytes / (size_t)sim_type(basic)->size), basic, o->op);
        move_typed(w, o, there, true);
    }
    free(there);
    sim_type_use(sim_type(o->type), -1);
    if (o->result_type != MPI_DATATYPE_NULL)
        sim_type_use(sim_type(o->result_type), -1);
    free(o->data);
    free(o);
}

/* Those of one target, or (MPI_ANY_SOURCE) of all, in their order. */
static void apply_all(struct window *w, int target) {
    for (struct operation **o = &w->first; *o != NULL;) {
        struct operation *one = *o;
        if (target != MPI_ANY_SOURCE && one->target != target) {
            o = &one->next;
            continue;
        }
        *o = one->next;
        apply(w, one);
    }
    for (w->last = &w->first; *w->last != NULL;)
        w->last = &(*w->last)->next;
}

/* origin: what goes there; result: where what is there goes (may be NULL). */
struct origin {
    const void *data;
    int count;
    MPI_Datatype type;
};

static int operate(MPI_Win win, struct operation filled, struct origin origin) {
    struct window *w = WINDOW(win);
    if (filled.target == MPI_PROC_NULL)
        return MPI_SUCCESS;
    if (filled.target < 0 || filled.target >= w->comm->group->size)
        return sim_error(w->comm, MPI_ERR_RANK);
    if (filled.count < 0 || origin.count < 0)
        return sim_error(w->comm, MPI_ERR_COUNT);
    if (sim_type(filled.type) == NULL || (origin.data != NULL && sim_type(origin.type) == NULL))
        return sim_error(w->comm, MPI_ERR_TYPE);
    struct operation *o = memcpy(sim_new(sizeof *o), &filled, sizeof filled);
    o->next = NULL;
    sim_type_use(sim_type(o->type), 1);
    if (o->result_type != MPI_DATATYPE_NULL)
        sim_type_use(sim_type(o->result_type), 1);
    if (o->kind == PUT || o->kind == ACCUMULATE || o->kind == SWAP ||
        (o->kind == FETCH && o->op != MPI_NO_OP))
        o->data = sim_pack(origin.data, origin.count, sim_type(origin.type), &o->bytes);
    if (w->locked[o->target] != 0) {
        apply(w, o);
        return MPI_SUCCESS;
    }
    *w->last = o;
    w->last = &o->next;
    return MPI_SUCCESS;
}

#define TARGET                  .target = target, .place = place, .count = m, .type = type_there
#define RESULT(at, count, kind) .result = at, .result_count = count, .result_type = kind
#define NO_RESULT               .result_type = MPI_DATATYPE_NULL

static int put(const void *data, int n, MPI_Datatype type, int target, MPI_Aint place, int m,
               MPI_Datatype type_there, MPI_Win win) {
    return operate(win, (struct operation){.kind = PUT, TARGET, NO_RESULT},
                   (struct origin){data, n, type});
}

static int get(void *data, int n, MPI_Datatype type, int target, MPI_Aint place, int m,
               MPI_Datatype type_there, MPI_Win win) {
    return operate(win, (struct operation){.kind = GET, TARGET, RESULT(data, n, type)},
                   (struct origin){NULL, 0, type});
}

static int accumulate(const void *data, int n, MPI_Datatype type, int target, MPI_Aint place, int m,
                      MPI_Datatype type_there, MPI_Op op, MPI_Win win) {
    return operate(win, (struct operation){.kind = ACCUMULATE, TARGET, .op = op, NO_RESULT},
                   (struct origin){data, n, type});
}

static int get_accumulate(const void *data, int n, MPI_Datatype type, void *result, int k,
                          MPI_Datatype type_result, int target, MPI_Aint place, int m,
                          MPI_Datatype type_there, MPI_Op op, MPI_Win win) {
    return operate(
        win, (struct operation){.kind = FETCH, TARGET, .op = op, RESULT(result, k, type_result)},
        (struct origin){data, n, type});
}

BOTH(MPI_Put)
(const void *data, int n, MPI_Datatype type, int target, MPI_Aint place, int m,
 MPI_Datatype type_there, MPI_Win win) {
    ENTER("MPI_Put");
    return put(data, n, type, target, place, m, type_there, win);
}

BOTH(MPI_Get)
(void *data, int n, MPI_Datatype type, int target, MPI_Aint place, int m, MPI_Datatype type_there,
 MPI_Win win) {
    ENTER("MPI_Get");
    return get(data, n, type, target, place, m, type_there, win);
}

BOTH(MPI_Accumulate)
(const void *data, int n, MPI_Datatype type, int target, MPI_Aint place, int m,
 MPI_Datatype type_there, MPI_Op op, MPI_Win win) {
    ENTER("MPI_Accumulate");
    return accumulate(data, n, type, target, place, m, type_there, op, win);
}

BOTH(MPI_Get_accumulate)
(const void *data, int n, MPI_Datatype type, void *result, int k, MPI_Datatype type_result,
 int target, MPI_Aint place, int m, MPI_Datatype type_there, MPI_Op op, MPI_Win win) {
    ENTER("MPI_Get_accumulate");
    return get_accumulate(data, n, type, result, k, type_result, target, place, m, type_there, op,
                          win);
}

BOTH(MPI_Fetch_and_op)
(const void *data, void *result, MPI_Datatype type, int target, MPI_Aint place, MPI_Op op,
 MPI_Win win) {
    ENTER("MPI_Fetch_and_op");
    return get_accumulate(data, 1, type, result, 1, type, target, place, 1, type, op, win);
}

BOTH(MPI_Compare_and_swap)
(const void *data, const void *compare, void *result, MPI_Datatype type, int target, MPI_Aint place,
 MPI_Win win) {
    int m = 1;
    MPI_Datatype type_there = type;
    ENTER("MPI_Compare_and_swap");
    struct operation o = {.kind = SWAP, TARGET, RESULT(result, 1, type)};
    if (sim_type(type) != NULL)
        memcpy(o.compare, compare, (size_t)sim_type(type)->size);
    return operate(win, o, (struct origin){data, 1, type});
}

/* Requests are of epochs of locks, in which everything is done at once. */
static int at_once(int result, MPI_Request *request) {
    TRY(result);
    struct sim_handle *h = sim_handle_new(SIM_USE_NONE);
    h->active = true;
    *request = sim_request_handle(h);
    return MPI_SUCCESS;
}

BOTH(MPI_Rput)
(const void *data, int n, MPI_Datatype type, int target, MPI_Aint place, int m,
 MPI_Datatype type_there, MPI_Win win, MPI_Request *request) {
    ENTER("MPI_Rput");
    return at_once(put(data, n, type, target, place, m, type_there, win), request);
}

BOTH(MPI_Rget)
(void *data, int n, MPI_Datatype type, int target, MPI_Aint place, int m, MPI_Datatype type_there,
 MPI_Win win, MPI_Request *request) {
    ENTER("MPI_Rget");
    return at_once(get(data, n, type, target, place, m, type_there, win), request);
}

BOTH(MPI_Raccumulate)
(const void *data, int n, MPI_Datatype type, int target, MPI_Aint place, int m,
 MPI_Datatype type_there, MPI_Op op, MPI_Win win, MPI_Request *request) {
    ENTER("MPI_Raccumulate");
    return at_once(accumulate(data, n, type, target, place, m, type_there, op, win), request);
}

BOTH(MPI_Rget_accumulate)
(const void *data, int n, MPI_Datatype type, void *result, int k, MPI_Datatype type_result,
 int target, MPI_Aint place, int m, MPI_Datatype type_there, MPI_Op op, MPI_Win win,
 MPI_Request *request) {
    ENTER("MPI_Rget_accumulate");
    return at_once(get_accumulate(data, n, type, result, k, type_result, target, place, m,
                                  type_there, op, win),
                   request);
}

/* ---- fences ---- */

BOTH(MPI_Win_fence)(int assertion, MPI_Win win) {
    ENTER("MPI_Win_fence");
    struct window *w = WINDOW(win);
    if (assertion & MPI_MODE_NOPRECEDE) /* nothing ends: it need not wait */
        return MPI_SUCCESS;
    leave(w, sim_all_meet(w->comm, "MPI_Win_fence", NULL, 0, NULL));
    apply_all(w, MPI_ANY_SOURCE);
    leave(w, sim_all_meet_at_once(w->comm, "MPI_Win_fence, done"));
    return MPI_SUCCESS;
}

/* ---- post, start, complete, wait: by messages ---- */

static void tell(const struct window *w, int rank, int tag) {
    struct sim_envelope to = {sim_context(w->comm, true), w->comm->group->world[rank],
                              w->comm->group->rank, tag};
    sim_request_free(sim_send(to, NULL, 0, false, true));
}

static struct sim_request *hear(const struct window *w, int rank, int tag) {
    return sim_receive(sim_context(w->comm, true), rank, tag);
}

/* The members of a group, as ranks of the window. */
static struct sim_group *members(const struct window *w, MPI_Group group) {
    const struct sim_group *g = sim_group(group);
    if (g == NULL)
        return NULL;
    struct sim_group *ranks = sim_group_new(g->size);
    for (int i = 0; i < g->size; i++)
        for (int r = 0; r < w->comm->group->size; r++)
            if (w->comm->group->world[r] == g->world[i])
                ranks->world[i] = r;
    return ranks;
}

static void forget(struct sim_group **ranks) {
    free((*ranks)->world);
    free(*ranks);
    *ranks = NULL;
}

BOTH(MPI_Win_post)(MPI_Group group, int assertion, MPI_Win win) {
    (void)assertion;
    ENTER("MPI_Win_post");
    struct window *w = WINDOW(win);
    w->posted = members(w, group);
    if (w->posted == NULL)
        return sim_error(w->comm, MPI_ERR_GROUP);
    w->completions = sim_new((size_t)w->posted->size * sizeof *w->completions + 1);
    for (int i = 0; i < w->posted->size; i++) {
        tell(w, w->posted->world[i], POSTED);
        w->completions[i] = hear(w, w->posted->world[i], COMPLETED);
    }
    return MPI_SUCCESS;
}

BOTH(MPI_Win_start)(MPI_Group group, int assertion, MPI_Win win) {
    (void)assertion;
    ENTER("MPI_Win_start");
    struct window *w = WINDOW(win);
    w->started = members(w, group);
    return w->started == NULL ? sim_error(w->comm, MPI_ERR_GROUP) : MPI_SUCCESS;
}

BOTH(MPI_Win_complete)(MPI_Win win) {
    ENTER("MPI_Win_complete");
    struct window *w = WINDOW(win);
    if (w->started == NULL)
        return sim_error(w->comm, MPI_ERR_RMA_SYNC);
    for (int i = 0; i < w->started->size; i++) {
        struct sim_request *post = hear(w, w->started->world[i], POSTED);
        sim_wait_request(post);
        sim_request_free(post);
        apply_all(w, w->started->world[i]);
        tell(w, w->started->world[i], COMPLETED);
    }
    forget(&w->started);
    return MPI_SUCCESS;
}

static bool all_completed(void *data) {
    const struct window *w = data;
    for (int i = 0; i < w->posted->size; i++)
        if (!w->completions[i]->complete)
            return false;
    return true;
}

static void end_exposure(struct window *w) {
    for (int i = 0; i < w->posted->size; i++)
        sim_request_free(w->completions[i]);
    free(w->completions);
    forget(&w->posted);
}

BOTH(MPI_Win_wait)(MPI_Win win) {
    ENTER("MPI_Win_wait");
    struct window *w = WINDOW(win);
    if (w->posted == NULL)
        return sim_error(w->comm, MPI_ERR_RMA_SYNC);
    sim_wait_until(all_completed, w);
    end_exposure(w);
    return MPI_SUCCESS;
}

BOTH(MPI_Win_test)(MPI_Win win, int *flag) {
    ENTER("MPI_Win_test");
    struct window *w = WINDOW(win);
    if (w->posted == NULL)
        return sim_error(w->comm, MPI_ERR_RMA_SYNC);
    *flag = all_completed(w);
    if (*flag)
        end_exposure(w);
    else
        sim_poll();
    return MPI_SUCCESS;
}

/* ---- locks ---- */

static void take(struct lock *l, bool shared) {
    for (;;) {
        uint64_t free_at = shared ? l->after_exclusive : l->after_any;
        bool held = l->exclusive > 0 || (!shared && l->shared > 0);
        if (!held && sim_self()->clock >= free_at)
            break;
        sim_yield(held ? SIM_NEVER : free_at);
    }
    *(shared ? &l->shared : &l->exclusive) += 1;
}

static int lock_target(struct window *w, int type, int target) {
    if (target == MPI_PROC_NULL)
        return MPI_SUCCESS;
    if (target < 0 || target >= w->comm->group->size)
        return sim_error(w->comm, MPI_ERR_RANK);
    if (type != MPI_LOCK_SHARED && type != MPI_LOCK_EXCLUSIVE)
        return sim_error(w->comm, MPI_ERR_LOCKTYPE);
    if (w->locked[target] != 0)
        return sim_error(w->comm, MPI_ERR_RMA_SYNC);
    take(w->sides[target].lock, type == MPI_LOCK_SHARED);
    w->locked[target] = type;
    return MPI_SUCCESS;
}

static int unlock_target(struct window *w, int target) {
    if (target == MPI_PROC_NULL)
        return MPI_SUCCESS;
    if (target < 0 || target >= w->comm->group->size || w->locked[target] == 0)
        return sim_error(w->comm, MPI_ERR_RMA_SYNC);
    struct lock *l = w->sides[target].lock;
    bool shared = w->locked[target] == MPI_LOCK_SHARED;
    uint64_t known = sim_self()->clock + sim->model.latency_ns;
    *(shared ? &l->shared : &l->exclusive) -= 1;
    l->after_any = known;
    if (!shared)
        l->after_exclusive = known;
    for (int i = 0; i < w->comm->group->size; i++)
        sim_wake_rank(w->comm->group->world[i], known);
    w->locked[target] = 0;
    return MPI_SUCCESS;
}

BOTH(MPI_Win_lock)(int type, int target, int assertion, MPI_Win win) {
    (void)assertion;
    ENTER("MPI_Win_lock");
    return lock_target(WINDOW(win), type, target);
}

BOTH(MPI_Win_unlock)(int target, MPI_Win win) {
    ENTER("MPI_Win_unlock");
    return unlock_target(WINDOW(win), target);
}

BOTH(MPI_Win_lock_all)(int assertion, MPI_Win win) {
    (void)assertion;
    ENTER("MPI_Win_lock_all");
    struct window *w = WINDOW(win);
    for (int i = 0; i < w->comm->group->size; i++)
        TRY(lock_target(w, MPI_LOCK_SHARED, i));
    return MPI_SUCCESS;
}

BOTH(MPI_Win_unlock_all)(MPI_Win win) {
    ENTER("MPI_Win_unlock_all");
    struct window *w = WINDOW(win);
    for (int i = 0; i < w->comm->group->size; i++)
        TRY(unlock_target(w, i));
    return MPI_SUCCESS;
}

#define FLUSH(name, parameters)                                                                    \
    BOTH(MPI_##name) parameters {                                                                  \
        ENTER("MPI_" #name);                                                                       \
        (void)WINDOW(win);                                                                         \
        return MPI_SUCCESS;                                                                        \
    }
FLUSH(Win_flush, (int target __attribute__((unused)), MPI_Win win))
FLUSH(Win_flush_local, (int target __attribute__((unused)), MPI_Win win))
FLUSH(Win_flush_all, (MPI_Win win))
FLUSH(Win_flush_local_all, (MPI_Win win))
FLUSH(Win_sync, (MPI_Win win))

/* ---- what else there is of a window ---- */

BOTH(MPI_Win_get_group)(MPI_Win win, MPI_Group *group) {
    return sim_group_of(WINDOW(win)->comm, group);
}

BOTH(MPI_Win_set_name)(MPI_Win win, const char *name) {
    struct window *w = WINDOW(win);
    snprintf(w->name, sizeof w->name, "%s", name);
    return MPI_SUCCESS;
}

BOTH(MPI_Win_get_name)(MPI_Win win, char *name, int *length) {
    strcpy(name, WINDOW(win)->name);
    *length = (int)strlen(name);
    return MPI_SUCCESS;
}

BOTH(MPI_Win_set_info)(MPI_Win win, MPI_Info info) {
    (void)info;
    (void)WINDOW(win);
    return MPI_SUCCESS;
}

BOTH(MPI_Win_get_info)(MPI_Win win, MPI_Info *info) {
    (void)WINDOW(win);
    return PMPI_Info_create(info);
}

BOTH(MPI_Win_create_errhandler)(MPI_Win_errhandler_function *function, MPI_Errhandler *handler) {
    return PMPI_Comm_create_errhandler(function, handler);
}

BOTH(MPI_Win_set_errhandler)(MPI_Win win, MPI_Errhandler handler) {
    WINDOW(win)->comm->errhandler = handler;
    return MPI_SUCCESS;
}

BOTH(MPI_Win_get_errhandler)(MPI_Win win, MPI_Errhandler *handler) {
    *handler = WINDOW(win)->comm->errhandler;
    return MPI_SUCCESS;
}

BOTH(MPI_Win_call_errhandler)(MPI_Win win, int code) {
    sim_error(WINDOW(win)->comm, code);
    return MPI_SUCCESS;
}

BOTH(MPI_Win_create_keyval)
(MPI_Win_copy_attr_function *copy, MPI_Win_delete_attr_function *delete, int *key, void *extra) {
    return PMPI_Comm_create_keyval(copy, delete, key, extra);
}

BOTH(MPI_Win_free_keyval)(int *key) {
    return PMPI_Comm_free_keyval(key);
}

BOTH(MPI_Win_set_attr)(MPI_Win win, int key, void *value) {
    return sim_attribute_set(win, &WINDOW(win)->attributes, key, value);
}

BOTH(MPI_Win_delete_attr)(MPI_Win win, int key) {
    return sim_attribute_delete(win, &WINDOW(win)->attributes, key);
}

BOTH(MPI_Win_get_attr)(MPI_Win win, int key, void *value, int *flag) {
    struct window *w = WINDOW(win);
    struct side *mine = &w->sides[w->comm->group->rank];
    void *known = NULL;
    switch (key) {
    case MPI_WIN_BASE:
        *flag = 1;
        *(void **)value = mine->base;
        return MPI_SUCCESS;
    case MPI_WIN_SIZE:
        known = &mine->bytes;
        break;
    case MPI_WIN_DISP_UNIT:
        known = &mine->unit;
        break;
    case MPI_WIN_CREATE_FLAVOR:
        known = &w->flavor;
        break;
    case MPI_WIN_MODEL:
        known = &w->model;
        break;
    default:
        return sim_attribute_get(w->attributes, key, value, flag);
    }
    *flag = 1;
    *(void **)value = known;
    return MPI_SUCCESS;
}
