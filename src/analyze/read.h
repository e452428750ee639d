/* Reading an archive: definitions on every rank, events of the owned locations, one call tree for
 * all. Called by main.c. */
#ifndef LC_ANALYZE_READ_H
#define LC_ANALYZE_READ_H

#include "analyze/health.h"
#include "analyze/trace.h"

/* Told of progress after each location and about every 2^20 events; `done` and `all` are events of
 * this rank. NULL: nobody. */
typedef void lc_progress_fn(void *user, uint64_t done, uint64_t all);

/* Collective. Opens the archive (traces.otf2), reads this rank's part. Damage in events is counted
 * in health; damaged definitions, a missing archive or too little memory are errors, the same on
 * all ranks. */
enum lc_err lc_trace_read(struct lc_trace **trace, const struct lc_transport *comm,
                          const char *path, struct lc_health *health, lc_progress_fn *progress,
                          void *user);

#endif
