/* One-sided communication in the trace. A window has the number by which it was defined, and the
 * groups of its open epochs. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "format/trace_record.h"
#include "measure/mpi/handles.h"
#include "measure/mpi/operations.h"
#include "measure/core/core.h"
#include "measure/core/thread.h"
#include "measure/trace/trace_area.h"
#include "measure/trace/trace_hooks.h"

struct window {
    MPI_Win handle;
    struct lc_comm *comm;
    uint32_t id;
    uint32_t access, exposure; /* groups given to MPI_Win_start and MPI_Win_post */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct window *windows;
static size_t n_windows, cap_windows;
static uint32_t next_window;
static struct {
    int32_t *world;
    uint32_t n;
} * groups;
static size_t n_groups, cap_groups;

/* OTF2_RmaSyncLevel, OTF2_CollectiveOp, OTF2_RmaAtomicType: parts of the format. */
enum { LEVEL_NONE = 0, LEVEL_PROCESS = 1, LEVEL_MEMORY = 2 };
enum { OP_BARRIER = 0, OP_CREATE_HANDLE = 17, OP_DESTROY_HANDLE = 18, OP_CREATE_AND_ALLOCATE = 21 };
enum { ATOMIC_ACCUMULATE = 0, ATOMIC_SWAP = 3, ATOMIC_FETCH = 7 };

/* A copy; false: not known, made before tracing began. */
static bool find(MPI_Win win, struct window *out) {
    bool found = false;
    pthread_mutex_lock(&lock);
    for (size_t i = n_windows; i-- > 0 && !found;)
        if (windows[i].handle == win) {
            *out = windows[i];
            found = true;
        }
    pthread_mutex_unlock(&lock);
    return found;
}

void lc_win_new_end(struct lc_call *call, int result, MPI_Comm comm, const MPI_Win *win) {
    struct lc_comm *c = lc_comm_get(call->thread, comm);
    if (!(call->mode & LC_MODE_TRACE) || result != MPI_SUCCESS || c == NULL || !lc_tracing.area)
        return;
    struct window w = {*win, c, 0, 0, 0};
    uint32_t comm_id = lc_trace_comm_id(call, c);
    pthread_mutex_lock(&lock);
    w.id = next_window++;
    bool kept = lc_grow(&windows, &cap_windows, n_windows + 1, sizeof(*windows)) == LC_OK;
    if (kept)
        windows[n_windows++] = w;
    pthread_mutex_unlock(&lock);
    if (!kept)
        return;
    const uint32_t definition[2] = {w.id, comm_id};
    lc_trace_define(LC_DEF_WIN, definition, sizeof(definition), NULL, 0);
    struct lc_trace_stream *s = lc_trace_stream_of(call);
    if (s == NULL)
        return;
    bool allocates = lc_fn_facts[call->fn].role == LC_MPI_ROLE_ALLOCATE;
    uint64_t op = allocates ? OP_CREATE_AND_ALLOCATE : OP_CREATE_HANDLE;
    lc_trace_put2(s, lc_rec_pair(LC_REC_RMA_COLL, w.id, 0), op << 56 | LEVEL_PROCESS);
    lc_trace_put1(s, lc_rec_pair(LC_REC_WIN_MADE, w.id, 0));
}

void lc_win_free_begin(struct lc_call *call, MPI_Win win) {
    struct window w;
    if (!(call->mode & LC_MODE_TRACE) || !find(win, &w))
        return;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < n_windows; i++)
        if (windows[i].handle == win) {
            windows[i] = windows[--n_windows];
            break;
        }
    pthread_mutex_unlock(&lock);
    struct lc_trace_stream *s = lc_trace_stream_of(call);
    if (s == NULL)
        return;
    lc_trace_put2(s, lc_rec_pair(LC_REC_RMA_COLL, w.id, 0),
                  (uint64_t)OP_DESTROY_HANDLE << 56 | LEVEL_PROCESS);
    lc_trace_put1(s, lc_rec_pair(LC_REC_WIN_FREED, w.id, 0));
}

void lc_win_named(struct lc_call *call, int result, MPI_Win win, const char *name) {
    struct window w;
    if (call->mode & LC_MODE_TRACE && result == MPI_SUCCESS && name != NULL && find(win, &w))
        lc_trace_define_name(true, w.id, name);
}

