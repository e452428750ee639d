/* The two delay-cost models of one analysis side by side: totals per metric, costs per rank and per
 * call path in the order of the first model, cumulative (Pareto) curves, and what moves from
 * short-term to long-term costs. Models: `proportional` (metrics without suffix) and `wait-first`
 * (suffix `_waitfirst`). */
#ifndef LC_REPORT_DELAY_MODELS_H
#define LC_REPORT_DELAY_MODELS_H

#include <stdio.h>

#include "report/view.h"

/* LC_ERR_NOT_FOUND if the result has not both models. */
enum lc_err lc_delay_models_write(struct lc_view *view, bool json, FILE *out);

#endif
