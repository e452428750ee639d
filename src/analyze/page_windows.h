#ifndef LC_ANALYZE_PAGE_WINDOWS_H
#define LC_ANALYZE_PAGE_WINDOWS_H

#include "analyze/page_parts.h"

/* "windows": slices, messages, waits. LC_ERR_USAGE: `more` is no list of T0:T1. LC_ERR_NOMEM. */
enum lc_err lc_page_windows(struct lc_page_file *page, const char *more);

#endif
