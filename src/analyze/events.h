/* Records of a location besides its call-path transitions: messages, collective operations,
 * threads, locks, windows. Filled by the readers (read*.c), used by the matching (p2p.c,
 * collective.c, omp.c, rma.c). Fixed-size records of at most 32 bytes. */
#ifndef LC_ANALYZE_EVENTS_H
#define LC_ANALYZE_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {                  /* lc_p2p.flags */
       LC_P2P_RECV = 1, /* else a send */
       LC_P2P_NONBLOCKING = 2,
       /* communicator, peer and tag are known (a receive: it was completed) and not cancelled */
       LC_P2P_KNOWN = 4,
       LC_P2P_SELF = 8, /* to or from the own process */
       LC_P2P_MATCHED = 16,
       LC_P2P_LOST = 32 /* sends: nobody received it */
};

/* One half of a message, in the order of starting (posting). */
struct lc_p2p {
    uint64_t bytes : 48;
    uint64_t flags : 16;
    uint32_t call; /* which started or posted it */
    uint32_t done; /* call that completed it; LC_NONE: none */
    uint32_t peer; /* process */
    uint32_t comm;
    uint32_t tag;
    /* receives: next of the channel while matching, then index of the match; sends: index + 1 of
     * the late receiver, 0: none */
    uint32_t link;
};

/* The other half of a matched message, as the waiting side needs it. */
struct lc_match {
    int64_t enter,
        leave; /* of the sending call; late receivers: of the call that posted the receive */
    uint32_t location, cnode;
};

/* Who ends the waiting of a member of a collective operation. */
struct lc_coll_cause {
    struct lc_match by; /* b, e of the cause */
    uint64_t instance;
};

enum lc_coll_class {
    LC_COLL_BLOCKING,
    LC_COLL_NONBLOCKING,
    LC_COLL_CREATE,
    LC_COLL_RMA,
    LC_COLL_IO,
    LC_COLL_CLASSES
};
enum lc_sync_kind { /* how members wait for each other */
                    LC_KIND_NONE,
                    LC_KIND_BARRIER,
                    LC_KIND_N2N,
                    LC_KIND_N2N_SYNC,
                    LC_KIND_12N,
                    LC_KIND_N21,
                    LC_KIND_SCAN,
                    LC_KIND_MGMT,
                    LC_KIND_FENCE,
                    LC_KIND_WIN_CREATE,
                    LC_KIND_WIN_FREE,
                    LC_KIND_IO,
                    LC_KIND_NEIGHBOR
};
enum {
    LC_COLL_SENDS = 1,
    LC_COLL_RECEIVES = 2,
    LC_COLL_KNOWN = 4,
    LC_COLL_COMPARED = 8,
    LC_COLL_FOR_ALL = 16
};

/* The part of one member in a collective operation. */
struct lc_coll_part {
    int64_t begin; /* b; nonblocking: Enter of the starting call */
    int64_t end;   /* e; nonblocking: Leave of the starting call */
    uint32_t call; /* nonblocking: the starting one */
    uint32_t comm;
    uint32_t root; /* rank, LC_NONE; after the matching: index + 1 of its cause, 0: does not wait */
    uint32_t done : 8, op : 8, klass : 4, kind : 4, flags : 8;
};

/* Thread teams: a fork (on the forking location, with its own part in the team), or the part of a
 * worker in a team. */
struct lc_team_event {
    int64_t begin, end; /* fork and join; workers: begin and end of their part */
    uint64_t team;      /* communicator of the archive */
    uint32_t cnode;     /* call path of the fork; workers: LC_NONE where it was not known */
    uint32_t first_transition, end_transition; /* of the location's part */
    uint32_t first_call, end_call; /* calls (barriers among them) of the location's part */
    uint32_t fork_location, fork;  /* workers: the fork, as index into teams of that location */
    uint32_t outer, outer_part;    /* the fork, the part that was open before; LC_NONE: none */
    uint64_t task;                 /* that the thread was in before it came to the team */
    bool forked;                   /* by this location */
    bool begun;                    /* has a part */
};

struct lc_lock_event {
    int64_t enter;              /* of the acquiring region */
    int64_t acquired, released; /* released: INT64_MAX while held */
    uint64_t lock;              /* paradigm and id */
    uint32_t order;
    uint32_t cnode, release_cnode;
    uint32_t fn;
};

