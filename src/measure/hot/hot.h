/* All code that runs once per MPI call. Budget per call, on a machine where rdtsc takes 10 ns: two
 * stamps (20 ns), one thread-local load, the look-up of the call path (3 ns at depth 5, 7 at 15),
 * one row (2 ns); no lock, no allocation, no division, no system call. tests/bench/overhead keeps
 * it true. Everything slow is behind a function marked LC_COLD. */
#ifndef LC_MEASURE_HOT_HOT_H
#define LC_MEASURE_HOT_HOT_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/timer.h"
#include "format/state.h"
#include "measure/mpi/handles.h"
#include "measure/clocks/clocks_hooks.h"
#include "measure/core/core.h"
#include "measure/unwind/modules.h"
#include "measure/callpath/budget.h"
#include "measure/callpath/entry.h"
#include "measure/callpath/loops.h"
#include "measure/callpath/python_stack.h"
#include "measure/hot/polls.h"
#include "measure/samples/sampler.h"
#include "measure/core/thread.h"
#include "measure/trace/trace_hooks.h"

/* Where logical clocks (clocks_hooks.h) and the event trace (trace_hooks.h) attach to the wrappers.
 * Every point costs one predictable branch on call->mode when both are off. Points run also while
 * measurement is stopped (no LC_MODE_ON), and inside the MPI call (depth 1), so that MPI may be
 * called through lc_real. Order in a call: call_begin, then what the operation begins, the MPI
 * call, then what it completed, call_end. */

#define LC_HOOK_OF(sides, name, parameters, arguments)                                             \
    static inline void lc_hook_##name parameters {                                                 \
        sides(name, arguments)                                                                     \
    }
#define LC_CLOCKS(name, arguments)                                                                 \
    if (lc_unlikely(call->mode & LC_MODE_CLOCKS))                                                  \
        lc_clocks_##name arguments;
#define LC_TRACE(name, arguments)                                                                  \
    if (lc_unlikely(call->mode & LC_MODE_TRACE))                                                   \
        lc_trace_##name arguments;
#define LC_BOTH(name, arguments)             LC_CLOCKS(name, arguments) LC_TRACE(name, arguments)
#define LC_HOOK(name, parameters, arguments) LC_HOOK_OF(LC_BOTH, name, parameters, arguments)
#define LC_CLOCKS_HOOK(name, parameters, arguments)                                                \
    LC_HOOK_OF(LC_CLOCKS, name, parameters, arguments)
#define LC_TRACE_HOOK(name, parameters, arguments) LC_HOOK_OF(LC_TRACE, name, parameters, arguments)

LC_HOOK(call_begin, (struct lc_call * call), (call))
LC_HOOK(call_end, (struct lc_call * call), (call))
/* Before any send: blocking, MPI_Isend, start of a persistent one, the sending half of
 * MPI_Sendrecv. */
LC_CLOCKS_HOOK(send, (struct lc_call * call, struct lc_msg *msg), (call, msg))
/* A nonblocking or persistent send was started: msg->request. */
LC_TRACE_HOOK(send_started, (struct lc_call * call, struct lc_msg *msg), (call, msg))
/* A blocking send returned. */
LC_HOOK(send_done, (struct lc_call * call, struct lc_msg *msg), (call, msg))
/* Before any receive is posted. */
LC_CLOCKS_HOOK(recv, (struct lc_call * call, struct lc_msg *msg), (call, msg))
LC_HOOK(recv_started, (struct lc_call * call, struct lc_msg *msg), (call, msg))
/* A blocking receive completed; peer, tag, bytes are those of the message. Not called for
 * MPI_PROC_NULL. */
LC_HOOK(recv_done, (struct lc_call * call, struct lc_msg *msg), (call, msg))
/* Before a call that may complete requests; requests[i] NULL: not known. */
LC_CLOCKS_HOOK(completing, (struct lc_call * call, int n, struct lc_request *const *requests),
               (call, n, requests))
/* requests[i] NULL: not known, or not completed by this call. statuses[i] tells source, tag;
 * lc_status_bytes, lc_status_cancelled. */
LC_HOOK(completed,
        (struct lc_call * call, int n, struct lc_request *const *requests,
         const MPI_Status *statuses),
        (call, n, requests, statuses))
/* A test that found these active requests (those not NULL) incomplete. */
LC_TRACE_HOOK(tested, (struct lc_call * call, int n, struct lc_request *const *requests),
              (call, n, requests))
