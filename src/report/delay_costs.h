/* Which metrics of an analysis are delay costs, and of which model. */
#ifndef LC_REPORT_DELAY_COSTS_H
#define LC_REPORT_DELAY_COSTS_H

#include "report/view.h"

enum { LC_N_COST_MODELS = 2 }; /* 0: proportional, 1: wait-first */

/* A delay cost of one kind of waiting in the model that the view takes, "delay_<kind>" or
 * "delay_<kind>_longterm", with "_waitfirst" where that is the model; not the sums of several
 * kinds. */
bool lc_is_delay_cost(const struct lc_view *view, uint32_t metric, bool *longterm);

/* The metric of the same meaning in the model that the view takes; LC_NONE: the result has no data
 * of it. `name`: of the model proportional. */
uint32_t lc_metric_of_model(const struct lc_view *view, const char *name);

/* "proportional" or "wait-first". */
const char *lc_delay_model_name(const struct lc_view *view);

/* LC_ERR_NOT_FOUND: the result has delay costs, but not of the model that the view takes. */
enum lc_err lc_check_delay_model(const struct lc_view *view);

#endif
