#include <string.h>

#include "format/omp_construct.h"
#include "format/trace_record.h"
#include "measure/mpi/handles.h"
#include "measure/mpi/operations.h"
#include "measure/mpi/request.h"
#include "measure/core/core.h"
#include "measure/callpath/entry.h"
#include "measure/core/state_write.h"
#include "measure/core/thread.h"
#include "measure/trace/trace_area.h"
#include "measure/trace/trace_hooks.h"

static uint64_t operation_of(uint32_t fn) {
    return (uint64_t)lc_fn_facts[fn].operation << 56;
}

static uint32_t root_of(const struct lc_coll *coll) {
    if (coll->kind != LC_COLL_ONE2N && coll->kind != LC_COLL_N2ONE)
        return LC_REC_ROOT_NONE;
    if (coll->root == MPI_ROOT)
        return LC_REC_ROOT_SELF;
    if (coll->root == MPI_PROC_NULL)
        return LC_REC_ROOT_OTHERS;
    return (uint32_t)coll->root;
}

void lc_trace_coll_write(struct lc_call *call, struct lc_coll *coll, bool nonblocking) {
    struct lc_trace_stream *s = lc_trace_stream_of(call);
    if (lc_unlikely(s == NULL)) {
        if (lc_tracing.counts)
            lc_trace_count_outside(
                call, coll->comm,
                (struct lc_def_left_out){.half = nonblocking ? LC_HALF_ICOLL : LC_HALF_COLL,
                                         .gap = lc_tracing.stretch,
                                         .count = 1});
        return;
    }
    uint32_t fn = coll->request != NULL ? coll->request->fn : call->fn;
    enum lc_rec_kind kind = nonblocking ? LC_REC_ICOLL : LC_REC_COLL;
    uint64_t head = lc_rec_pair(kind, lc_trace_comm_id(call, coll->comm), root_of(coll)),
             sent = operation_of(fn) | coll->bytes_sent;
    if (!nonblocking) {
        lc_trace_put3(s, head, sent, coll->bytes_rcvd);
        return;
    }
    lc_trace_put4(s, head, sent, coll->bytes_rcvd, coll->id);
    if (coll->request != NULL)
        coll->request->trace = 1;
    else
        lc_trace_put1(s, lc_rec_word(LC_REC_ICOLL_DONE, coll->id));
}

/* MPICH leaves the status of MPI_Isendrecv empty: what was asked for is what came. */
static int source_of(const struct lc_request *r, const MPI_Status *status) {
    return r->peer >= 0 ? r->peer : status->MPI_SOURCE;
}

static int tag_of(const struct lc_request *r, const MPI_Status *status) {
    return r->tag >= 0 ? r->tag : status->MPI_TAG;
}

static void completed_one(struct lc_call *call, struct lc_trace_stream *s, struct lc_request *r,
                          const MPI_Status *status) {
    r->trace = 0;
    if (lc_unlikely(r->pair != NULL && r->pair->trace != 0)) /* the sending half */
        completed_one(call, s, r->pair, status);
    if (r->kind == LC_REQUEST_FILE) {
        lc_trace_put3(s, lc_rec_pair(LC_REC_IO_DONE, (uint32_t)r->peer, 0), lc_status_bytes(status),
                      r->id);
    } else if (r->kind == LC_REQUEST_COLL) {
        lc_trace_put1(s, lc_rec_word(LC_REC_ICOLL_DONE, r->id));
    } else if (lc_unlikely(r->cancelled && lc_status_cancelled(status))) {
        lc_trace_put1(s, lc_rec_word(LC_REC_CANCELLED, r->id));
    } else if (r->kind == LC_REQUEST_SEND) {
        lc_trace_put1(s, lc_rec_word(LC_REC_ISEND_DONE, r->id));
    } else if (r->kind == LC_REQUEST_RECV) {
        int source = source_of(r, status), tag = tag_of(r, status);
        uint64_t bytes = lc_status_bytes(status);
        if (!lc_trace_sized(s, bytes)) {
            lc_trace_put1(s, lc_rec_word(LC_REC_DROPPED, r->id));
            return;
        }
        uint64_t head =
            lc_rec_pair(LC_REC_IRECV, lc_trace_comm_id(call, r->comm), (uint32_t)source);
        lc_trace_put4(s, head, (uint32_t)tag | (uint64_t)r->gap << 32, bytes, r->id);
        r->gap = 0;
    }
}

