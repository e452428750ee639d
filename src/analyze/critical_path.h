/* The critical path (docs/definitions/wait-states.md#4-critical-path): the chain of activities that
 * determines the length of the run.
 *
 * Blocking: a location cannot go on before its cause does something (wait states, n21 roots,
 * MPI_Init, MPI_Finalize).
 *
 * Segment: a part of the path on one location, [from, to); the segments follow each other without
 * gap.
 *
 * Slack of a segment: how much shorter it may get before the path runs elsewhere: how long the next
 * location on the path waited for it; in barriers and the like until the last but one came. (A root
 * of n21 and members of scans are blocked by one, the last; the last but one is not known there, so
 * that the slack is an upper bound.)
 *
 * The blockings are gathered on rank 0 (32 bytes each), which follows the path backwards; all ranks
 * get the segments, and each sums up those of its own locations. Ties go to the lowest location, so
 * that the path is the same for any number of ranks. */
#ifndef LC_ANALYZE_CRITICAL_PATH_H
#define LC_ANALYZE_CRITICAL_PATH_H

#include "analyze/profile.h"

struct lc_segment {
    uint32_t location, reserved;
    int64_t from, to, slack;
};

struct lc_critical_path {
    const struct lc_timelines *lines;
    int64_t lower, upper;        /* bounds */
    uint32_t last;               /* where the path ends */
    struct lc_segment *segments; /* latest first */
    size_t n_segments;
    int64_t **on_path;   /* per location of this rank: ticks per call path of its timeline */
    int64_t **slack;     /* the same: how much of it may go */
    int64_t *total;      /* per call path of the trace: on_path of all locations (all ranks) */
    int64_t *last_event; /* per location of the trace; INT64_MIN without events */
};

/* Fills `path` on every rank; mpi_only: between MPI_Init and MPI_Finalize. Collective; errors are
 * the same on all ranks: LC_ERR_NOMEM; LC_ERR_RANGE: more blockings or segments than can be
 * gathered. */
enum lc_err lc_path_find(struct lc_critical_path *path, const struct lc_timelines *lines,
                         bool mpi_only);
/* Frees what it holds, not the struct. */
void lc_path_free(struct lc_critical_path *path);

#endif
