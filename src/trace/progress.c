/* What is said while an archive is written. */
#include <stddef.h>

#include "base/timer.h"
#include "trace/rank.h"

/* Rank 0, after 2 s, every few seconds. */
void lc_trace_tell(const struct lc_trace_options *options, const char *what, double fraction) {
    static double begin_s, next_s;
    double now = (double)lc_monotonic_raw_ns() * 1e-9;
    if (begin_s == 0) {
        begin_s = now;
        next_s = now + 2;
    }
    if (options->progress == NULL || now < next_s)
        return;
    next_s = now + 5;
    options->progress(what, fraction);
}
