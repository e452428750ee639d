/* A new time axis for a process: old time -> new time, monotone. Made from jumps: "what ended at
 * `at` ends `shift` later". Used by time_correct.c. */
#ifndef LC_ANALYZE_TIME_MAP_H
#define LC_ANALYZE_TIME_MAP_H

#include "analyze/trace.h"

struct lc_jump {
    int64_t at, shift; /* ticks */
    int64_t from;      /* the time before the jump may be stretched back to here */
    /* transition at `at`, and that of `from`: events of the time `from` before the latter stay, of
     * the time `at` those before the former, unless time is stretched before it */
    uint32_t index;
    uint32_t from_index;
};

/* Applies jumps (any order) to all times of the locations of a process. Errors: LC_ERR_NOMEM. */
enum lc_err lc_time_map_apply(struct lc_jump *jumps, size_t n_jumps, struct lc_loc *locs,
                              uint32_t n_locs);

#endif
