/* What belongs to a communicator, window or file: a communicator of our own with the same members,
 * on which clocks travel. */
#include "virtual.h"

#include <pthread.h>
#include <stdlib.h>

static struct entry {
    struct vt_channel channel; /* first */
    MPI_Comm comm;
    MPI_Win win;
    MPI_File file;
    struct vt_exchange split; /* of a file operation in two halves */
    struct entry *next;
} * entries;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct entry *find(MPI_Comm comm, MPI_Win win, MPI_File file) {
    pthread_mutex_lock(&lock);
    struct entry *e = entries;
    while (e != NULL && (comm != MPI_COMM_NULL ? e->comm != comm
                         : win != MPI_WIN_NULL ? e->win != win
                                               : e->file != file))
        e = e->next;
    pthread_mutex_unlock(&lock);
    return e;
}

struct vt_channel *vt_channel(MPI_Comm comm) {
    return comm == MPI_COMM_NULL ? NULL : (struct vt_channel *)find(comm, MPI_WIN_NULL, NULL);
}

struct vt_channel *vt_channel_of_win(MPI_Win win) {
    return win == MPI_WIN_NULL ? NULL : (struct vt_channel *)find(MPI_COMM_NULL, win, NULL);
}

struct vt_channel *vt_channel_of_file(MPI_File file) {
    if (file == MPI_FILE_NULL)
        return NULL;
    return (struct vt_channel *)find(MPI_COMM_NULL, MPI_WIN_NULL, file);
}

static struct entry *add(MPI_Comm shadow) {
    struct entry *e = calloc(1, sizeof *e);
    int inter = 0;
    if (e == NULL)
        abort();
    e->comm = MPI_COMM_NULL;
    e->win = MPI_WIN_NULL;
    e->file = MPI_FILE_NULL;
    e->channel.shadow = shadow;
    e->channel.ends = MPI_WIN_NULL;
    CALL(PMPI_Comm_set_errhandler, shadow, MPI_ERRORS_ARE_FATAL);
    CALL(PMPI_Comm_rank, shadow, &e->channel.rank);
    CALL(PMPI_Comm_test_inter, shadow, &inter);
    e->channel.inter = inter;
    if (inter)
        CALL(PMPI_Comm_remote_size, shadow, &e->channel.size);
    else
        CALL(PMPI_Comm_size, shadow, &e->channel.size);
    return e;
}

static void insert(struct entry *e) {
    pthread_mutex_lock(&lock);
    e->next = entries;
    entries = e;
    pthread_mutex_unlock(&lock);
}

static MPI_Comm twin(MPI_Comm comm) {
    MPI_Comm shadow = MPI_COMM_NULL;
    CALL(PMPI_Comm_dup, comm, &shadow);
    return shadow;
}

void vt_channel_add_shadow(MPI_Comm comm, MPI_Comm shadow) {
    struct entry *e = add(shadow);
    e->comm = comm;
    insert(e);
}

void vt_channel_add(MPI_Comm comm, bool tools) {
    struct entry *e = add(twin(comm));
    e->comm = comm;
    e->channel.tools = tools;
    insert(e);
}

void vt_channel_add_win(MPI_Comm comm, MPI_Win win) {
    struct entry *e = add(twin(comm));
    uint64_t *ends;
    CALL(PMPI_Win_allocate, 16, 8, MPI_INFO_NULL, e->channel.shadow, &ends, &e->channel.ends);
    ends[0] = ends[1] = 0;
    CALL(PMPI_Barrier, e->channel.shadow);
    e->win = win;
    insert(e);
}

void vt_channel_add_file(MPI_Comm comm, MPI_File file) {
    struct entry *e = add(twin(comm));
    e->file = file;
    e->channel.file = true;
    insert(e);
}

void vt_channel_drop(const struct vt_channel *channel) {
    struct entry *gone = (struct entry *)channel;
    pthread_mutex_lock(&lock);
    for (struct entry **e = &entries; *e != NULL; e = &(*e)->next)
        if (*e == gone) {
            *e = gone->next;
            break;
        }
    pthread_mutex_unlock(&lock);
    if (gone->channel.ends != MPI_WIN_NULL)
        CALL(PMPI_Win_free, &gone->channel.ends);
    CALL(PMPI_Comm_free, &gone->channel.shadow);
    free(gone);
}

/* In-neighbours, with those that are MPI_PROC_NULL. */
static int neighbours(MPI_Comm comm) {
    int kind = MPI_UNDEFINED, n = 0, rank = 0, out = 0, weighted = 0;
    CALL(PMPI_Topo_test, comm, &kind);
    if (kind == MPI_CART) {
        CALL(PMPI_Cartdim_get, comm, &n);
        return 2 * n;
    }
    if (kind == MPI_GRAPH) {
        CALL(PMPI_Comm_rank, comm, &rank);
        CALL(PMPI_Graph_neighbors_count, comm, rank, &n);
    } else if (kind == MPI_DIST_GRAPH) {
        CALL(PMPI_Dist_graph_neighbors_count, comm, &n, &out, &weighted);
    }
    return n;
}

void vt_exchange_start(struct vt_exchange *x, const struct vt_channel *channel, enum vt_rule rule,
                       int root, const int *counts) {
    *x = (struct vt_exchange){
        .channel = channel, .rule = rule, .root = root, .n = channel->size, .mine = vt_now()};
    x->request = MPI_REQUEST_NULL;
    if (rule == VT_NONE)
        return;
    if (rule == VT_NEIGHBOURS)
        x->n = neighbours(channel->shadow);
    x->all = calloc((size_t)x->n + 1, sizeof *x->all);
    x->partner = calloc((size_t)x->n + 1, sizeof *x->partner);
    if (x->all == NULL || x->partner == NULL)
        abort();
    for (int i = 0; rule == VT_PARTNERS && i < x->n; i++)
        x->partner[i] = counts[i] > 0;
    if (rule == VT_NEIGHBOURS)
        CALL(PMPI_Ineighbor_allgather, &x->mine, 8, MPI_BYTE, x->all, 8, MPI_BYTE, channel->shadow,
             &x->request);
    else
        CALL(PMPI_Iallgather, &x->mine, 8, MPI_BYTE, x->all, 8, MPI_BYTE, channel->shadow,
             &x->request);
}

