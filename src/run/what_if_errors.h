/* What-if scenarios of functions that samples found: the standard error of their critical paths. */
#ifndef LC_RUN_WHAT_IF_ERRORS_H
#define LC_RUN_WHAT_IF_ERRORS_H

#include <jansson.h>

#include "run/blame_table.h"
#include "run/sampled.h"
#include "run/tree.h"

/* Adds "sampling_error_s" to those of pop's array "what_if" whose terms name such functions on the
 * critical path. LC_ERR_NOMEM. */
enum lc_err lc_what_if_errors(json_t *pop, const struct lc_sampled *sampled,
                              const struct lc_named_tree *tree,
                              const struct lc_blame_table *values);

#endif
