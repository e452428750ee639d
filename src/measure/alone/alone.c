#include "measure/alone/alone.h"
#include "measure/hot/locations.h"

#include "base/timer.h"
#include "measure/wrappers/special.h"
#include "measure/clocks/call_state.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/clocks_hooks.h"
#include "measure/core/core.h"
#include "measure/stub/stub.h"
#include "measure/core/thread.h"

static void fill(struct lc_call *call, struct lc_thread *t, uint64_t now) {
    *call = (struct lc_call){.thread = t, .entry = t->last, .begin = now, .end = now};
    call->mode = atomic_load_explicit(&t->mode, memory_order_relaxed);
}

void lc_alone_begin(uint64_t begin) {
    struct lc_thread *t = lc_thread_here();
    struct lc_call call;
    if (t == NULL)
        return;
    t->last_ticks = begin;
    fill(&call, t, begin);
    t->depth = 1;
    lc_job_begin(&call);
    struct lc_clk_thread *k = t->clocks;
    uint64_t woken = lc_core.stub->wake_ticks, now = lc_ticks();
    /* since then it was our work */
    if (k != NULL && lc_timer.tsc && woken > begin && woken < now) {
        lc_clk_worked(k, woken, 0);
        k->l.skipped += now - woken;
        k->l.last = now;
    }
    t->depth = 0;
}

void lc_alone_end(void) {
    struct lc_thread *t = lc_thread_here();
    struct lc_call call;
    if (t == NULL || !lc_core.initialised || lc_core.finalized)
        return;
    fill(&call, t, lc_ticks());
    lc_clocks_recalibrate();
    lc_job_end(&call);
    lc_core.finalized = true;
}
