/* Critical paths by scope and by what counts (`pop.paths`): the call path that has most of each.
 * Definitions: docs/definitions/efficiency-factors.md. */
#ifndef LC_REPORT_PATH_SCOPES_H
#define LC_REPORT_PATH_SCOPES_H

#include <jansson.h>

#include "report/view.h"

/* Adds `callpath` (null: not known) to each member of pop->paths; `pop` may be NULL. Errors:
 * LC_ERR_NOMEM, those of reading rows. */
enum lc_err lc_path_scopes_name(struct lc_view *view, json_t *pop);

#endif
