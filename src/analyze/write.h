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

/* Collective. meta: JSON object for the attribute latecomer.meta (rank 0). Errors are the same on
 * all ranks, and no file is left at `path`: LC_ERR_NOMEM; LC_ERR_IO; LC_ERR_RANGE: ranks disagree
 * about the metrics, or the container cannot hold a name. */
enum lc_err lc_analysis_write(struct lc_trace *trace, const char *path, const char *meta,
                              const struct lc_member *members, size_t n_members);

/* Moves counts, visits and times of the locations into the results. Errors: LC_ERR_NOMEM. */
enum lc_err lc_cells_book(struct lc_trace *trace);

#endif
