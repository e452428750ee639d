/* Correction of recorded times where they contradict the order of messages: a controlled logical
 * clock with backward amortisation. */
#ifndef LC_ANALYZE_TIME_CORRECT_H
#define LC_ANALYZE_TIME_CORRECT_H

#include "analyze/options.h"
#include "analyze/trace.h"

struct lc_correction {
    bool done;
    int64_t violations_before, violations_after, rounds, largest_shift_ticks;
};

/* Collective. off: nothing; on: corrects; auto: corrects if there are violations. */
enum lc_err lc_time_correct(struct lc_trace *trace, enum lc_time_correct mode,
                            struct lc_correction *correction);

#endif
