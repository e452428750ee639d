/* `compare A B`: did it get slower, is that more than chance, and where.
 *
 * A side is one run or several of the same. What is compared are the run times between MPI_Init and
 * MPI_Finalize. Intervals are from runs where both sides have two or more, else from the iterations
 * of the longest phase that all have, else there are none, and the verdict is by a threshold.
 * docs/definitions/compare.md has the formulas. */
#ifndef LC_REPORT_COMPARE_H
#define LC_REPORT_COMPARE_H

#include <stdio.h>

#include "report/view.h"

struct lc_comparison;

enum lc_compare_format { LC_COMPARE_TEXT, LC_COMPARE_JSON, LC_COMPARE_MARKDOWN };

/* A comparison without runs; lc_comparison_free frees it. Errors: LC_ERR_NOMEM. */
enum lc_err lc_comparison_new(struct lc_comparison **comparison);
/* With all runs; NULL is allowed. */
void lc_comparison_free(struct lc_comparison *comparison);

/* Adds a run to side 0 (A) or 1 (B); A first. The file is not needed any longer. Errors:
 * those of lc_view_open and lc_view_row. */
enum lc_err lc_comparison_add(struct lc_comparison *comparison, int side, const char *file);

/* Computes; differences below `threshold` (0.05: 5 %) count as none. Errors: LC_ERR_NOMEM. */
enum lc_err lc_comparison_make(struct lc_comparison *comparison, double threshold);
/* Writes the verdict and its reasons. LC_ERR_NOMEM, LC_ERR_IO. */
enum lc_err lc_comparison_write(const struct lc_comparison *comparison,
                                enum lc_compare_format format, FILE *out);

/* After make: slower by more than chance, by three runs or more on each side. */
bool lc_comparison_is_slower(const struct lc_comparison *comparison);
/* After make: how many runs on each side would decide; 0: it is decided, or cannot be. */
size_t lc_comparison_runs_needed(const struct lc_comparison *comparison);
/* After make: false: the runs have no time in common to compare. */
bool lc_comparison_is_possible(const struct lc_comparison *comparison);

#endif
