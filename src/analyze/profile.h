/* Time profiles of windows: how long a location was in which call path between two instants,
 * without its wait states: P(l, [a,b)) of docs/definitions/wait-states.md#1-ground-rules.
 *
 * Nouns
 *   state     a wait state in compact form; the states of a location do not overlap and are in
 *             order of time. Its number in the trace (`first_state` of its location plus its index)
 *             is the same for any number of analysis ranks
 *   timeline  of one location of this rank: its states, the call paths it visits, and snapshots of
 *             the cumulative profile, so that a window costs no more than the number of call paths
 *             of the location, however long it is
 *   profile   the result of a query: ticks per call path, sparse
 *
 * Invariant: snapshot k holds the profile of everything before transition k * spacing. Used by
 * delay.c, critical_path.c, indicators.c. */
#ifndef LC_ANALYZE_PROFILE_H
#define LC_ANALYZE_PROFILE_H

#include "analyze/trace.h"

struct lc_state {
    int64_t start, end; /* [s, s + w), busy time not taken off */
    int64_t ticks;      /* w */
    uint32_t cnode;
    uint32_t wait; /* index into the waits of the location */
};

struct lc_timeline {
    const struct lc_loc *loc;
    struct lc_state *states;
    uint32_t n_states;
    bool causeless;       /* some of them have no cause */
    uint64_t first_state; /* number in the trace of states[0] */
    uint32_t *cnodes;     /* visited call paths, in order of the first visit */
    uint32_t n_cnodes;
    uint32_t spacing, n_snapshots;
    int64_t *snapshots;        /* n_snapshots x n_cnodes */
    uint32_t hint, state_hint; /* where the last window began */
    struct lc_state init;      /* waiting in MPI_Init: no wait state, ticks 0 where there is none */
};

struct lc_timelines {
    struct lc_trace *trace;
    struct lc_timeline *lines; /* parallel to trace->locs */
    struct lc_state *states;   /* of all locations of this rank, one after another */
    uint64_t n_states;         /* of this rank */
    uint64_t *first_state;     /* per location of the trace, n_locations + 1 entries */
};

/* A sparse profile: ticks[cnode] is 0 for all call paths outside of touched[0 .. n_touched). */
struct lc_profile {
    int64_t *ticks; /* per call path of the trace */
    uint32_t *touched;
    uint32_t n_touched;
    uint8_t *is_touched;
};

/* The timelines of this rank's locations, freed with lc_timelines_free. Collective; errors are the
 * same on all ranks: LC_ERR_NOMEM. */
enum lc_err lc_timelines_new(struct lc_timelines **lines, struct lc_trace *trace);
/* Frees them, not the trace. NULL is allowed. */
void lc_timelines_free(struct lc_timelines *lines);

/* The timeline of a location of this rank; it belongs to `lines`. */
struct lc_timeline *lc_timeline_of(const struct lc_timelines *lines, uint32_t location);

/* Which timeline of this rank (an index in lines[]) the state with this index in states[] is of. */
size_t lc_line_of_state(const struct lc_timelines *lines, uint64_t state);
/* Its number in the trace. */
uint64_t lc_state_number(const struct lc_timelines *lines, uint64_t state);

/* All zeros; lc_profile_free frees it. LC_ERR_NOMEM. */
enum lc_err lc_profile_new(struct lc_profile *profile, size_t n_cnodes);
/* Frees the arrays, not the struct. */
void lc_profile_free(struct lc_profile *profile);
/* All zeros again; costs as much as was touched. */
void lc_profile_clear(struct lc_profile *profile);

/* Adds P(location, [from, to)) to a cleared profile. with_init: waiting in MPI_Init is taken off as
 * well (sections 4 and 5). Values are never negative. */
void lc_profile_window(struct lc_profile *profile, struct lc_timeline *line, int64_t from,
                       int64_t to, bool with_init);

/* The states of the line that overlap [from, to): [*first, *last). */
void lc_states_within(struct lc_timeline *line, int64_t from, int64_t to, uint32_t *first,
                      uint32_t *last);

/* How much of a state lies in [from, to), in ticks of waiting. */
int64_t lc_state_overlap(const struct lc_state *state, int64_t from, int64_t to);

#endif
