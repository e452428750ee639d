/* Counters of a thread along the way (--counters): instructions and cycles, where the processor
 * lets programs read them; page faults and context switches, by getrusage. Read at each event, so
 * that what is counted belongs to exact times: of a gap, or of a call. Only where they were asked
 * for: a read takes a system call.
 *
 * No descriptor stays open: an event of the kernel lives as long as its page is mapped. */
#ifndef LC_MEASURE_SAMPLES_COUNTING_H
#define LC_MEASURE_SAMPLES_COUNTING_H

#include <stdint.h>

#include "format/raw.h"
#include "measure/core/core.h"
#include "measure/core/thread.h"

/* Reads --counters, into lc_core.counters. */
void lc_counting_init(void);
/* Counters of the calling thread begin. */
void lc_counting_begin(struct lc_thread *t);
/* They end; frees what lc_counting_begin made. */
void lc_counting_end(struct lc_thread *t);

/* What the thread counted since it was looked at last, and bytes that were sent, booked on a node
 * of the call tree (0: on none). counts: the same without the bytes, NULL: of no interest. */
void lc_counting_book(struct lc_thread *t, uint32_t node, uint64_t bytes,
                      uint64_t counts[LC_COUNTERS]);
/* Where counters are read: a call that has begun sends that many bytes. */
void lc_counting_sent_cold(struct lc_call *call, uint64_t bytes);
/* A call that has begun sends them: they are on the path before the others can see it. */
static inline void lc_counting_sent(struct lc_call *call, uint64_t bytes) {
    if (lc_unlikely(call->thread->counting != NULL))
        lc_counting_sent_cold(call, bytes);
}
/* What the thread counted since then is the tool's own. */
void lc_counting_skip(struct lc_thread *t);

#endif
