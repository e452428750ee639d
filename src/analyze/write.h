/* The result file: results of all ranks, collected metric by metric on rank 0, into analysis.cubex.
 * Called by main.c. */
#ifndef LC_ANALYZE_WRITE_H
#define LC_ANALYZE_WRITE_H

#include "analyze/trace.h"
#include "base/strbuf.h"

struct lc_member { /* miscellaneous member of the file; rank 0 */
    const char *name;
    const struct lc_strbuf *text;
};

/* Collective. meta: JSON object for the attribute latecomer.meta (rank 0). */
enum lc_err lc_analysis_write(struct lc_trace *trace, const char *path, const char *meta,
                              const struct lc_member *members, size_t n_members);

/* Moves counts, visits and times of the locations into the results. */
enum lc_err lc_cells_book(struct lc_trace *trace);

#endif