/* It was begun outside of the windows. */
static void completed_outside(struct lc_call *call, struct lc_request *r,
                              const MPI_Status *status) {
    uint32_t gap = r->gap - 1;
    bool cancelled = r->cancelled && lc_status_cancelled(status);
    r->gap = 0;
    if (r->pair != NULL && r->pair->gap != 0)
        completed_outside(call, r->pair, status);
    struct lc_def_left_out one = {.gap = gap, .peer = (uint32_t)r->peer, .tag = (uint32_t)r->tag};
    if (r->kind == LC_REQUEST_SEND && cancelled) {
        one.half = LC_HALF_SEND;
        one.count = -1;
        lc_trace_count_outside(call, r->comm, one);
    }
    if (r->kind == LC_REQUEST_RECV && !cancelled && lc_trace_wants_bytes(lc_status_bytes(status))) {
        one.half = LC_HALF_RECEIVE;
        one.count = 1;
        one.peer = (uint32_t)source_of(r, status);
        one.tag = (uint32_t)tag_of(r, status);
        lc_trace_count_outside(call, r->comm, one);
    }
}

/* It was begun in a stretch, but measurement is stopped now: it counts as begun after that one. */
static void completed_unseen(struct lc_call *call, struct lc_request *r, const MPI_Status *status) {
    r->trace = 0;
    if (r->pair != NULL && r->pair->trace != 0)
        completed_unseen(call, r->pair, status);
    if (r->kind == LC_REQUEST_RECV) {
        r->gap++;
        completed_outside(call, r, status);
    }
}

void lc_trace_completed(struct lc_call *call, int n, struct lc_request *const *requests,
                        const MPI_Status *statuses) {
    struct lc_trace_stream *s = lc_trace_stream_of(call);
    if (lc_unlikely(s == NULL) && !lc_tracing.counts)
        return;
    for (int i = 0; i < n; i++) {
        struct lc_request *r = requests[i];
        if (r != NULL && r->trace != 0) {
            if (s == NULL)
                s = lc_trace_window_late(call);
            if (s != NULL)
                completed_one(call, s, r, &statuses[i]);
            else
                completed_unseen(call, r, &statuses[i]);
        } else if (r != NULL && r->gap != 0) {
            completed_outside(call, r, &statuses[i]);
        }
    }
}

void lc_trace_request_failed(struct lc_call *call, struct lc_request *r) {
    struct lc_trace_stream *s = lc_trace_stream_of(call);
    bool traced = r->trace != 0;
    r->trace = 0;
    r->gap = 0;
    if (s == NULL || !traced)
        return;
    if (r->pair != NULL)
        lc_trace_request_failed(call, r->pair);
    if (r->kind == LC_REQUEST_FILE)
        lc_trace_put3(s, lc_rec_pair(LC_REC_IO_DONE, (uint32_t)r->peer, 0), 0, r->id);
    else
        lc_trace_put1(s, lc_rec_word(r->kind == LC_REQUEST_COLL   ? LC_REC_ICOLL_DONE
                                     : r->kind == LC_REQUEST_SEND ? LC_REC_ISEND_DONE
                                                                  : LC_REC_DROPPED,
                                     r->id));
}

void lc_trace_tested_cold(struct lc_trace_stream *s, const struct lc_request *r) {
    if (r->kind == LC_REQUEST_FILE)
        lc_trace_put2(s, lc_rec_pair(LC_REC_IO_TESTED, (uint32_t)r->peer, 0), r->id);
    else
        lc_trace_put1(s, lc_rec_word(LC_REC_TESTED, r->id));
    if (r->pair != NULL && r->pair->trace != 0)
        lc_trace_tested_cold(s, r->pair);
}

static void record_comm(struct lc_call *call, enum lc_rec_kind kind, uint32_t id) {
    struct lc_trace_stream *s = lc_trace_stream_of(call);
    if (s != NULL)
        lc_trace_put1(s, lc_rec_pair(kind, id, 0));
}

static void define_once(struct lc_comm *comm) {
    if (comm->trace != NULL)
        return;
    comm->trace = &lc_tracing;
    lc_trace_define_comm(comm, comm->parent);
}

/* Of a constructor that is collective over the parent, as far as it is known. */
void lc_trace_comm_new(struct lc_call *call, struct lc_comm *comm) {
    if (lc_tracing.area == NULL)
        return;
    define_once(comm);
    record_comm(call, LC_REC_COMM_MADE, comm->id);
}

/* The new communicator's members need not all be the parent's in the calls left out here. */
void lc_trace_made_from(struct lc_call *call, struct lc_comm *parent) {
    struct lc_trace_stream *s = lc_trace_stream_of(call);
    if (s == NULL || (lc_fn_facts[call->fn].flags & LC_MPI_OTHER_MEMBERS))
        return;
    lc_trace_put1(s, lc_rec_pair(LC_REC_HANDLE, lc_trace_comm_id(call, parent), 0));
}

void lc_trace_define_neighbours(struct lc_call *call, struct lc_comm *comm, const int *sources,
                                int n) {
    if (lc_tracing.area == NULL)
        return;
    uint32_t head[2] = {lc_trace_comm_id(call, comm), n > 0 ? (uint32_t)n : 0};
    lc_trace_define(LC_DEF_NEIGHBOURS, head, sizeof(head), sources, head[1] * sizeof(*sources));
}

