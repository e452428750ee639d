/* `show --json`: the stable machine-readable form of any result (docs: result format). */
#ifndef LC_REPORT_JSON_H
#define LC_REPORT_JSON_H

#include <stdio.h>

#include "report/view.h"

enum lc_json_by { LC_JSON_BOTH, LC_JSON_BY_CALLPATH, LC_JSON_BY_LOCATION };

struct lc_json_options {
    enum lc_json_by by;
    const bool *metrics; /* per metric of the model: wanted; NULL: all */
};

/* The result as JSON. LC_ERR_NOMEM, LC_ERR_FORMAT. */
enum lc_err lc_json_write(struct lc_view *view, const struct lc_json_options *options, FILE *out);

#endif
