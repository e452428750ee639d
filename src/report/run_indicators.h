/* What one run says when it stands beside others: critical path, imbalance and its costs, delay
 * costs, and the partitions that its ranks work in (docs/definitions/efficiency-factors.md, "The
 * table of several runs"). Used by `scaling` and `compare`. */
#ifndef LC_REPORT_RUN_INDICATORS_H
#define LC_REPORT_RUN_INDICATORS_H

#include "report/delay_costs.h"
#include "report/finding_partitions.h"
#include "report/view.h"

struct lc_run_partition {
    struct lc_partition own; /* its name is the run's */
    double intra_s, inter_s; /* imbalance costs on its ranks; NAN: the run was not analysed */
};

struct lc_run_indicators {      /* seconds; NAN: not known, as the run was not analysed */
    double elapsed_s;           /* run time */
    double path_s, imbalance_s; /* wall-clock: the critical path, what imbalance adds to it */
    double allocation_s;        /* the critical path times the locations: what it all costs */
    double intra_s, inter_s;    /* allocation: imbalance costs */
    /* allocation: delay costs, in the models proportional and wait-first */
    double short_s[LC_N_COST_MODELS], long_s[LC_N_COST_MODELS];
    struct lc_run_partition *list; /* partitions, as findings have them */
    size_t n;                      /* 0: the ranks all work in the same code */
};

/* Of a result: of its analysis, if it is one or the analysis.cubex beside it is of as many
 * locations; else partitions only. lc_run_indicators_free frees what they hold. Errors: those of
 * lc_view_row, LC_ERR_FORMAT, LC_ERR_NOMEM. */
enum lc_err lc_run_indicators_read(struct lc_run_indicators *indicators, struct lc_view *view);
/* Frees what it holds, not the struct. */
void lc_run_indicators_free(struct lc_run_indicators *indicators);
/* The mean of n runs, 1 or more: of the partitions of the first, by name; ranks are those of the
 * first; NAN where one of them does not know. Freed as one that was read. LC_ERR_NOMEM. */
enum lc_err lc_run_indicators_mean(struct lc_run_indicators *mean,
                                   const struct lc_run_indicators *runs, size_t n);
/* The partition of this name; NULL: there is none. */
const struct lc_run_partition *lc_run_indicators_find(const struct lc_run_indicators *indicators,
                                                      const char *name);
/* Of an analysis: is anything known but partitions? */
bool lc_run_indicators_analysed(const struct lc_run_indicators *indicators);

struct json_t;
/* The object `indicators` of the JSON; null for what is not known. */
struct json_t *lc_run_indicators_json(const struct lc_run_indicators *indicators);

#endif
