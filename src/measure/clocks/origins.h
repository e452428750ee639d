/* Where waiting began: cost of waiting goes to the ranks and code that made the late rank late, as
 * far as it is late because it waited itself (piggyback/past.h). Waits of threads that have a past
 * (pasts.h); those of others cost whom they waited for. */
#ifndef LC_MEASURE_CLOCKS_ORIGINS_H
#define LC_MEASURE_CLOCKS_ORIGINS_H

#include <stdatomic.h>
#include <stdint.h>

#include "measure/clocks/call_state.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/contexts.h"
#include "measure/clocks/pasts.h"
#include "measure/callpath/loops.h"
#include "measure/core/core.h"
#include "piggyback/blame.h"
#include "piggyback/past.h"

void lc_clk_origins_init(void); /* when memory of the node and the first thread are there */

/* Notes a wait that is too short to be traced back, in a collective operation of which the members
 * do not know from elsewhere that they met: who waited there for the same rank was in it. With
 * lc_clk.lock held. */
void lc_clk_origins_note(struct lc_clk_thread *k, const struct lc_candidate *c);

/* A wait that is long enough: who was late in the table of blame, whose fault that was in that of
 * costs. Returns the number of the late thread (pasts.h). */
uint32_t lc_clk_origins_trace(struct lc_clk_thread *k, uint32_t node, const struct lc_candidate *c);

/* k and that thread of the rank were in the same operation. */
static inline void lc_clk_origins_put_met(struct lc_clk_thread *k, uint32_t rank, uint32_t thread,
                                          uint64_t release, uint64_t left) {
    struct lc_met *met = &k->met[rank];
    uint64_t last = atomic_load_explicit(&met->release, memory_order_relaxed);
    if (last != release) {
        uint64_t its = atomic_load_explicit(&met->left, memory_order_relaxed);
        uint32_t other = atomic_load_explicit(&met->thread, memory_order_relaxed);
        atomic_store_explicit(&met->release_before, last, memory_order_relaxed);
        atomic_store_explicit(&met->left_before, its, memory_order_relaxed);
        atomic_store_explicit(&met->thread_before, other, memory_order_relaxed);
    }
    atomic_store_explicit(&met->release, release, memory_order_relaxed);
    atomic_store_explicit(&met->left, left, memory_order_relaxed);
    atomic_store_explicit(&met->thread, thread, memory_order_relaxed);
}

/* For a root, in a scan; where all wait for all, in an operation that does not block: others have
 * just been met (lc_clk_origins_meet). */
static inline bool lc_clk_origins_may_meet(const struct lc_clk_thread *k,
                                           const struct lc_candidate *c) {
    const uint64_t release = c->begin + c->ticks;
    return c->kind == LC_MEASURED_LATEBROADCAST || c->kind == LC_MEASURED_EARLYSCAN ||
           ((c->kind == LC_MEASURED_BARRIER || c->kind == LC_MEASURED_NXN) &&
            release != k->met_all && release != k->met_at);
}

/* Blame and costs of a wait of the thread that was just booked in `node`; left: when it left the
 * call, 0: not known. With lc_clk.lock held. */
static inline void lc_clk_origins_book(struct lc_clk_thread *k, uint32_t node,
                                       const struct lc_candidate *c, uint64_t left) {
    bool known = lc_likely(k->past != NULL && c->late_rank < lc_clk.size);
    const uint64_t release = c->begin + c->ticks;
    uint32_t late = LC_PAST_ANY;
    if (lc_unlikely(known && c->ticks >= lc_clk.trace_ticks))
        late = lc_clk_origins_trace(k, node, c);
    else
        lc_blame_add_own(&lc_clk.blame, lc_clk.rank, node, c->late_rank, c->late_node, c->ticks);
    if (lc_unlikely(!known))
        return;
    if (c->ticks < lc_clk.trace_ticks && lc_clk_origins_may_meet(k, c))
        lc_clk_origins_note(k, c);
    if (c->ticks < lc_clk.trace_ticks)
        late = lc_clk_past_late(k, c->late_rank, release, 0);
    lc_clk_origins_put_met(k, c->late_rank, late, release, left);
}

/* How a wait is booked that may have been booked before, shorter, and may be again, longer. */
struct lc_clk_booking {
    uint32_t node;
    struct lc_clk_thread *k; /* whose it is; NULL: it is not traced */
    uint64_t ticks;          /* that are new: their blame and their costs are booked */
    /* of what was booked before: blame that goes to others now; of it, what is in costs already */
    uint64_t moved, traced;
    uint64_t left;
};
/* Books a wait that may be booked again: which rows of blame it is in; returns how many. With
 * lc_clk.lock held. */
uint32_t lc_clk_origins_book_parts(const struct lc_clk_booking *booking,
                                   const struct lc_candidate *c,
                                   struct lc_past_part parts[LC_PAST_PARTS]);

/* Before the tables of all ranks are added up: waits that were not traced back cost whom they
 * waited for. */
void lc_clk_origins_finish(void);

/* What this process did lately, as words of a record for rank `to`, or (-1) for all who wait for
 * it in a collective; returns how many, at most LC_PAST_WORDS. */
uint32_t lc_clk_origins_pack(int32_t to, uint64_t *words);
/* How many of these words are set; 0: none, or more than `room`. */
uint32_t lc_clk_origins_words(const uint64_t *words, uint32_t room);
/* Takes what came from (or was passed on from) a rank of another node; at most n words. */
void lc_clk_origins_take(uint32_t rank, const uint64_t *words, uint32_t n);

/* Notes the collective that the last call was (k->met_comm), once its wait is booked. */
void lc_clk_origins_met(struct lc_clk_thread *k);
/* All members were in a collective over c at `time`. */
static inline void lc_clk_origins_meet(struct lc_clk_thread *k, const struct lc_clk_comm *c,
                                       uint64_t time) {
    if (lc_likely(c->log.n == lc_clk.size)) {
        k->met_before = k->met_all;
        k->met_all = time;
    } else {
        k->met_comm = c;
        k->met_at = time;
    }
}

/* The thread was outside of MPI from `from` to `until`, most of it in `node`. gap: number of the
 * time between two events, of which that is a part only; 0: all of it. */
void lc_clk_origins_worked(struct lc_clk_thread *k, uint64_t from, uint64_t until, uint32_t node,
                           uint32_t gap);
/* What the last call took besides waiting is work, too. */
void lc_clk_origins_called(struct lc_clk_thread *k);

#endif