bool vt_exchange_done(struct vt_exchange *x) {
    int done = 1;
    if (x->request != MPI_REQUEST_NULL)
        CALL(PMPI_Test, &x->request, &done, MPI_STATUS_IGNORE);
    return done != 0;
}

static bool counts_here(const struct vt_exchange *x, int i) {
    const struct vt_channel *c = x->channel;
    bool own = !c->inter && x->rule != VT_NEIGHBOURS && i == c->rank;
    switch (x->rule) {
    case VT_FROM_ROOT:
        return i == x->root &&
               !own; /* between groups: MPI_ROOT, MPI_PROC_NULL, or a rank of the others */
    case VT_TO_ROOT:
        return c->inter ? x->root == MPI_ROOT : x->root == c->rank;
    case VT_BELOW:
        return i < c->rank;
    case VT_PARTNERS:
        return x->partner[i] && !own;
    default:
        return true;
    }
}

uint64_t vt_exchange_at(const struct vt_exchange *x) {
    uint64_t latest = 0;
    for (int i = 0; x->all != NULL && i < x->n; i++)
        if (counts_here(x, i) && x->all[i] > latest)
            latest = x->all[i];
    return latest > 0 ? latest + VT_LATENCY_NS : 0;
}

void vt_exchange_free(struct vt_exchange *x) {
    free(x->all);
    free(x->partner);
    x->all = NULL;
    x->partner = NULL;
}

void vt_meet(const struct vt_channel *channel, enum vt_rule rule, int root, const int *counts) {
    struct vt_exchange x;
    if (channel == NULL || vt_inside > 0 || root >= channel->size) /* MPI refuses such a root */
        return;
    vt_exchange_start(&x, channel, rule, root, counts);
    for (int turn = 0; !vt_exchange_done(&x); turn++)
        vt_serve(turn);
    uint64_t at = vt_exchange_at(&x);
    vt_exchange_free(&x);
    if (rule == VT_ALL_GROUPS && channel->inter) { /* the latest of both, as the others saw them */
        uint64_t theirs = 0;
        MPI_Request request;
        int done = 0;
        CALL(PMPI_Iallreduce, &at, &theirs, 1, MPI_UINT64_T, MPI_MAX, channel->shadow, &request);
        for (int turn = 0; done == 0; turn++) {
            vt_serve(turn);
            CALL(PMPI_Test, &request, &done, MPI_STATUS_IGNORE);
        }
        vt_later(theirs);
    }
    vt_later(at);
}

int vt_made(int result, MPI_Comm local, const MPI_Comm *made, bool met, bool tools) {
    if (result != MPI_SUCCESS || *made == MPI_COMM_NULL || vt_inside > 0)
        return result;
    vt_channel_add(*made, tools);
    if (!met) {
        vt_meet(vt_channel(*made), VT_ALL, 0, NULL);
        if (local != MPI_COMM_NULL)
            vt_meet(vt_channel(local), VT_ALL, 0, NULL);
    }
    return result;
}

void vt_split_begin(MPI_File file) {
    struct entry *e = (struct entry *)vt_channel_of_file(file);
    if (e != NULL)
        vt_exchange_start(&e->split, &e->channel, VT_ALL, 0, NULL);
}

void vt_split_end(MPI_File file) {
    struct entry *e = (struct entry *)vt_channel_of_file(file);
    if (e == NULL)
        return;
    for (int turn = 0; !vt_exchange_done(&e->split); turn++)
        vt_serve(turn);
    vt_later(vt_exchange_at(&e->split));
    vt_exchange_free(&e->split);
}

static void begin(void) {
    MPI_Comm parent = MPI_COMM_NULL;
    CALL(PMPI_Comm_get_parent, &parent);
    if (parent != MPI_COMM_NULL)
        vt_unknown("spawned processes");
    vt_channel_add(MPI_COMM_WORLD, false);
    vt_channel_add(MPI_COMM_SELF, false);
    vt_begin();
}

BOTH(MPI_Init)(int *argc, char ***argv) {
    int result = CALL(PMPI_Init, argc, argv);
    begin();
    return result;
}

BOTH(MPI_Init_thread)(int *argc, char ***argv, int wanted, int *provided) {
    int result = CALL(PMPI_Init_thread, argc, argv, wanted, provided);
    begin();
    return result;
}

BOTH(MPI_Finalize)(void) {
    vt_told_all();
    while (entries != NULL)
        vt_channel_drop(&entries->channel);
    return CALL(PMPI_Finalize);
}

static int drop(int result, const struct vt_channel *channel) {
    if (result == MPI_SUCCESS && channel != NULL && vt_inside == 0)
        vt_channel_drop(channel);
    return result;
}

BOTH(MPI_Comm_free)(MPI_Comm *comm) {
    const struct vt_channel *channel = vt_channel(*comm);
    return drop(CALL(PMPI_Comm_free, comm), channel);
}

BOTH(MPI_Comm_disconnect)(MPI_Comm *comm) {
    const struct vt_channel *channel = vt_channel(*comm);
    return drop(CALL(PMPI_Comm_disconnect, comm), channel);
}
