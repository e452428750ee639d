/* Point-to-point messages inside the clocks: what the parts of one message's way share.
 *
 * Parts
 *   sends.c       the sender's entry, before its message
 *   receives.c    receives: posted, matched with entries, completed
 *   completion.c  requests that a call completed, in the order that matching needs
 *   back_edges.c  the edge back, from the post of a receive to the end of its send
 * Invariant: of one message the parts know each other only by its sequence number in the stream of
 * entries from sender to receiver. */
#ifndef LC_MEASURE_CLOCKS_CLOCK_MESSAGES_H
#define LC_MEASURE_CLOCKS_CLOCK_MESSAGES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "measure/mpi/operations.h"
#include "measure/mpi/request.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/contexts.h"
#include "measure/core/core.h"
#include "piggyback/ring.h"

/* Shorter messages are not expected to wait for their receiver; from LC_SYNCHRONOUS_BYTES on no MPI
 * buffers them. Whether one between them waited is seen from the times alone; sizes that were seen
 * to be buffered are not expected to wait either (lc_clk.buffered_bytes). */
enum { LC_RENDEZVOUS_BYTES = 4096, LC_SYNCHRONOUS_BYTES = 256 << 10 };

/* Partitioned messages match among those of two requests only. request NULL: none of its own. */
static inline uint32_t stream_context(const struct lc_clk_comm *c,
                                      const struct lc_request *request) {
    if (lc_unlikely(request != NULL && request->partitioned))
        return (c->context ^ request->parts->number * 0x70617275) | LC_CONTEXT_FIRST;
    return c->context;
}

static inline uint32_t context_of(const struct lc_clk_comm *c, const struct lc_msg *msg) {
    return stream_context(c, msg->request);
}

/* Does the send end only when its receive was posted, whatever the times? */
static inline bool needs_receiver(const struct lc_msg *msg) {
    return msg->kind == LC_SEND_SYNC ||
           (msg->bytes >= LC_SYNCHRONOUS_BYTES && msg->kind == LC_SEND_STANDARD);
}

struct lc_ended { /* a send that this call ended */
    uint32_t to, seq;
    uint32_t context;
    int32_t tag;
    uint64_t bytes;   /* of a standard send; others 0 */
    bool counts;      /* as a wait state of the call */
    bool synchronous; /* it ended only after its receive was posted */
};

static inline bool lc_clk_is_after(const struct lc_ring_entry *entry, uint64_t posted) {
    return posted > entry->stamp.enter + lc_clk.slow_ticks;
}

#endif
