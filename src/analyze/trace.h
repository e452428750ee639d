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

#include "analyze/transport.h"
#include "base/arena.h"
#include "model/model.h"

struct lc_health;
struct lc_results;

/* What a region is for the analysis, by paradigm, role and name. */
enum lc_fn {
    LC_FN_OTHER,
    LC_FN_MPI_OTHER, /* an MPI call of no special meaning */
    LC_FN_MPI_INIT,
    LC_FN_MPI_FINALIZE,
    LC_FN_MPI_SEND,  /* MPI_Send, MPI_Ssend: may wait for the receiver */
    LC_FN_MPI_SENDX, /* MPI_Bsend, MPI_Rsend, MPI_Sendrecv..: never */
    LC_FN_MPI_ISEND, /* MPI_Isend, MPI_Start..: standard mode */
    LC_FN_MPI_ISSEND,
    LC_FN_MPI_ISENDX,   /* MPI_Ibsend, MPI_Irsend: never */
    LC_FN_MPI_WAIT,     /* MPI_Wait, MPI_Waitany, MPI_Waitall: the largest candidate */
    LC_FN_MPI_WAITSOME, /* the smallest */
    LC_FN_MPI_TEST,     /* MPI_Test*, MPI_Request_get_status, MPI_Probe..: never waits */
    LC_FN_MPI_WIN,      /* MPI_Win_*: construction of windows and everything else on them */
    LC_FN_MPI_IO,       /* MPI_File_* */
    LC_FN_MPI_NEIGHBOR, /* MPI_Neighbor_*, MPI_Ineighbor_* */
    LC_FN_OMP_PARALLEL,
    LC_FN_OMP_BARRIER,
    LC_FN_OMP_IBARRIER,
    LC_FN_OMP_CRITICAL,
    LC_FN_OMP_LOCK_API,
    LC_FN_OMP_TASKWAIT,
    LC_FN_OMP_TASK,
    LC_FN_OMP_OTHER,
    LC_FN_PTHREAD_LOCK,
    LC_FN_COUNT
};

/* An MPI call: only these have wait states of MPI, whatever else has such records. */
static inline bool lc_fn_is_mpi(uint32_t fn) {
    return fn >= LC_FN_MPI_OTHER && fn <= LC_FN_MPI_NEIGHBOR;
}

struct lc_an_region { /* one per name */
    const char *name; /* the region */
    const char *mangled, *file;
    const char *paradigm, *role; /* as in a .cubex */
    uint32_t begin_line, end_line;
    uint8_t fn;      /* enum lc_fn */
    bool mpi;        /* an MPI call */
    bool phase;      /* entries of it are phases of the run */
    bool special;    /* fn or phase need attention at Enter and Leave */
    bool artificial; /* stands for the whole program */
};

struct lc_an_dim {
    uint32_t size;
    bool periodic;
};

struct lc_an_comm {
    uint32_t n_members;
    /* process index per rank; LC_NONE: not in the trace; NULL for MPI_COMM_SELF */
    const uint32_t *members;
    uint32_t n_remote; /* inter-communicators: the other group (messages go there), else 0 */
    const uint32_t *remote;
    uint32_t n_dims; /* Cartesian topology, ranks in row-major order; 0: none known */
    const struct lc_an_dim *dims;
    bool self;   /* MPI_COMM_SELF: everybody its own */
    bool window; /* not a communicator, but a window on one */
};

/* Inter-communicators number the members of their first group from 0, then those of the second. */
static inline uint32_t lc_transport_group(const struct lc_an_comm *comm, uint32_t rank) {
    return comm->n_remote && rank >= comm->n_members;
}

struct lc_an_process {
    int32_t rank;            /* as printed: rank in MPI_COMM_WORLD (order of location groups) */
    uint32_t first_location; /* its locations are consecutive */
    uint32_t n_locations;
    uint32_t system_node;
    uint32_t owner; /* analysis rank */
    const char *name;
};

struct lc_an_location {
    uint64_t otf2_id;
    uint64_t n_events; /* as the archive says */
    uint32_t process;
    int32_t thread;
    const char *name;
};

struct lc_an_system_node {
    uint32_t parent;
    const char *name, *class_name;
};

struct lc_an_cnode {
    uint32_t parent; /* cnode or LC_NONE */
    uint32_t region; /* index into regions */
    uint32_t last;   /* the last descendant: [id, last] is the subtree */
};

