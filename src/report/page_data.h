/* What a page holds of one result besides its numbers: the JSON of `show` without call paths, and
 * the definitions of metrics and call paths. */
#ifndef LC_REPORT_PAGE_DATA_H
#define LC_REPORT_PAGE_DATA_H

#include <stdio.h>

#include "report/view.h"

/* One object: "file", "result" (as `show --json --by=location`), "findings_waitfirst" (in the model
 * wait-first, where an analysis took part), "metrics", "paths", "factors".
 * Errors: those of lc_json_write; what was written by then stays written. */
enum lc_err lc_page_data(struct lc_view *view, FILE *out);

#endif