/* A call that only asks has found nothing, or (MPI_Iprobe, ..) what it found stays where it is. */
LC_CLOCKS_HOOK(asked, (struct lc_call * call), (call))
/* MPI_Cancel of a receive, where MPI says at its end that it is cancelled. */
LC_CLOCKS_HOOK(recv_cancelled, (struct lc_call * call, struct lc_request *request), (call, request))
LC_CLOCKS_HOOK(request_free, (struct lc_call * call, struct lc_request *request), (call, request))
/* MPI_Probe has found a message, which stays where it is; peer may be MPI_PROC_NULL. */
LC_CLOCKS_HOOK(probed, (struct lc_call * call, struct lc_comm *comm, int peer, int tag),
               (call, comm, peer, tag))
LC_CLOCKS_HOOK(mprobed, (struct lc_call * call, struct lc_matched *matched), (call, matched))
/* MPI_Mrecv, before: msg->peer.. are known; blocking ones are completed by recv_done, MPI_Imrecv by
 * recv_started and completed. */
LC_CLOCKS_HOOK(mrecv, (struct lc_call * call, struct lc_matched *matched, struct lc_msg *msg),
               (call, matched, msg))
LC_HOOK(coll_begin, (struct lc_call * call, struct lc_coll *coll), (call, coll))
/* Blocking: it is over. Nonblocking: it was started, coll->request (NULL if the handle is shared).
 */
LC_HOOK(coll_end, (struct lc_call * call, struct lc_coll *coll), (call, coll))
/* A new communicator, inside its constructor; with lc_core.agreed all members are here, and may
 * communicate. */
LC_HOOK(comm_new, (struct lc_call * call, struct lc_comm *comm), (call, comm))
LC_HOOK(comm_free, (struct lc_call * call, struct lc_comm *comm), (call, comm))
/* Regions: call->entry's last item is the region; at the end call->entry is that of latecomer_end.
 * named: by the program, by a name; else it is a function, or a construct of OpenMP. */
LC_HOOK(region_begin, (struct lc_call * call, bool named), (call, named))
LC_HOOK(region_end, (struct lc_call * call, struct lc_region_open *open), (call, open))
/* Measurement goes on or off in this process; call->begin is the time. Called once, by the thread
 * that switches. */
LC_HOOK(control, (struct lc_call * call, bool on), (call, on))
#undef LC_HOOK
#undef LC_CLOCKS_HOOK
#undef LC_TRACE_HOOK
#undef LC_HOOK_OF
#undef LC_CLOCKS
#undef LC_TRACE
#undef LC_BOTH

#ifndef LC_NO_LOOPS
#define LC_NO_LOOPS 0 /* 1: of the benchmark: no loops are found */
#endif
#ifndef LC_NO_MINIMA
#define LC_NO_MINIMA 0 /* 1: of the benchmark: plain statistics, from which no wait is estimated */
#endif

/* The call cannot be booked the usual way: thread unknown, nested, stopped, something to forget.
 * false: pass through. */
bool lc_enter_cold(struct lc_call *call, uint64_t ra, uint64_t frame);

/* After a look-up that was a miss: what it took is the tool's, not the program's nor MPI's. */
void lc_entry_made(struct lc_call *call);

/* Books the time since the previous event of this thread (rule "Which code": on the longest common
 * prefix of both call paths). */
static inline void lc_book_gap(struct lc_call *call) {
    struct lc_thread *t = call->thread;
    struct lc_entry *e = call->entry;
    if (lc_unlikely(e->previous[0] != t->last))
        lc_entry_transition(t, e);
    uint64_t last = t->last_ticks, gap = call->begin > last ? call->begin - last : 0;
    call->from = last + gap;
    e->gap_row[0]->sum += gap;
    e->gap_ticks[0] += gap;
    t->outside_ticks += gap;
    if (!LC_NO_LOOPS && e->gap_loop[0] != NULL && !lc_loop_count(e->gap_loop[0], call))
        e->gap_loop[0] = NULL;
    call->common = e->gap_common[0];
}

/* The begin of an event: an MPI call, or a region's begin or end. at: when (ticks), if the clock
 * has just been read, else 0. false: do nothing but forward. */
