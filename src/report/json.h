/* `show --json`: the stable machine-readable form of any result (docs: result format). */
#ifndef LC_REPORT_JSON_H
#define LC_REPORT_JSON_H

#include <stdio.h>

#include "report/view.h"

struct json_t;

enum lc_json_by { LC_JSON_BOTH, LC_JSON_BY_CALLPATH, LC_JSON_BY_LOCATION };

struct lc_json_options {
    enum lc_json_by by;
    const bool *metrics; /* per metric of the model: wanted; NULL: all */
};

enum lc_err lc_json_write(struct lc_view *view, const struct lc_json_options *options, FILE *out);

/* The attribute `latecomer.meta` as an object; what is missing there is taken from the definitions
 * (files of other tools). The caller gives it back with json_decref. */
enum lc_err lc_json_meta(const struct lc_view *view, struct json_t **meta);
/* The attribute `latecomer.pop`, or NULL where there is none. */
enum lc_err lc_json_pop(const struct lc_view *view, struct json_t **pop);

#endif
