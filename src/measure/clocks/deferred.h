/* What a call leaves to be done at the next event of its thread, when a line from another core
 * has come. */
#ifndef LC_MEASURE_CLOCKS_DEFERRED_H
#define LC_MEASURE_CLOCKS_DEFERRED_H

#include <stdint.h>

#include "measure/calls/communicators.h"
#include "measure/clocks/call_state.h"
#include "measure/core.h"
#include "measure/thread.h"

/* Does what the last call has left; before anything else of the next event. */
void lc_clk_deferred_do(struct lc_clk_thread *k);

static inline void lc_clk_deferred(struct lc_clk_thread *k) {
    if (k->deferred.kind != LC_DEFERRED_NONE)
        lc_clk_deferred_do(k);
}

/* The call leaves a rest of this kind; the caller fills in what else it needs. */
static inline struct lc_deferred *lc_clk_defer(struct lc_clk_thread *k, const struct lc_call *call,
                                               enum lc_deferred_kind kind, struct lc_comm *comm) {
    if (lc_unlikely(k->deferred.kind != LC_DEFERRED_NONE)) /* of another part of this call */
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

/* It cannot wait. Returns ticks that the call waited for its message. */
uint64_t lc_clk_deferred_now(struct lc_clk_thread *k);

#endif
