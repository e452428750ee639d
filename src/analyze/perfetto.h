/* The timeline of a trace for Perfetto's viewer (ui.perfetto.dev): a track for every location with
 * its call paths, one beside it with its wait states (who caused them, and where), one with its
 * segments of the critical path, and an arrow for every message from the begin of its send to the
 * end of the call that completed its receive, and from each segment to the next.
 *
 * What does not fit into the file whole is shown in windows: around the severest waits, as many as
 * fit, and as much before and after them as fits. A line says so. */
#ifndef LC_ANALYZE_PERFETTO_H
#define LC_ANALYZE_PERFETTO_H

#include "analyze/critical_path.h"

/* Writes the file, at most `most_bytes` (0: any size), after lc_waits_find with
 * trace->keep_matches; one analysis rank only. Times are ns since the first event. LC_ERR_RANGE:
 * nothing fits, LC_ERR_IO, LC_ERR_NOMEM; what there is of the file then stays. */
enum lc_err lc_perfetto_write(const struct lc_critical_path *path, const char *file,
                              uint64_t most_bytes);

#endif
