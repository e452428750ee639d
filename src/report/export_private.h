/* Between export.c and the formats that have a file of their own. */
#ifndef LC_REPORT_EXPORT_PRIVATE_H
#define LC_REPORT_EXPORT_PRIVATE_H

#include "report/export.h"

/* Writes so many bytes. LC_ERR_RANGE: more than allowed; LC_ERR_IO. */
enum lc_err lc_export_put(struct lc_export *e, const char *text, size_t length);

/* One page of HTML. Errors: those of reading rows, and of lc_export_put. */
enum lc_err lc_export_html(struct lc_export *e);

#endif
