/* Deferred work: what is left to do of a call that has ended. It is done at the thread's next
 * event, when the cache line of another core that it reads has arrived. */
#ifndef LC_MEASURE_CLOCKS_DEFERRED_H
#define LC_MEASURE_CLOCKS_DEFERRED_H

#include <stdint.h>

#include "measure/calls/handles.h"
#include "measure/clocks/call_state.h"
#include "measure/core.h"
#include "measure/thread.h"

/* Does the work that the last call deferred; before anything else of the next event. */
void lc_clk_deferred_do(struct lc_clk_thread *k);

static inline void lc_clk_deferred(struct lc_clk_thread *k) {
    if (k->deferred.kind != LC_DEFERRED_NONE)
        lc_clk_deferred_do(k);
}

/* Defers work of this kind; the caller fills in the other fields of the result. */
static inline struct lc_deferred *lc_clk_defer(struct lc_clk_thread *k, const struct lc_call *call,
                                               enum lc_deferred_kind kind, struct lc_comm *comm) {
    if (lc_unlikely(k->deferred.kind != LC_DEFERRED_NONE)) /* from another part of this call */
        lc_clk_deferred_do(k);
    k->deferred.kind = kind;
    k->deferred.ended = false;
    k->deferred.comm = comm;
    k->deferred.call.thread = call->thread;
    k->deferred.call.entry = call->entry;
    k->deferred.call.begin = call->begin;
    k->deferred.call.end = call->end;
    k->deferred.call.fn = call->fn;
    return &k->deferred;
}

/* Does the deferred work at once. Returns the ticks that the call waited for its message. */
uint64_t lc_clk_deferred_now(struct lc_clk_thread *k);

#endif
