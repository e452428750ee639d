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
 * The blockings stay at the owners of their locations (32 bytes each). The path is followed
 * backwards from rank to rank: the owner of a location follows it as far as it leads through its
 * own locations, and passes it on to the owner of the next. Each rank keeps and sums up the
 * segments of its own locations. Ties go to the lowest location, so that the path is the same for
 * any number of ranks. */
#ifndef LC_ANALYZE_CRITICAL_PATH_H
#define LC_ANALYZE_CRITICAL_PATH_H

#include "analyze/profile.h"

struct lc_segment {
    uint32_t location, number; /* along the path, the latest is 0 */
    int64_t from, to, slack;
};

struct lc_critical_path {
    const struct lc_timelines *lines;
    int64_t lower, upper;        /* bounds */
    uint32_t last;               /* where the path ends */
    struct lc_segment *segments; /* of the locations of this rank, latest first */
    size_t n_own_segments;
    uint64_t n_segments; /* of all ranks */
    int64_t **on_path;   /* per location of this rank: ticks per call path of its timeline */
    int64_t **slack;     /* the same: how much of it may go */
    int64_t *total;      /* per call path of the trace: on_path of all locations (all ranks) */
    int64_t *last_event; /* per location of the trace; INT64_MIN without events */
};

/* Fills `path` on every rank; mpi_only: between MPI_Init and MPI_Finalize. Collective; errors are
 * the same on all ranks: LC_ERR_NOMEM; LC_ERR_RANGE: more blockings on one rank, or
 * segments, than 32 bits number. */
enum lc_err lc_path_find(struct lc_critical_path *path, const struct lc_timelines *lines,
                         bool mpi_only);
/* Frees what it holds, not the struct. */
void lc_path_free(struct lc_critical_path *path);

#endif
