/* Classifies calls: of all that a call completes, the one wait state
 * (docs/definitions/wait-states.md#2-wait-states), and the one blocking of
 * docs/definitions/wait-states.md#4-critical-path. Used by waits.c. */
#ifndef LC_ANALYZE_WAIT_CALL_H
#define LC_ANALYZE_WAIT_CALL_H

#include <stdbool.h>

#include "analyze/trace.h"

struct lc_received { /* a completed receive, for the search of messages in wrong order */
    int64_t sent;
    uint32_t process;
};

struct lc_wait_classifier {
    struct lc_trace *trace;
    bool has_polls; /* calls that only ask, on some call path */
    /* per process: number of the call that last had to wait for a message from it */
    uint32_t *waited_for;
    uint32_t serial;
    /* receives of later calls: a stack of ever earlier messages, the next one on top */
    struct lc_received *later;
    size_t n_later, cap_later;
};

/* For all locations of this rank; lc_wait_classifier_free frees it. LC_ERR_NOMEM. */
enum lc_err lc_wait_classifier_init(struct lc_wait_classifier *classifier, struct lc_trace *trace);
/* Frees what it holds, not the struct. */
void lc_wait_classifier_free(struct lc_wait_classifier *classifier);

/* Appends the waits of all calls of a location whose messages and collectives were matched.
 * Errors: LC_ERR_NOMEM; the waits appended before stay. */
enum lc_err lc_wait_classify_location(struct lc_wait_classifier *classifier, struct lc_loc *loc);

#endif
