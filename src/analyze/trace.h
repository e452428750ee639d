/* A trace in memory, as one analysis rank holds it: definitions (everybody has all), and the events
 * of the locations that this rank owns.
 *
 * Glossary
 *   location    a CPU thread; index 0..n_locations-1 ordered by process, then thread: the column of
 *               every result
 *   process     a location group; index 0..n_processes-1 ordered by rank. All locations of a
 *               process belong to the same analysis rank (the owner)
 *   cnode       call path; ids are global (the same on all ranks), numbered in depth-first
 *               pre-order
 *   transition  an instant at which a location changes its call path (Enter, Leave): from time[i]
 *               on it is in cnode[i], until time[i + 1]
 *   call        an activation of a region with records in it (an MPI call as a rule)
 *   time        int64_t ticks since the global offset of the trace's clock properties, after
 *               ClockOffset correction
 *
 * Invariants: times of a location never decrease (readers clamp and count what does); the last
 * transition is the end of the location's life (its cnode is LC_NONE); call.leave > call.enter;
 * calls, operations and waits of a location are in order of time. */
#ifndef LC_ANALYZE_TRACE_H
#define LC_ANALYZE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/wait_state.h"
#include "analyze/trace_definitions.h"
#include "analyze/transport.h"
#include "base/arena.h"
#include "model/model.h"

struct lc_event_store;
struct lc_health;
struct lc_results;

/* Inter-communicators number the members of their first group from 0, then those of the second. */
static inline uint32_t lc_transport_group(const struct lc_an_comm *comm, uint32_t rank) {
    return comm->n_remote && rank >= comm->n_members;
}

struct lc_mpi_call {
    uint32_t enter, leave; /* transitions; leave while open: another call of the same activation */
    /* its completion records: done[first_done .. first_done of the next call) */
    uint32_t first_done;
    uint16_t fn;         /* enum lc_fn */
    uint16_t task_level; /* of OpenMP: of extra->tasks, those that are executed in it */
};

struct lc_p2p;        /* events.h */
struct lc_coll_part;  /* events.h */
struct lc_loc_extra;  /* events.h */
struct lc_match;      /* events.h */
struct lc_coll_cause; /* events.h */
struct lc_cell;

/* Traces of windows, per operation as far as the list is long: how many of its channel (messages of
 * equal communicator, peer, tag and direction; collectives of a communicator) the process began
 * before it that are not in the trace. */
struct lc_left_out {
    uint32_t *counts;
    size_t n, cap;
};

static inline uint32_t lc_left_out_before(const struct lc_left_out *list, size_t index) {
    return index < list->n ? list->counts[index] : 0;
}

struct lc_path_samples { /* of a call path of one location */
    uint32_t cnode, reserved;
    int64_t n, ns, squares_us2; /* what they stand for; sum of the squares of that */
};

/* The events of one location that this rank owns. */
struct lc_loc {
    uint32_t id, process; /* location, process */
    uint32_t root;        /* its first root call path; LC_NONE if it has no event */
    uint32_t n_transitions, cap_transitions;
    int64_t *time;   /* [n_transitions], ascending */
    uint32_t *cnode; /* [n_transitions], from then on; LC_NONE: outside of all regions */
    struct lc_mpi_call *calls;
    size_t n_calls, cap_calls;
    uint32_t *done; /* completion records: (index << 1 | 1) of colls or (index << 1) of p2p */
    size_t n_done, cap_done;
    struct lc_p2p *p2p;
    size_t n_p2p, cap_p2p;
    struct lc_left_out p2p_left_out, colls_left_out;
    struct lc_match *matches; /* of receives, see lc_p2p.link; while waits are found */
    size_t n_matches, cap_matches;
    struct lc_match *lates; /* late receivers of sends */
    size_t n_lates, cap_lates;
    /* of waiting in collectives; n21: a second one, for
     * docs/definitions/wait-states.md#4-critical-path, after it */
    struct lc_coll_cause *causes;
    size_t n_causes, cap_causes;
    struct lc_coll_part *colls;
    size_t n_colls, cap_colls;
    struct lc_wait *waits; /* ascending start; complete after lc_waits_find */
    size_t n_waits, cap_waits;
    struct lc_wait_parts *parts; /* per wait, zeros without cause; NULL until causes are known */
    struct lc_arrival *arrivals; /* latest call first; complete after lc_waits_find */
    size_t n_arrivals, cap_arrivals;
    struct lc_sync *syncs; /* ascending time */
    size_t n_syncs, cap_syncs;
    struct lc_cell *cells; /* counts and times per call path, until they are in the results */
    size_t n_cells, cap_cells;
    /* call paths that a worker thread entered (not where it only was idle); others: NULL, they
     * entered all of theirs */
    uint32_t *visited;
    size_t n_visited, cap_visited;
    struct lc_path_samples *samples;
    size_t n_samples, cap_samples;
    struct lc_loc_extra *extra; /* threads, locks, windows, phases; NULL: none */
    int64_t init_enter, init_leave, finalize_enter,
        finalize_leave; /* INT64_MIN where there is none */
    uint32_t init_cnode, finalize_cnode;
};

