/* `export --to html-summary`: one page for people. */
#ifndef LC_REPORT_EXPORT_HTML_H
#define LC_REPORT_EXPORT_HTML_H

#include "base/strbuf.h"
#include "report/view.h"

/* The page, into `out`, which the caller frees in any case. Errors: those of reading rows;
 * LC_ERR_NOMEM. */
enum lc_err lc_export_html(struct lc_view *view, struct lc_strbuf *out);

#endif
