/* Which call path of one result is which of another: by name; a subtree that has another name but
 * the same calls below the same caller was renamed; one of the same name with the same calls
 * elsewhere was moved. "The same calls": MPI functions and regions below it, with their counts. */
#ifndef LC_REPORT_ALIGN_PATHS_H
#define LC_REPORT_ALIGN_PATHS_H

#include "report/view.h"

/* to[p]: the path of b that p of a is, LC_NONE: it has none. `to` has a->n_paths elements and
 * belongs to the caller; no path of b is there twice. Errors: those of lc_view_row. */
enum lc_err lc_align_paths(struct lc_view *a, struct lc_view *b, uint32_t *to);

#endif