struct lc_trace {
    const struct lc_transport *comm;
    struct lc_arena arena; /* definitions */
    uint64_t ticks_per_second, global_offset;
    struct lc_an_region *regions;
    size_t n_regions;
    struct lc_an_comm *comms;
    size_t n_comms;
    struct lc_an_process *processes;
    size_t n_processes;
    struct lc_an_location *locations;
    size_t n_locations;
    struct lc_an_system_node *system_nodes;
    size_t n_system_nodes;
    struct lc_an_cnode *cnodes;
    size_t n_cnodes;
    struct lc_loc *locs; /* of this rank, ascending id */
    size_t n_locs;
    uint32_t *own;     /* per location: index in locs, LC_NONE: another rank's */
    int64_t t0, t1;    /* first and last event of the trace (all locations) */
    uint64_t n_events; /* read, all ranks */
    /* MPI_Init, MPI_Finalize over all processes (INT64_MIN: not every process has the call) */
    int64_t init_enter_max, init_leave_min, finalize_enter_max;
    uint32_t init_last, finalize_last; /* location that enters last (lowest of equals) */
    struct {                           /* over those processes that have the call: */
        int64_t init_enter_max, init_leave_min, finalize_enter_max;
        uint32_t init_last, finalize_last;
        uint32_t finalize_last_cnode; /* MPI_Finalize of that one */
    } some;
    bool omp;            /* has teams */
    bool sampled;        /* samples have divided some call paths */
    const char *windows; /* what alone was recorded, as the user named it; NULL: everything */
    bool numbered;       /* has gaps; messages and collectives tell how many are in them */
    bool keep_matches;   /* of receives, after the waits are found: for a timeline */
    /* where events lie once they have been read; NULL: on the heap. With one arrays of locations
     * do not grow after they were moved there, and must be freed as trace.c does it. */
    struct lc_event_store *store;
    struct lc_health *health;
    struct lc_results *results;
};

static inline uint32_t lc_trace_owner(const struct lc_trace *trace, uint32_t location) {
    return trace->processes[trace->locations[location].process].owner;
}

/* The location of this rank with that id, or NULL. */
static inline struct lc_loc *lc_trace_loc(const struct lc_trace *trace, uint32_t location) {
    return location < trace->n_locations && trace->own[location] != LC_NONE
               ? &trace->locs[trace->own[location]]
               : NULL;
}

/* Rank of a process in a communicator; LC_NONE: no member. */
uint32_t lc_transport_rank(const struct lc_an_comm *comm, uint32_t process);

/* Frees all that the trace holds, and the trace; NULL: nothing. */
void lc_trace_free(struct lc_trace *trace);

/* Frees all that a location holds. */
void lc_loc_free(const struct lc_trace *trace, struct lc_loc *loc);
/* Frees what the matching left in a location. */
void lc_loc_forget_matches(const struct lc_trace *trace, struct lc_loc *loc);

/* Collective. First and last event, MPI_Init and MPI_Finalize; again after times were changed.
 * Errors are the same on all ranks: LC_ERR_FORMAT: no event at all; LC_ERR_NOMEM. */
enum lc_err lc_trace_bounds(struct lc_trace *trace);

/* Appends a wait state of the location; LC_ERR_NOMEM. */
enum lc_err lc_wait_add(struct lc_loc *loc, const struct lc_wait *wait);
/* Appends a dependence for which nobody waited; LC_ERR_NOMEM. */
enum lc_err lc_wait_arrived(struct lc_loc *loc, const struct lc_arrival *arrival);
/* Appends that the location came to an operation, with that call, at the same instant as the last
 * one: `wait` is what it has of 0 ticks; LC_ERR_NOMEM. */
enum lc_err lc_wait_together(struct lc_loc *loc, const struct lc_wait *wait, uint32_t call);

#endif
