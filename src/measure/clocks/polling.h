/* Waiting by polling: a program that tests or probes again and again instead of waiting in MPI
 * (docs/definitions/wait-states.md, 2.2: `poll`).
 *
 * Calls that only ask and find nothing follow each other; between them may be code, and calls that
 * have nothing to do with others. The call after the last of them gets what they asked for, or
 * finds it by a probe, if they asked for that: a message, or its part of a nonblocking collective
 * operation. What they took until the other process entered its call (of several the last one) was
 * waiting, booked where they were made, in proportion; unless they took less than one part in
 * LC_POLLS_CLOSELY of the time since the first of them: then they were made beside other work.
 *
 * How much of them lies before that is known by their share of the time: they follow each other
 * evenly, and most often the last of them ends soon after. */
#ifndef LC_MEASURE_CLOCKS_POLLING_H
#define LC_MEASURE_CLOCKS_POLLING_H

#include <stdint.h>

#include "measure/clocks/call_state.h"

/* A call begins, and calls that only ask came before it. */
void lc_clk_polling_call(struct lc_clk_thread *k, const struct lc_call *call);
/* From call->begin to call->end the thread asked, and found nothing. */
void lc_clk_polling_asked(struct lc_clk_thread *k, const struct lc_call *call);
/* The same where clocks lag, at the end of the call. */
extern const struct lc_event_type lc_clk_asked_event;
/* Books what lc_clk_polled_for has found. */
void lc_clk_polling_book(struct lc_clk_thread *k);
/* As lc_clk_polled_for, if there were any. */
void lc_clk_polling_found(struct lc_clk_thread *k, const struct lc_call *call, uint64_t enter,
                          uint32_t rank, uint32_t node);

/* The call has got something of this rank, which entered its own call then: did the thread ask for
 * it before? */
static inline void lc_clk_polled_for(struct lc_clk_thread *k, const struct lc_call *call,
                                     uint64_t enter, uint32_t rank, uint32_t node) {
    if (lc_unlikely(k->polling.ticks != 0))
        lc_clk_polling_found(k, call, enter, rank, node);
}

#endif
