/* Correction of recorded times where they contradict the order of messages: a controlled logical
 * clock with backward amortisation (Becker, Rabenseifner, Wolf), iterated until no violation is
 * left.
 *
 * A call that ends before the event that released it has happened is moved to that event plus the
 * shortest transfer seen in the trace. What follows on the same process moves with it, and the
 * shift fades out by 1 % of the time that passes; what precedes is stretched back to the process'
 * previous call, so that intervals are changed little and no earlier message is disturbed. All
 * threads of a process share its clock. */
#ifndef LC_ANALYZE_TIME_CORRECT_H
#define LC_ANALYZE_TIME_CORRECT_H

#include "analyze/analysis_options.h"
#include "analyze/trace.h"

struct lc_correction {
    bool done; /* times were changed */
    int64_t violations_before, violations_after, rounds, largest_shift_ticks;
};

/* Collective. off: nothing; on and auto: corrects if there are violations. Before the waits are
 * found and times are booked. Errors: LC_ERR_NOMEM, LC_ERR_FORMAT, LC_ERR_UNSUPPORTED. */
enum lc_err lc_time_correct(struct lc_trace *trace, enum lc_time_correct_mode mode,
                            struct lc_correction *correction);

#endif
