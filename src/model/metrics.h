/* The table of all metrics that Latecomer writes: name, parent, unit, kind, definition. A new
 * metric is one entry here and the place where it is computed; reports need no change. */
#ifndef LC_MODEL_METRICS_H
#define LC_MODEL_METRICS_H

#include "model/model.h"

/* Adds the metric with this unique name (and its ancestors in the metric tree, parents first) to
 * the model unless it is there. Errors: LC_ERR_NOT_FOUND if the table has no such name. */
enum lc_err lc_metrics_add(struct lc_model *model, const char *name, uint32_t *id);

/* The parent of a metric with a name of its own (static text); NULL: it has none, or is unknown. */
const char *lc_metrics_parent(const char *name);

#endif
