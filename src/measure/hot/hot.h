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
#include "measure/hot/hooks.h"
#include "measure/unwind/modules.h"
#include "measure/callpath/budget.h"
#include "measure/callpath/entry.h"
#include "measure/callpath/entry_find.h"
#include "measure/callpath/loops.h"
#include "measure/callpath/python_stack.h"
#include "measure/samples/sampler.h"
#include "measure/core/thread.h"

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
    uint64_t gap = call->begin - t->last_ticks;
    e->gap_row[0]->sum += gap;
    e->gap_ticks[0] += gap;
    t->outside_ticks += gap;
    if (!LC_NO_LOOPS && e->gap_loop[0] != NULL && !lc_loop_count(e->gap_loop[0], call))
        e->gap_loop[0] = NULL;
    call->common = e->gap_common[0];
}

/* The begin of an event: an MPI call, or a region's begin or end. false: do nothing but forward. */
static inline bool lc_enter_event(struct lc_call *call, uint32_t fn, void *frame, void *ra) {
#if LC_NOP /* the baseline of the benchmark: forward, nothing else */
    (void)call;
    (void)fn;
    (void)frame;
    (void)ra;
    return false;
#else
    struct lc_thread *t = lc_self;
    call->fn = fn;
    call->class_bytes = 0;
    call->bytes_sent = 0;
    call->bytes_rcvd = 0;
    call->flags = 0;
    if (lc_unlikely(t == NULL || t->depth != 0))
        return lc_enter_cold(call, (uint64_t)ra, (uint64_t)frame);
    uint32_t mode = atomic_load_explicit(&t->mode, memory_order_relaxed);
    if (lc_unlikely((mode & (LC_MODE_LIVE | LC_MODE_ON | LC_MODE_FLUSH | LC_MODE_CHECK)) !=
                    (LC_MODE_LIVE | LC_MODE_ON)))
        return lc_enter_cold(call, (uint64_t)ra, (uint64_t)frame);
    if (lc_unlikely(lc_budget_counts(t, fn, (uint64_t)ra)))
        return false;
    call->thread = t;
    call->mode = mode;
    call->begin = lc_ticks();
    t->depth = 1;
    t->outer_frame = (uint64_t)frame;
    t->outer_ra = (uint64_t)ra;
    call->entry = lc_entry_find(t, fn, (uint64_t)ra, (uint64_t)frame);
    if (lc_unlikely(call->entry->pass)) { /* a call that a Fortran binding makes for itself */
        t->depth = 0;
        return false;
    }
    lc_book_gap(call);
    if (lc_unlikely(lc_samples_new(t)))
        lc_samples_gap(call);
    if (lc_unlikely(t->cold)) /* unwinding is our own work: neither the program's nor MPI's */
        lc_entry_made(call);
    return true;
#endif
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
    call->end = lc_ticks();
}

static inline void lc_leave(struct lc_call *call) {
    struct lc_thread *t = call->thread;
    lc_hook_call_end(call);
    uint32_t key = (LC_NO_MINIMA ? 0 : lc_size_class(call->class_bytes)) | call->flags << 8;
    lc_row_add(lc_row(t, call->entry->path, key), call->end - call->begin, call->bytes_sent,
               call->bytes_rcvd);
    atomic_store_explicit(&t->state->call_begin, 0, memory_order_relaxed);
    if (lc_unlikely(lc_samples_new(t)))
        lc_samples_left(call);
    t->last_ticks = call->end;
    t->last = call->entry;
    t->depth = 0;
    lc_sample_end(call);
}

#endif
