/* The steps of an analysis in their order: read, find wait states, statistics, root causes, write.
 * Collective; called by main.c. */
#ifndef LC_ANALYZE_PIPELINE_H
#define LC_ANALYZE_PIPELINE_H

#include "analyze/transport.h"
#include "analyze/analysis_options.h"

/* The whole analysis, from the archive to analysis.cubex. Collective; returns the same on all
 * ranks, with the text of the first error. */
enum lc_err lc_analyze_run(const struct lc_transport *comm,
                           const struct lc_analyze_options *options);

#endif
