/* The judge of one call: of all that it completes, the one wait state (definitions: wait states,
 * sections 2.1 to 2.4), and the one blocking of section 4. Used by waits.c. */
#ifndef LC_ANALYZE_WAIT_CALL_H
#define LC_ANALYZE_WAIT_CALL_H

#include "analyze/trace.h"

struct lc_received { /* a completed receive, for the search of messages in wrong order */
    int64_t sent;
    uint32_t process;
};

struct lc_wait_judge {
    struct lc_trace *trace;
    uint32_t *waited_for; /* per process: number of the call that last had to wait for a message
                             from it */
    uint32_t serial;
    struct lc_received
        *later; /* receives of later calls: a stack of ever earlier messages, the next one on top */
    size_t n_later, cap_later;
};

enum lc_err lc_wait_judge_init(struct lc_wait_judge *judge, struct lc_trace *trace);
void lc_wait_judge_free(struct lc_wait_judge *judge);

/* Appends the waits of all calls of a location whose messages and collectives were matched. */
enum lc_err lc_wait_judge_location(struct lc_wait_judge *judge, struct lc_loc *loc);

#endif
