/* Does the trace fit into memory? Asked once the definitions have told how many events there are,
 * before the first of them is read. Called by read.c. */
#ifndef LC_ANALYZE_FORECAST_H
#define LC_ANALYZE_FORECAST_H

#include "analyze/trace.h"

/* Collective. LC_ERR_NOMEM, with the figures, if the ranks of a node need more than it has: its
 * available memory, what is left of the limits of its control groups, and of a rank's limit of
 * address space. */
enum lc_err lc_forecast_check(const struct lc_trace *trace, const char *archive);

#endif
