/* Measured wait states: choice among the candidates of a call, booking per call path. */
#ifndef LC_MEASURE_CLOCKS_WAIT_STATES_H
#define LC_MEASURE_CLOCKS_WAIT_STATES_H

#include <stdbool.h>
#include <stdint.h>

#include "measure/clocks/call_state.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/global_time.h"
#include "measure/clocks/origins.h"
#include "measure/clocks/polling.h"
#include "measure/core/core.h"
#include "measure/core/thread.h"

struct lc_path;

/* A candidate of the call in progress (ticks 0 counts where the smallest is wanted). */
static inline void lc_clk_candidate(struct lc_clk_thread *k, const struct lc_call *call,
                                    enum lc_measured_wait kind, uint64_t ticks, uint32_t late_rank,
                                    uint32_t late_node) {
    if (lc_unlikely(k->any_candidate) &&
        (lc_clk.fn_class[call->fn] == LC_FN_WAITSOME ? ticks >= k->worst.ticks
                                                     : ticks <= k->worst.ticks))
        return;
    k->any_candidate = k->unbooked = true;
    k->worst = (struct lc_candidate){ticks, kind, late_rank, late_node, call->begin};
}

/* The kind of wait of this member of a collective operation; LC_MEASURED_KINDS: none. */
static inline enum lc_measured_wait lc_clk_coll_wait(const struct lc_call *call,
                                                     const struct lc_clk_coll *x) {
    static const uint8_t kinds[] = {
        [LC_COLL_BARRIER] = LC_MEASURED_BARRIER,   [LC_COLL_N2N] = LC_MEASURED_NXN,
        [LC_COLL_V2V] = LC_MEASURED_NXN,           [LC_COLL_ONE2N] = LC_MEASURED_LATEBROADCAST,
        [LC_COLL_N2ONE] = LC_MEASURED_EARLYREDUCE, [LC_COLL_SCAN] = LC_MEASURED_EARLYSCAN,
        [LC_COLL_EXSCAN] = LC_MEASURED_EARLYSCAN,  [LC_COLL_NEIGHBOR] = LC_MEASURED_NEIGHBOR,
    };
    if (lc_unlikely(x->kind == LC_COLL_SYNC))
        return x->nonblocking ? LC_MEASURED_KINDS
                              : (enum lc_measured_wait)lc_clk.fn_syncs[call->fn];
    return x->nonblocking && (x->kind == LC_COLL_V2V || lc_clk.fn_class[call->fn] == LC_FN_OTHER)
               ? LC_MEASURED_KINDS
               : kinds[x->kind];
}

static inline bool lc_clk_all_with_all(const struct lc_clk_coll *x) {
    return x->kind == LC_COLL_BARRIER || x->kind == LC_COLL_N2N || x->kind == LC_COLL_SYNC;
}

/* What this member waited for: the release is when its cause entered. It is compared with the begin
 * of the call: a latest member before it gives no wait. */
static inline void lc_clk_coll_candidate(struct lc_clk_thread *k, struct lc_call *call,
                                         const struct lc_clk_coll *x, uint64_t release,
                                         uint32_t rank, uint32_t node) {
    enum lc_measured_wait kind = lc_clk_coll_wait(call, x);
    if (lc_likely(!x->nonblocking && lc_clk_all_with_all(x)))
        lc_clk_origins_meet(k, x->c, release > call->begin ? release : call->begin);
    if (x->nonblocking && x->kind != LC_COLL_V2V)
        lc_clk_polled_for(k, call, release, rank, node);
    if (kind == LC_MEASURED_KINDS ||
        (x->kind == LC_COLL_SYNC && lc_clk_came_after(release, call->end)))
        return; /* it ended before all had come: no need to */
    uint64_t ticks = release > call->begin ? lc_min(release, call->end) - call->begin : 0;
    lc_clk_candidate(k, call, kind, ticks, rank, node);
}

/* Books a wait state on a call path. */
void lc_clk_book(struct lc_clk_thread *k, struct lc_path *path, const struct lc_candidate *c);
/* In MPI_Finalize: waiting for the rank that enters last, which all of them learn here. Collective,
 * O(log P) messages; once the clocks were synchronised for the last time. */
void lc_clk_book_finalize(struct lc_clk_thread *k, const struct lc_call *call,
                          const struct lc_offset_ends *offsets);
/* Holds what is booked for the call in progress; NULL: not measuring, no memory. With lc_clk.lock
 * held, as the next two. */
struct lc_booked *lc_clk_booked_hold(struct lc_clk_thread *k, const struct lc_call *call);
/* Lets it go; *booked is NULL then, and may be before. */
void lc_clk_booked_drop(struct lc_booked **booked);
/* Books a larger wait in its place; false: it is not larger. */
bool lc_clk_book_later(struct lc_booked *instead, const struct lc_candidate *c);

/* A record of waits in the state, so that it survives the process; no lock. NULL: the state is
 * full. */
struct lc_state_wait *lc_clk_waits_new(uint32_t thread, uint32_t node);

#endif
