#include <stddef.h>

#include "base/hash.h"
#include "base/timer.h"
#include "measure/callpath/budget.h"
#include "measure/core/core.h"
#include "measure/core/thread.h"
#include "measure/gomp/gomp.h"

__thread int32_t lc_gomp_until;
static __thread uint32_t passed; /* calls since the last one that was measured, when it is 0 */
static __thread uint32_t gaps;   /* of lc_budget_gap; 0: not begun */

/* Ticks in which nothing passes while the tool does what it tells by itself. */
static uint64_t clock_of(const struct lc_thread *t) {
    return lc_ticks() - t->counts.own_ticks;
}

LC_COLD void lc_gomp_call_begin(struct lc_gomp_call *call) {
    struct lc_thread *t = lc_self;
    *call = (struct lc_gomp_call){.thread = t, .stands_for = passed + 1};
    if (t == NULL) { /* the next one stands for it, too */
        passed++;
        lc_gomp_until = 0;
        return;
    }
    if (gaps == 0)
        gaps = (uint32_t)(lc_hash_key(t->index) >> 32) | 1; /* no chance: runs can be repeated */
    passed = lc_budget_gap(&gaps) - 1;
    lc_gomp_until = (int32_t)passed;
    call->since = clock_of(t);
}

LC_COLD void lc_gomp_call_stops(struct lc_gomp_call *call) {
    struct lc_thread *t = call->thread;
    if (t == NULL)
        return;
    if (t != lc_self) { /* its location has ended */
        call->thread = NULL;
        return;
    }
    uint64_t now = clock_of(t);
    call->ticks += (int64_t)(now - call->since) > 0 ? now - call->since : 0;
    call->parts++;
}

LC_COLD void lc_gomp_call_goes_on(struct lc_gomp_call *call) {
    if (call->thread != NULL && call->thread == lc_self)
        call->since = clock_of(call->thread);
    else
        call->thread = NULL;
}

LC_COLD uint64_t lc_gomp_call_so_far(const struct lc_gomp_call *call) {
    return call->thread != NULL
               ? call->stands_for * lc_budget_without_stamps(call->ticks, call->parts)
               : 0;
}

LC_COLD void lc_gomp_call_tell(struct lc_gomp_call *call) {
    lc_gomp_call_stops(call);
    if (call->thread != NULL)
        lc_budget_parts(call->thread, call->ticks, call->parts, call->stands_for);
}