enum lc_wait_kind {
    LC_WAIT_LS,
    LC_WAIT_LR,
    LC_WAIT_BARRIER,
    LC_WAIT_N2N,
    LC_WAIT_12N,
    LC_WAIT_N21,
    LC_WAIT_SCAN,
    LC_WAIT_MGMT,
    LC_WAIT_OMP_EBARRIER,
    LC_WAIT_OMP_IBARRIER,
    LC_WAIT_OMP_CRITICAL,
    LC_WAIT_OMP_LOCK,
    LC_WAIT_PTHREAD_LOCK,
    LC_WAIT_OMP_IDLE,
    LC_WAIT_RMA_CREATE,
    LC_WAIT_RMA_FREE,
    LC_WAIT_RMA_FENCE,
    LC_WAIT_RMA_EARLY_WAIT,
    LC_WAIT_RMA_LATE_POST,
    LC_WAIT_RMA_LOCK,
    LC_WAIT_IO,
    LC_WAIT_NEIGHBOR,
    LC_WAIT_TASKWAIT,
    LC_WAIT_INIT,
    LC_WAIT_FINALIZE, /* docs/definitions/wait-states.md#4-critical-path only */
    LC_WAIT_KINDS
};

enum { /* lc_wait.flags */
       /* a wait state of docs/definitions/wait-states.md#2-wait-states: has waiting time, metric,
        * statistics */
       LC_WAIT_STATE = 1,
       /* a blocking of docs/definitions/wait-states.md#4-critical-path. Most have both bits; a root
        * of n21 whose blocking differs has one entry for each */
       LC_WAIT_BLOCKS = 2,
       LC_WAIT_CUT = 4, /* release lies after the end of the call (wrong clocks) */
       LC_WAIT_WO_SAME = 8,
       LC_WAIT_WO_DIFFERENT = 16, /* ls in wrong order */
       LC_WAIT_NO_BYTES = 32,     /* ls, lr: the message has none */
       LC_WAIT_NONBLOCKING = 64   /* in a nonblocking collective operation */
};

/* One wait state (docs/definitions/wait-states.md#21-what-a-wait-state-is): the location is blocked
 * in a call from `start` until the cause does something at `release`. Waiting time w = min(release,
 * end) - start, except where busy_ticks (tasks executed while waiting) is taken off. */
struct lc_wait {
    int64_t start;     /* s */
    int64_t release;   /* u */
    int64_t end;       /* end of the waiting call (e of blocking collectives, lv else) */
    int64_t cause_end; /* end of the call of the cause that released (same meaning) */
    int64_t busy_ticks;
    uint64_t instance;    /* which collective operation: (lc_instance id); UINT64_MAX for others */
    uint32_t cnode;       /* waiting call */
    uint32_t cause;       /* location; LC_NONE where there is none */
    uint32_t cause_cnode; /* the call that released */
    uint8_t kind;         /* enum lc_wait_kind */
    uint8_t flags;
    uint16_t reserved;
};

static inline int64_t lc_wait_ticks(const struct lc_wait *w) {
    return (w->release < w->end ? w->release : w->end) - w->start - w->busy_ticks;
}

/* A synchronisation point that this location belongs to
 * (docs/definitions/wait-states.md#31-synchronisation-points), for everything but messages (those
 * are in the waits: r and its cause). Equal (instance, group) on two locations: the same point. */
struct lc_sync {
    int64_t time;      /* T(S) */
    uint64_t instance; /* operation */
    uint32_t group; /* 0, or where one operation has several points: the location that caused it */
    uint32_t reserved;
};

struct lc_mpi_call {
    uint32_t enter, leave; /* transitions; leave while open: another call of the same activation */
    /* its completion records: done[first_done .. first_done of the next call) */
    uint32_t first_done;
    uint16_t fn; /* enum lc_fn */
    uint16_t reserved;
};

struct lc_p2p;        /* events.h */
struct lc_coll_part;  /* events.h */
struct lc_loc_extra;  /* events.h */
struct lc_match;      /* events.h */
struct lc_coll_cause; /* events.h */
struct lc_cell;

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
    struct lc_match *matches; /* of receives, see lc_p2p.link; while waits are found */
    size_t n_matches, cap_matches;
    struct lc_match *lates; /* late receivers of sends */
    size_t n_lates, cap_lates;
    /* of waiting in collectives; n21: a second one, for
     * docs/definitions/wait-states.md#4-critical-path, behind it */
    struct lc_coll_cause *causes;
    size_t n_causes, cap_causes;
    struct lc_coll_part *colls;
    size_t n_colls, cap_colls;
    struct lc_wait *waits; /* ascending start; complete after lc_waits_find */
    size_t n_waits, cap_waits;
    struct lc_sync *syncs; /* ascending time */
    size_t n_syncs, cap_syncs;
    struct lc_cell *cells; /* counts and times per call path, until they are in the results */
    size_t n_cells, cap_cells;
    /* call paths that a worker thread entered (not where it only was idle); others: NULL, they
     * entered all of theirs */
    uint32_t *visited;
    size_t n_visited, cap_visited;
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
    struct {                           /* the same over those processes that have the call */
        int64_t init_enter_max, init_leave_min, finalize_enter_max;
        uint32_t init_last, finalize_last;
    } some;
    bool omp; /* has teams */
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

/* Frees what the matching left in a location. */
void lc_loc_forget_matches(struct lc_loc *loc);

/* Collective. First and last event, MPI_Init and MPI_Finalize; again after times were changed. */
enum lc_err lc_trace_bounds(struct lc_trace *trace);

#endif
