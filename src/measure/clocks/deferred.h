/* Deferred work: what is left to do of a call that has ended. It is done at the thread's next
 * event, when the cache line of another core that it reads has arrived. */
#ifndef LC_MEASURE_CLOCKS_DEFERRED_H
#define LC_MEASURE_CLOCKS_DEFERRED_H

#include <stdint.h>

#include "measure/mpi/handles.h"
#include "measure/clocks/call_state.h"
#include "measure/core/core.h"
#include "measure/core/thread.h"

/* Does the work that the last call deferred; before anything else of the next event. */
void lc_clk_deferred_do(struct lc_clk_thread *k);

static inline void lc_clk_deferred(struct lc_clk_thread *k) {
    if (k->deferred.kind != LC_DEFERRED_NONE)
        lc_clk_deferred_do(k);
}

/* Notes the call whose end leaves work of this communicator to do, for lc_clk_defer or
 * lc_clk_receive_now; the caller fills in the other fields of the result. Work that another part of
 * this call deferred is done first. */
static inline struct lc_deferred *lc_clk_note(struct lc_clk_thread *k, const struct lc_call *call,
                                              struct lc_comm *comm) {
    lc_clk_deferred(k);
    k->deferred.ended = false;
    k->deferred.comm = comm;
    k->deferred.call.thread = call->thread;
    k->deferred.call.entry = call->entry;
    k->deferred.call.begin = call->begin;
    k->deferred.call.end = call->end;
    k->deferred.call.fn = call->fn;
    return &k->deferred;
}

/* Defers what was noted. Only where no other thread runs events (lc_clk.may_defer): a thread that
 * works on the backlog does the deferred work of those whose events it runs. */
static inline void lc_clk_defer(struct lc_clk_thread *k, enum lc_deferred_kind kind) {
    k->deferred.kind = kind;
}

/* Completes the receive that was noted at once. Returns the ticks that the call waited for its
 * message. */
uint64_t lc_clk_receive_now(struct lc_clk_thread *k);

#endif