struct lc_span {
    int64_t begin, end;
};
struct lc_spans { /* one after the other */
    struct lc_span *all;
    size_t n, cap;
};
enum { LC_TASK_LEVELS = 16 }; /* tasks that are executed while others wait, while others .. */

/* What records of tasks tell: only traces of some tools have them. */
enum lc_task_what {
    LC_TASK_CREATED, /* by the task `other` */
    LC_TASK_BEGUN,
    LC_TASK_ENDED,
    LC_TASK_WAITS,      /* taskwait: `task` waits for its children */
    LC_TASK_WAITS_GROUP /* the end of a taskgroup: for what they created, too */
};
struct lc_task_event {
    int64_t time;
    uint64_t task; /* within the process */
    union {
        uint64_t other;
        uint64_t call; /* waits: index */
    };
    uint32_t cnode; /* ended: of the task; else where the location is */
    uint32_t what;  /* enum lc_task_what */
};

struct lc_phase {
    int64_t begin, end;
    uint32_t region, number; /* number: counted from 0 per location and region */
};

enum lc_rma_type { LC_RMA_POST, LC_RMA_START, LC_RMA_COMPLETE, LC_RMA_WAIT };
struct lc_rma {              /* a synchronisation of a group on a window */
    const uint32_t *members; /* processes */
    uint32_t n_members;
    uint32_t window; /* in trace->comms */
    uint32_t call;
    uint32_t type;
};

struct lc_rma_lock { /* an epoch under the lock of a window */
    int64_t acquired, released;
    uint32_t open, close; /* calls; close: LC_NONE while held */
    uint32_t window;      /* in trace->comms */
    uint32_t target;      /* rank in it; LC_NONE: all */
    uint32_t lock;
    bool shared;
};

struct lc_rma_flush { /* a call that completed operations under a lock */
    uint32_t window;
    uint32_t call;
};

/* What is counted per call path while reading; in the order of lc_count_metrics. */
enum lc_count {
    LC_COUNT_SYNCS_SEND,
    LC_COUNT_SYNCS_RECV,
    LC_COUNT_COMMS_SEND,
    LC_COUNT_COMMS_RECV,
    LC_COUNT_BYTES_SENT,
    LC_COUNT_BYTES_RCVD,
    LC_COUNT_SYNCS_COLL,
    LC_COUNT_COMMS_CSRC,
    LC_COUNT_COMMS_CDST,
    LC_COUNT_COMMS_CXCH,
    LC_COUNT_BYTES_COUT,
    LC_COUNT_BYTES_CIN,
    LC_COUNT_BYTES_PUT,
    LC_COUNT_BYTES_GET,
    LC_COUNTS
};
extern const char *const lc_count_metrics[LC_COUNTS];

enum lc_cell_metric { /* after enum lc_count */
                      LC_CELL_VISITS = LC_COUNTS,
                      LC_CELL_TIME, /* exclusive */
                      LC_CELL_SAMPLES,
                      LC_CELL_SAMPLED_NS, /* what they stand for */
                      LC_CELL_SQUARES_US2 /* sum of the squares of that, each in us */
};
struct lc_cell { /* of a location; metric: enum lc_count, enum lc_cell_metric */
    uint32_t cnode, metric;
    int64_t value;
};

/* Only for locations that have such events. */
struct lc_loc_extra {
    struct lc_team_event *teams;
    size_t n_teams, cap_teams;
    struct lc_lock_event *locks;
    size_t n_locks, cap_locks;
    struct lc_spans *tasks; /* [LC_TASK_LEVELS]: tasks executed inside of a waiting construct */
    struct lc_task_event *task_events;
    size_t n_task_events, cap_task_events;
    struct lc_phase *phases;
    size_t n_phases, cap_phases;
    struct lc_rma *rma;
    size_t n_rma, cap_rma;
    struct lc_rma_lock *rma_locks;
    size_t n_rma_locks, cap_rma_locks;
    struct lc_rma_flush *rma_flushes; /* in order of the calls */
    size_t n_rma_flushes, cap_rma_flushes;
};

#endif
