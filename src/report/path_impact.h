/* What each call path means for the run time, of analyses: own time and what imbalance in it costs
 * (performance impact), and its time per location beside that on the critical path. Definitions:
 * docs/definitions/wait-states.md, section 5. */
#ifndef LC_REPORT_PATH_IMPACT_H
#define LC_REPORT_PATH_IMPACT_H

#include <math.h>

#include "report/view.h"

struct lc_path_impact { /* seconds, within the bounds of the critical path */
    uint32_t path;
    double own_s;                   /* of all locations, without waiting */
    double intra_s, inter_s;        /* imbalance costs */
    double impact_s;                /* own_s + intra_s + inter_s */
    double share;                   /* of the impact of all call paths */
    double ratio;                   /* of imbalance costs in the impact */
    double least_s, mean_s, most_s; /* own time of a location */
    double path_s;                  /* on the critical path */
};

/* a - b, 0 where they differ in their last digits only: both are sums of fractions of ticks. */
static inline double lc_impact_difference(double a, double b) {
    return fabs(a - b) > 1e-9 * fmax(a, b) ? a - b : 0.0;
}

/* Those that are not zero, largest impact first; n 0: the result is no analysis. The caller frees
 * the list. Errors: LC_ERR_NOMEM, those of lc_view_row. */
enum lc_err lc_path_impacts(struct lc_view *view, struct lc_path_impact **list, size_t *n);

#endif