void lc_trace_comm_grid(struct lc_call *call, struct lc_comm *comm, const struct lc_grid *grid) {
    if (lc_tracing.area == NULL)
        return;
    struct lc_def_grid definition = {.comm = lc_trace_comm_id(call, comm), .n_dims = grid->n_dims};
    memcpy(definition.dims, grid->dims, sizeof definition.dims);
    memcpy(definition.periodic, grid->periodic, sizeof definition.periodic);
    lc_trace_define(LC_DEF_GRID, &definition, sizeof definition, NULL, 0);
}

void lc_trace_comm_named(struct lc_call *call, struct lc_comm *comm, const char *name) {
    if (lc_tracing.area != NULL && name != NULL)
        lc_trace_define_name(false, lc_trace_comm_id(call, comm), name);
}

void lc_trace_comm_free(struct lc_call *call, struct lc_comm *comm) {
    struct lc_trace_stream *s = lc_trace_stream_of(call);
    if (s == NULL || comm->trace == NULL)
        return;
    lc_trace_put1(s, lc_rec_pair(LC_REC_HANDLE, comm->id, 1));
    lc_trace_put1(s, lc_rec_pair(LC_REC_COMM_FREED, comm->id, 0));
}

/* The process and its first two communicators are defined. */
static void init(struct lc_call *call) {
    if (lc_tracing.area == NULL)
        return;
    lc_trace_define_process();
    if (LC_ALONE)
        return;
    struct lc_trace_stream *s = lc_trace_stream_of(call);
    struct lc_comm *world = lc_comm_get(call->thread, MPI_COMM_WORLD);
    struct lc_comm *self = lc_comm_get(call->thread, MPI_COMM_SELF);
    if (world == NULL || self == NULL)
        return;
    define_once(world);
    define_once(self);
    if (s == NULL)
        return;
    lc_trace_put1(s, lc_rec_pair(LC_REC_HANDLE, world->id, 0));
    lc_trace_put1(s, lc_rec_pair(LC_REC_COMM_MADE, world->id, 0));
    lc_trace_put1(s, lc_rec_pair(LC_REC_COMM_MADE, self->id, 0));
}

/* The last records of MPI_COMM_WORLD and MPI_COMM_SELF. */
static void finalize(struct lc_call *call) {
    struct lc_trace_stream *s = lc_trace_stream_of(call);
    if (lc_tracing.area == NULL || s == NULL || LC_ALONE)
        return;
    lc_trace_put1(s, lc_rec_pair(LC_REC_HANDLE, 0, 1));
    lc_trace_put1(s, lc_rec_pair(LC_REC_COMM_FREED, 0, 0));
    lc_trace_put1(s, lc_rec_pair(LC_REC_COMM_FREED, 1, 0));
}

void lc_trace_phase(struct lc_call *call) {
    struct lc_trace_stream *s = lc_trace_stream_of(call);
    struct lc_path *path = call->entry->path;
    uint32_t code = (uint32_t)call->entry->fn_ctx;
    if (s == NULL || code < lc_region_fn(0, false))
        return;
    if (path->trace == NULL) {
        struct lc_region_name region = lc_region_get((code - lc_region_fn(0, false)) / 2);
        if (region.address != 0 || region.text == NULL || lc_omp_is_construct(region.text))
            return; /* a function, or a construct of OpenMP */
        path->trace = (void *)((uintptr_t)lc_trace_define_string(region.text, LC_STRING_PHASE) + 1);
    }
    lc_trace_put2(s, lc_rec_word(LC_REC_PHASE, call->begin - s->base_ticks),
                  (uintptr_t)path->trace - 1);
}

static void thread_new(struct lc_call *call) {
    if (call->thread->trace != NULL)
        return;
    struct lc_trace_stream *s = lc_trace_stream_new(call->thread, call->begin);
    if (s != NULL)
        lc_trace_define_thread(call->thread->index, s->begin_ticks);
    call->thread->trace = s;
    lc_trace_window_first(call);
}

static void thread_end(struct lc_call *call) {
    struct lc_trace_stream *s = call->thread->trace;
    if (s == NULL)
        return;
    if (lc_trace_window_ends(s))
        lc_trace_put1(s, lc_rec_word(LC_REC_END, call->begin - s->base_ticks));
    call->thread->trace = NULL;
    lc_trace_stream_close(s);
}

static void start(struct lc_stub *stub) {
    (void)stub;
    lc_path_watch.made = lc_trace_sites;
    lc_trace_start();
}

const struct lc_part lc_trace_part = {.mode = LC_MODE_TRACE,
                                      .start = start,
                                      .init = init,
                                      .thread_new = thread_new,
                                      .thread_end = thread_end,
                                      .finalize = finalize,
                                      .write = lc_trace_close};
