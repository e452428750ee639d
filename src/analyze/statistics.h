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

enum { LC_TIMELINE_BINS = 1000, LC_SEVEREST = 50 };

/* Collective. */
enum lc_err lc_statistics_make(struct lc_trace *trace, struct lc_statistics *statistics);
void lc_statistics_free(struct lc_statistics *statistics);

/* values[] of all ranks together: the ones at positions at[0..n_at) of their ascending order.
 * Collective; at must be below the total count. */
enum lc_err lc_select_i64(const struct lc_transport *comm, const int64_t *values, size_t count,
                          const int64_t *at, size_t n_at, int64_t *found);

/* Parts of statistics.c. */
enum lc_err lc_timeline_make(struct lc_trace *trace, struct lc_strbuf *json);
enum lc_err lc_phases_make(struct lc_trace *trace, struct lc_strbuf *json);

#endif
