/* The two delay-cost models side by side, of one analysis or the mean of several: totals per
 * metric, direct and indirect, propagating and terminal waiting, costs per rank (its threads
 * together) and per call path in the order of the first model, cumulative (Pareto) curves, and what
 * moves from short-term to long-term costs. Models: `proportional` (metrics without suffix) and
 * `wait-first` (suffix `_waitfirst`). */
#ifndef LC_REPORT_DELAY_MODELS_H
#define LC_REPORT_DELAY_MODELS_H

#include <stdio.h>

#include "report/view.h"

/* n > 1: means over analyses of runs of one size. LC_ERR_NOT_FOUND if a result has not both models;
 * LC_ERR_UNSUPPORTED if the runs have not the same ranks and threads; LC_ERR_NOMEM. */
enum lc_err lc_delay_models_write(struct lc_view *const *views, size_t n, bool json, FILE *out);

#endif
