/* Which window of a run is worth a trace (`run --trace=WINDOW`), from its profile: how much of all
 * waiting is in each phase, and in which iterations of each loop that was found it is most.
 * Definitions: docs/definitions/findings.md. */
#ifndef LC_REPORT_TRACE_ADVICE_H
#define LC_REPORT_TRACE_ADVICE_H

#include <jansson.h>

#include "report/sums.h"

/* Why a trace of a window alone helps. */
enum lc_window_worth {
    LC_WINDOW_NOT_WORTH,
    LC_WINDOW_MORE_WAITING, /* clearly more of the waiting than of the time */
    LC_WINDOW_TYPICAL       /* the loop has most of the waiting, and these iterations are like it */
};

struct lc_trace_window {
    char *window;       /* as `run --trace=` takes it: "solve", "iterations 40-49" */
    char *callpath;     /* iterations: the function with the loop; NULL: a phase */
    double waiting_s;   /* of all locations: measured, or estimated where nothing was measured */
    double estimated_s; /* phases: what estimates from minima say; NAN: there are none */
    double waiting_share, time_share; /* of all waiting, of all time */
    enum lc_window_worth worth;
    double loop_share; /* iterations: of all waiting, what the whole loop has */
};

/* The identifier of JSON; NULL: not worth it. */
const char *lc_window_worth_id(enum lc_window_worth worth);

/* Phases, then loops; the one with most waiting first, none without waiting. None of an analysis.
 * `pop` may be NULL. Freed with lc_trace_windows_free. Errors: LC_ERR_NOMEM, those of reading
 * rows. */
enum lc_err lc_trace_windows(struct lc_view *view, const struct lc_sums *sums, const json_t *pop,
                             struct lc_trace_window **list, size_t *n);
/* NULL is allowed. */
void lc_trace_windows_free(struct lc_trace_window *list, size_t n);

#endif
