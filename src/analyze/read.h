/* Reading an archive: definitions on every rank, events of the owned locations, one call tree for
 * all. Called by main.c. */
#ifndef LC_ANALYZE_READ_H
#define LC_ANALYZE_READ_H

#include "analyze/health.h"
#include "analyze/trace.h"

/* Told of progress after each location and about every 2^20 events; `done` and `all` are events of
 * this rank. NULL: nobody. */
typedef void lc_progress_fn(void *user, uint64_t done, uint64_t all);

struct lc_read_how {
    lc_progress_fn *progress;
    void *user; /* of progress */
    /* where the events of this rank are kept; NULL: on the heap. The trace does not own it. */
    struct lc_event_store *store;
};

/* Collective. Opens the archive (traces.otf2), reads this rank's part; how: NULL is allowed; freed
 * with lc_trace_free. Damage in events is counted in health. Errors are the same on all ranks:
 * LC_ERR_FORMAT: a missing archive or damaged definitions; LC_ERR_NOMEM. */
enum lc_err lc_trace_read(struct lc_trace **trace, const struct lc_transport *comm,
                          const char *path, struct lc_health *health,
                          const struct lc_read_how *how);

#endif
