/* Statistics over wait states: per metric the number, mean, exact quartiles, extremes and the
 * severest instances; severity over time and per phase. All from integers, so the same for any
 * number of ranks. Formats of the members: docs/trace-analysis.md. Called by pipeline.c. */
#ifndef LC_ANALYZE_STATISTICS_H
#define LC_ANALYZE_STATISTICS_H

#include "analyze/trace.h"
#include "base/strbuf.h"

struct lc_statistics {         /* rank 0; empty elsewhere */
    struct lc_strbuf json;     /* member wait_statistics.json */
    struct lc_strbuf timeline; /* member timeline.json */
    struct lc_strbuf phases;   /* member phases.json */
};

enum { LC_SEVEREST = 50 };

/* After lc_rootcause_run. Collective. Freed with lc_statistics_free, also after a failure. Errors:
 * LC_ERR_NOMEM, and those of lc_select_i64. */
enum lc_err lc_statistics_make(struct lc_trace *trace, struct lc_statistics *statistics);
/* Frees what it holds, not the struct. */
void lc_statistics_free(struct lc_statistics *statistics);

#endif
