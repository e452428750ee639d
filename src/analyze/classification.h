/* Classification of the waiting itself, on the waiting call
 * (docs/definitions/wait-states.md#34-classification): direct and indirect, propagating and
 * terminal. Called by rootcause.c. */
#ifndef LC_ANALYZE_CLASSIFICATION_H
#define LC_ANALYZE_CLASSIFICATION_H

#include "analyze/delay.h"

/* Classifies location by location, and moves all costs of a location into the results before the
 * next one: the rows of one location exist at a time. Errors: LC_ERR_NOMEM. Collective in that all
 * ranks declare the same metrics. */
enum lc_err lc_classify_and_publish(const struct lc_delay *delay, struct lc_results *results);

#endif
