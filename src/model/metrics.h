/* The table of all metrics that Latecomer writes: name, parent, unit, kind, definition. A new
 * metric is one entry here and the place where it is computed; reports need no change. */
#ifndef LC_MODEL_METRICS_H
#define LC_MODEL_METRICS_H

#include <stdbool.h>

#include "model/model.h"

/* Adds the metric with this unique name (and its ancestors in the metric tree, parents first) to
 * the model unless it is there. Errors: LC_ERR_NOT_FOUND if the table has no such name. */
enum lc_err lc_metrics_add(struct lc_model *model, const char *name, uint32_t *id);

enum { LC_METRIC_NAME = 80 }; /* longest name of a metric of the table, with its end */

/* The parent of a metric in the metric tree; false: it has none, or is unknown. */
bool lc_metrics_parent(const char *name, char parent[LC_METRIC_NAME]);

/* Wait states that do not overlap, in the order of reports: their sum is the waiting of a location.
 * A metric is waiting if it is one of these, or "NAME_estimated" where nothing was measured. */
struct lc_waiting_metric {
    const char *name;   /* NULL ends the list */
    const char *around; /* as lc_metrics_time_around says it */
    const char *label;
    const char *meaning; /* "receives that wait for the send" */
};
extern const struct lc_waiting_metric lc_waiting_metrics[];

/* The metric of the time tree that waiting of this kind is a part of, as in Scalasca: its parent in
 * models that have the time tree (added before it); NULL: none. Static text. */
const char *lc_metrics_time_around(const char *name);

/* A sum of other metrics, its children in the tree (`delay`, `delay_p2p`, ..): nobody computes it,
 * who writes the result adds it up (analyze/write.c). */
bool lc_metrics_is_sum(const char *name);

#endif
