/* The steps of an analysis in their order: read, find wait states, statistics, root causes, write.
 * Collective; called by main.c. */
#ifndef LC_ANALYZE_PIPELINE_H
#define LC_ANALYZE_PIPELINE_H

#include "analyze/transport.h"
#include "analyze/analysis_options.h"

/* The whole analysis, from the archive to analysis.cubex. Collective; returns the same on all
 * ranks, with the text of the first error: those of lc_trace_read, lc_analysis_write;
 * LC_ERR_NOT_FOUND, LC_ERR_USAGE: options that do not fit the trace; LC_ERR_IO: no room for
 * events that are kept in a file. No result is left behind then. */
enum lc_err lc_analyze_run(const struct lc_transport *comm,
                           const struct lc_analyze_options *options);

#endif
