/* The pasts of this process' threads (piggyback/past.h) in its area, and those of other ranks.
 *
 * With MPI_THREAD_MULTIPLE each thread that calls MPI has a past of its own, at most
 * LC_AREA_THREADS of a process; else the first one has the only one, and so it is between nodes.
 * Nothing that ranks tell each other names a thread: all of it bears the time at which the call
 * began that told it, and the pasts have the begins of calls.
 *
 * Invariant: numbers of pasts count from 0, the first thread's, and are never used again. */
#ifndef LC_MEASURE_CLOCKS_PASTS_H
#define LC_MEASURE_CLOCKS_PASTS_H

#include <stdbool.h>
#include <stdint.h>

#include "measure/clocks/call_state.h"
#include "measure/clocks/clocks.h"
#include "piggyback/past.h"

/* The past of the first thread; false: no room. */
bool lc_clk_pasts_init(void);

/* A thread calls MPI at `now`: makes its past at the first call. With MPI_THREAD_MULTIPLE. Takes
 * lc_clk.lock. */
void lc_clk_past_call(struct lc_clk_thread *k, uint64_t now);

/* That of a thread of a rank, by its number; NULL: not known. */
const struct lc_past *lc_clk_past_of(uint32_t rank, uint32_t number);

/* When that thread waited for each rank; NULL: not known. */
const struct lc_met *lc_clk_past_met(uint32_t rank, uint32_t number);

/* lc_clk_past_late of a rank that has several pasts. */
uint32_t lc_clk_past_late_of_several(const struct lc_clk_thread *k, uint32_t rank, uint64_t release,
                                     uint32_t looks);

/* The number of the thread of a rank for which k waited, as one of its calls began at `release`;
 * LC_PAST_ANY: not known. looks: at so many calls of each of its threads; 0: at the latest few of
 * the one that it was before. */
static inline uint32_t lc_clk_past_late(const struct lc_clk_thread *k, uint32_t rank,
                                        uint64_t release, uint32_t looks) {
    const struct lc_area_head *head = lc_clk.areas[rank].head;
    bool one = head == NULL || atomic_load_explicit(&head->n_pasts, memory_order_acquire) <= 1;
    return lc_likely(one) ? 0 : lc_clk_past_late_of_several(k, rank, release, looks);
}

#endif
