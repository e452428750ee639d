/* Work of the tool between two events. */
#ifndef LC_MEASURE_CLOCKS_OWN_WORK_H
#define LC_MEASURE_CLOCKS_OWN_WORK_H

#include <stdint.h>

#include "base/timer.h"
#include "measure/clocks/clocks_hooks.h"
#include "measure/core/core.h"
#include "measure/core/thread.h"

/* The call begins now; what was done since call->begin is not the program's. */
static inline void lc_skip_own_work(struct lc_call *call) {
    uint64_t now = lc_ticks();
    call->thread->counts.own_ticks += now - call->begin;
    if (call->mode & LC_MODE_CLOCKS)
        lc_clocks_skip(call, now - call->begin);
    call->begin = now;
}

#endif
