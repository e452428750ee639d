/* Wait states of all kinds (docs/definitions/wait-states.md#2-wait-states): matches messages and
 * collectives, classifies the waiting of every call, adds those of threads and windows, books the
 * metrics. After it each location has waits[] and syncs[] in the order of time. Collective;
 * called by main.c. */
#ifndef LC_ANALYZE_WAITS_H
#define LC_ANALYZE_WAITS_H

#include "analyze/trace.h"

/* Finds all wait states of the trace, and appends them to the locations. Collective.
 * LC_ERR_NOMEM. */
enum lc_err lc_waits_find(struct lc_trace *trace);

/* Metric of a kind; NULL: none (docs/definitions/wait-states.md#4-critical-path only). */
const char *lc_wait_metric(enum lc_wait_kind kind);

#endif
