#ifndef LC_ANALYZE_PAGE_MATRICES_H
#define LC_ANALYZE_PAGE_MATRICES_H

#include "analyze/page_parts.h"

/* "matrices": waiting, messages, bytes by pairs of ranks; "topologies". LC_ERR_NOMEM. */
enum lc_err lc_page_matrices(struct lc_page_file *page);

#endif
