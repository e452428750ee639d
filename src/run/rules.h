/* How rows of a raw profile become metrics: one entry per metric that a row determines by itself.
 */
#ifndef LC_RUN_RULES_H
#define LC_RUN_RULES_H

#include <stdbool.h>

#include "format/raw.h"
#include "format/mpi_function.h"

enum lc_rule_how { LC_RULE_SUM, LC_RULE_MINIMUM, LC_RULE_MAXIMUM };

struct lc_metric_rule {
    const char *metric; /* NULL ends the table */
    enum lc_rule_how how;
    /* What one row adds; `function` is NULL where the node is no MPI function. */
    double (*value)(const struct lc_mpi_function *function, const struct lc_raw_row *row);
};

extern const struct lc_metric_rule lc_rules[];

/* Exclusive time of the node in this row. */
double lc_rule_time_s(const struct lc_raw_row *row);
/* False for rows that hold other things than calls of one size class. */
bool lc_rule_is_call(const struct lc_raw_row *row);

#endif
