/* The POP factors of several runs side by side
 * (docs/definitions/efficiency-factors.md#the-table-of-several-runs): one column per run, smallest
 * first. Computational scalability = useful time of the smallest run / useful time of the run; with
 * `weak` times the ratio of threads of execution, since then the work is meant to grow with them.
 * Global efficiency = parallel efficiency * that. */
#ifndef LC_REPORT_SCALING_H
#define LC_REPORT_SCALING_H

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"

struct lc_scaling;

/* No runs yet; lc_scaling_free frees it. LC_ERR_NOMEM. */
enum lc_err lc_scaling_new(struct lc_scaling **scaling);
/* NULL is allowed. */
void lc_scaling_free(struct lc_scaling *scaling);
/* Reads one result, and the analysis beside it. LC_ERR_NOT_FOUND if it has neither POP factors nor
 * a critical path; errors of lc_run_indicators_read. */
enum lc_err lc_scaling_add(struct lc_scaling *scaling, const char *file);
/* Writes the table of all runs, after the last was added. Errors: LC_ERR_NOMEM. */
enum lc_err lc_scaling_write(struct lc_scaling *scaling, bool weak, bool json, FILE *out);

#endif
