/* When a measurement may stop: `latecomer bench --precision`. */
#ifndef LC_BENCH_PRECISE_H
#define LC_BENCH_PRECISE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* Whether both 95 % intervals, of the median and of the 95 % quantile, are narrower than this part
 * of them; without the first repetition and the warm-up, as far as one is seen in these runs (ns,
 * [n], in the order of time). Of fewer than 50 that are left: false. LC_ERR_NOMEM. */
enum lc_err lc_precise_enough(const double *runs, size_t n, double precision, bool *enough);

#endif
