/* Which window of a run is worth a trace (`run --trace=WINDOW`), from its profile: how much of all
 * waiting is in each phase, and in which iterations of each loop that was found it is most.
 * Definitions: docs/definitions/findings.md. */
#ifndef LC_REPORT_TRACE_ADVICE_H
#define LC_REPORT_TRACE_ADVICE_H

#include <jansson.h>

#include "report/sums.h"

struct lc_trace_window {
    char *window;       /* as `run --trace=` takes it: "solve", "iterations 40-49" */
    char *callpath;     /* iterations: the function with the loop; NULL: a phase */
    double waiting_s;   /* of all locations: measured, or estimated where nothing was measured */
    double estimated_s; /* phases: what estimates from minima say; NAN: there are none */
    double waiting_share, time_share; /* of all waiting, of all time */
};

/* Phases, then loops; the one with most waiting first, none without waiting. None of an analysis.
 * `pop` may be NULL. Freed with lc_trace_windows_free. Errors: LC_ERR_NOMEM, those of reading
 * rows. */
enum lc_err lc_trace_windows(struct lc_view *view, const struct lc_sums *sums, const json_t *pop,
                             struct lc_trace_window **list, size_t *n);
/* NULL is allowed. */
void lc_trace_windows_free(struct lc_trace_window *list, size_t n);

#endif
