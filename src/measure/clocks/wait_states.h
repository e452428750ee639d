/* Measured wait states: choice among the candidates of a call, booking per call path, replies of
 * late receivers. */
#ifndef LC_MEASURE_CLOCKS_WAIT_STATES_H
#define LC_MEASURE_CLOCKS_WAIT_STATES_H

#include <stdbool.h>
#include <stdint.h>

#include "measure/clocks/call_state.h"
#include "measure/clocks/clocks.h"
#include "measure/core.h"
#include "measure/thread.h"

struct lc_path;
struct lc_ring_entry;
struct lc_stamp;

/* A candidate of the call in progress (ticks 0 counts where the smallest is wanted). */
static inline void lc_clk_candidate(struct lc_clk_thread *k, const struct lc_call *call,
                                    enum lc_measured_wait kind, uint64_t ticks, uint32_t late_rank,
                                    uint32_t late_node) {
    if (lc_unlikely(k->any_candidate) &&
        (lc_clk.fn_class[call->fn] == LC_FN_WAITSOME ? ticks >= k->worst.ticks
                                                     : ticks <= k->worst.ticks))
        return;
    k->any_candidate = k->unbooked = true;
    k->worst = (struct lc_candidate){ticks, kind, late_rank, late_node};
}

/* a wait state of a call path */
void lc_clk_book(struct lc_clk_thread *k, struct lc_path *path, const struct lc_candidate *c);
void lc_clk_reply(void *user, uint32_t source, const struct lc_ring_entry *entry);
const struct lc_reply_slot *lc_clk_find_reply(uint32_t rank, uint32_t seq);

/* Vector and what-if clocks that came with a reply, before the reply itself is read. */
void lc_clk_reply_extra(uint32_t rank, int32_t seq, const uint64_t *extra, uint32_t n);
void lc_clk_wait_later(struct lc_clk_thread *k, const struct lc_call *call, uint32_t rank,
                       uint32_t seq, uint64_t bytes);

/* An edge back that comes late: it counts from the begin of a later call on, as if it had come in
 * time, except in what was told to others meanwhile (counts.edges_late). */
void lc_clk_add_unresolved(struct lc_clk_thread *k, const struct lc_call *call, uint32_t to,
                           uint32_t seq, bool surely);

/* The end of the call in progress; and an edge into it, with lc_clk.lock held. */
void lc_clk_call_end(const struct lc_clk_thread *k, const struct lc_call *call,
                     struct lc_call_end *at);
void lc_clk_edge_later(struct lc_clk_thread *k, struct lc_call_end *at, uint32_t source,
                       const struct lc_stamp *stamp, const uint64_t *extra, uint32_t n_extra);

/* What was booked for the call in progress (false: not measuring, no memory); and a larger wait in
 * its place (true: it is larger), with lc_clk.lock held. */
bool lc_clk_booked(struct lc_clk_thread *k, const struct lc_call *call, struct lc_booked *booked);
bool lc_clk_book_later(const struct lc_booked *instead, const struct lc_candidate *c);
void lc_clk_resolve(struct lc_clk_thread *k);

#endif