void lc_trace_rma(struct lc_call *call, enum lc_rma_kind kind, MPI_Win win, int target,
                  uint64_t bytes, uint64_t bytes_back) {
    struct lc_trace_stream *s = lc_trace_stream_of(call);
    struct window w;
    if (s == NULL || target < 0 || !find(win, &w) || target >= w.comm->size)
        return;
    if (kind == LC_RMA_PUT || kind == LC_RMA_GET) {
        enum lc_rec_kind record = kind == LC_RMA_PUT ? LC_REC_RMA_PUT : LC_REC_RMA_GET;
        lc_trace_put3(s, lc_rec_pair(record, w.id, (uint32_t)target), bytes, 0);
        return;
    }
    uint64_t type = kind == LC_RMA_SWAP    ? ATOMIC_SWAP
                    : kind == LC_RMA_FETCH ? ATOMIC_FETCH
                                           : ATOMIC_ACCUMULATE;
    lc_trace_put4(s, lc_rec_pair(LC_REC_RMA_ATOMIC, w.id, (uint32_t)target), bytes, 0,
                  type << 56 | bytes_back);
}

void lc_trace_win_begin(struct lc_call *call, enum lc_win_sync what, MPI_Win win) {
    struct lc_trace_stream *s = lc_trace_stream_of(call);
    struct window w;
    if (what == LC_WIN_FENCE && s != NULL && find(win, &w))
        lc_trace_put2(s, lc_rec_pair(LC_REC_RMA_COLL, w.id, 0),
                      (uint64_t)OP_BARRIER << 56 | LEVEL_PROCESS | LEVEL_MEMORY);
}

/* The number of a group of processes of the world; equal groups have one. */
static uint32_t group_number(const int32_t *world, uint32_t n) {
    uint32_t number = 0;
    pthread_mutex_lock(&lock);
    while (number < n_groups &&
           (groups[number].n != n || memcmp(groups[number].world, world, n * 4) != 0))
        number++;
    bool fresh = number == n_groups;
    if (fresh && lc_grow(&groups, &cap_groups, n_groups + 1, sizeof(*groups)) == LC_OK) {
        int32_t *copy = malloc(n * 4 + 4);
        if (copy != NULL) {
            memcpy(copy, world, n * 4);
            groups[n_groups].world = copy;
            groups[n_groups++].n = n;
        }
    }
    pthread_mutex_unlock(&lock);
    if (fresh) {
        const uint32_t head[2] = {number, n};
        lc_trace_define(LC_DEF_GROUP, head, sizeof(head), world, n * 4);
    }
    return number;
}

static uint32_t group_of(MPI_Group group) {
    int n;
    int32_t *world = lc_group_world(group, &n);
    uint32_t number = world != NULL ? group_number(world, (uint32_t)n) : 0;
    free(world);
    return number;
}

static uint32_t epoch_group(enum lc_win_sync what, MPI_Win win, const struct window *known,
                            MPI_Group group) {
    if (what == LC_WIN_COMPLETE)
        return known->access;
    if (what == LC_WIN_WAIT)
        return known->exposure;
    uint32_t number = group_of(group);
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < n_windows; i++)
        if (windows[i].handle == win)
            *(what == LC_WIN_START ? &windows[i].access : &windows[i].exposure) = number;
    pthread_mutex_unlock(&lock);
    return number;
}

void lc_trace_win_end(struct lc_call *call, enum lc_win_sync what, MPI_Win win, int rank,
                      MPI_Group group, bool shared) {
    struct window w;
    bool of_one = what == LC_WIN_LOCK || what == LC_WIN_UNLOCK || what == LC_WIN_FLUSH;
    if ((of_one && rank < 0) || !find(win, &w)) /* MPI_PROC_NULL */
        return;
    uint32_t epoch = 0, target = rank >= 0 ? (uint32_t)rank : 0xffffffffu;
    bool grouped = what >= LC_WIN_START;
    if (grouped)
        epoch = epoch_group(what, win, &w, group);
    struct lc_trace_stream *s = lc_trace_stream_of(call);
    if (s == NULL)
        return;
    if (what == LC_WIN_LOCK || what == LC_WIN_LOCK_ALL)
        lc_trace_put2(s, lc_rec_pair(LC_REC_RMA_LOCK, w.id, target),
                      LC_REC_LOCK_ACQUIRE | (shared ? 1u << 8 : 0));
    bool completes = what == LC_WIN_FENCE || what == LC_WIN_COMPLETE ||
                     (what >= LC_WIN_UNLOCK && what <= LC_WIN_FLUSH_ALL);
    if (completes)
        lc_trace_put2(s, lc_rec_pair(LC_REC_RMA_DONE, w.id, target), 0);
    if (what == LC_WIN_UNLOCK || what == LC_WIN_UNLOCK_ALL)
        lc_trace_put2(s, lc_rec_pair(LC_REC_RMA_LOCK, w.id, target), LC_REC_LOCK_RELEASE);
    if (grouped)
        lc_trace_put2(s, lc_rec_pair(LC_REC_RMA_GROUP, w.id, epoch),
                      LEVEL_PROCESS | (what == LC_WIN_START ? LEVEL_NONE : LEVEL_MEMORY));
}