static inline bool lc_enter_event_at(struct lc_call *call, uint32_t fn, void *frame, void *ra,
                                     uint64_t at) {
#if LC_NOP /* the baseline of the benchmark: forward, nothing else */
    (void)call;
    (void)fn;
    (void)frame;
    (void)ra;
    (void)at;
    return false;
#else
    struct lc_thread *t = lc_self;
    call->fn = fn;
    call->class_bytes = 0;
    call->bytes_sent = 0;
    call->bytes_rcvd = 0;
    call->flags = 0;
    call->own = 0;
    if (lc_unlikely(t == NULL || t->depth != 0))
        return lc_enter_cold(call, (uint64_t)ra, (uint64_t)frame);
    uint32_t mode = atomic_load_explicit(&t->mode, memory_order_relaxed);
    if (lc_unlikely((mode & (LC_MODE_LIVE | LC_MODE_ON | LC_MODE_FLUSH | LC_MODE_CHECK)) !=
                    (LC_MODE_LIVE | LC_MODE_ON)))
        return lc_enter_cold(call, (uint64_t)ra, (uint64_t)frame);
    if (lc_unlikely(lc_call_is_counted(t, fn, (uint64_t)ra, (uint64_t)frame, &at)))
        return false;
    call->thread = t;
    call->mode = mode;
    call->begin = at != 0 ? at : lc_ticks();
    t->depth = 1;
    t->outer_frame = (uint64_t)frame;
    t->outer_ra = (uint64_t)ra;
    call->entry = lc_entry_find(t, fn, (uint64_t)ra, (uint64_t)frame);
    if (lc_unlikely(call->entry->pass)) { /* a call that a Fortran binding makes for itself */
        t->depth = 0;
        return false;
    }
    lc_book_gap(call);
    if (lc_unlikely(lc_samples_new(t) || lc_samples_long_gap(t, call->begin)))
        lc_samples_gap(call);
    if (lc_unlikely(t->cold)) /* unwinding is our own work: neither the program's nor MPI's */
        lc_entry_made(call);
    return true;
#endif
}

static inline bool lc_enter_event(struct lc_call *call, uint32_t fn, void *frame, void *ra) {
    return lc_enter_event_at(call, fn, frame, ra, 0);
}

static inline bool lc_enter(struct lc_call *call, uint32_t fn, void *frame, void *ra) {
    if (!LC_NOP && lc_unlikely(lc_binding_call((uint64_t)ra, lc_fn_names[fn])))
        return false;
    if (lc_unlikely(!lc_enter_event(call, fn, frame, ra)))
        return false;
    /* So that the time of a call that does not return is known (release: partner is
     * lc_state_snapshot). */
    struct lc_state_thread *state = call->thread->state;
    atomic_store_explicit(&state->call_node, call->entry->path->node, memory_order_relaxed);
    atomic_store_explicit(&state->call_begin, call->begin, memory_order_release);
    lc_hook_call_begin(call);
    return true;
}

static inline void lc_row_add(struct lc_state_row *row, uint64_t ticks, uint64_t sent,
                              uint64_t rcvd) {
    row->count++;
    row->sum += ticks;
    if (!LC_NO_MINIMA && ticks < row->min)
        row->min = ticks;
    if (ticks > row->max)
        row->max = ticks;
    row->bytes_sent += sent;
    row->bytes_rcvd += rcvd;
    row->synced += (sent | rcvd) == 0;
}

/* The end stamp; taken as soon as MPI returns, before what was completed is looked at. What comes
 * from another core is on its way meanwhile (-16 ns on a message). */
static inline void lc_stamp_end(struct lc_call *call) {
    __builtin_prefetch(call->thread->expected);
    call->own = call->thread->own_ticks;
    call->end = lc_ticks();
}

static inline void lc_leave(struct lc_call *call) {
    struct lc_thread *t = call->thread;
    lc_hook_call_end(call);
    uint64_t left = call->end + call->own;
    uint64_t from = call->from > call->begin ? call->from : call->begin;
    left = left > from ? left : from;
    uint32_t key = (LC_NO_MINIMA ? 0 : lc_size_class(call->class_bytes)) | call->flags << 8;
    lc_row_add(lc_row(t, call->entry->path, key), left - from, call->bytes_sent, call->bytes_rcvd);
    atomic_store_explicit(&t->state->call_begin, 0, memory_order_relaxed);
    if (lc_unlikely(lc_samples_new(t)))
        lc_samples_left(call);
    t->last_ticks = left;
    t->last = call->entry;
    t->depth = 0;
    lc_sample_end(call);
}

#endif
