/* The timeline of a trace for Perfetto's viewer (ui.perfetto.dev): a track for every location with
 * its call paths, one beside it with its wait states (who caused them, and where), and an arrow for
 * every message from the begin of its send to the end of the call that completed its receive. */
#ifndef LC_ANALYZE_PERFETTO_H
#define LC_ANALYZE_PERFETTO_H

#include "analyze/trace.h"

/* Writes the file, at most `most_bytes` (0: any size), after lc_waits_find with
 * trace->keep_matches; one analysis rank only. Times are ns since the first event. LC_ERR_RANGE:
 * larger than allowed, LC_ERR_IO, LC_ERR_NOMEM; what there is of the file then stays. */
enum lc_err lc_perfetto_write(const struct lc_trace *trace, const char *file, uint64_t most_bytes);

#endif
