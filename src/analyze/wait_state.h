/* Wait states of a location, and the synchronisation points that it belongs to. */
#ifndef LC_ANALYZE_WAIT_STATE_H
#define LC_ANALYZE_WAIT_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum lc_wait_kind {
    LC_WAIT_LS,
    LC_WAIT_LR,
    LC_WAIT_PROBE,
    LC_WAIT_POLL,
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
    LC_WAIT_FINALIZE,
    LC_WAIT_INIT, /* docs/definitions/wait-states.md#4-critical-path only */
    LC_WAIT_KINDS
};

enum { /* lc_wait.flags; none of the first two: of MPI_Probe and of calls that only ask, which have
        * a metric, and no part in docs/definitions/wait-states.md, sections 3 and 4 */
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
       LC_WAIT_NONBLOCKING = 64,  /* in a nonblocking collective operation */
       LC_WAIT_FOR_ALL = 128      /* .. in which all wait for all: members say when they come */
};

/* One wait state (docs/definitions/wait-states.md#21-what-a-wait-state-is): the location is blocked
 * in a call from `start` until the cause does something at `release`. Waiting time w = min(release,
 * end) - start, except where busy_ticks (tasks executed while waiting, code between calls that
 * only ask) is taken off. */
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

/* Why the cause of a wait state came late (docs/definitions/wait-states.md, section 3.2), in ticks
 * of its interval. */
struct lc_wait_parts {
    int64_t code;  /* D: excess of its code */
    int64_t waits; /* W: its own waiting */
};

static inline int64_t lc_wait_ticks(const struct lc_wait *w) {
    return (w->release < w->end ? w->release : w->end) - w->start - w->busy_ticks;
}

enum lc_arrival_kind {
    LC_ARRIVED_MESSAGE, /* a message was there before the call needed it */
    LC_ARRIVED_DATA,    /* data of a root or neighbour, a post or complete, the release of a lock */
    LC_ARRIVED_MEMBER,  /* this location gave its part to a reduction, or to a nonblocking operation
                         * in which all wait for all, and went on */
    LC_ARRIVED_ALL,     /* this call needs all parts, and nobody came later */
    LC_ARRIVED_TOGETHER /* this call came to a blocking operation in which all wait for all at the
                         * same instant as the last one, the cause */
};

enum { LC_ARRIVAL_CAUSE = (1 << 29) - 1 }; /* largest */

/* All members wait for each other, and for nothing else, until the last has come. */
static inline bool lc_wait_is_mutual(const struct lc_wait *w) {
    switch (w->kind) {
    case LC_WAIT_BARRIER:
    case LC_WAIT_N2N:
    case LC_WAIT_MGMT:
    case LC_WAIT_OMP_EBARRIER:
    case LC_WAIT_OMP_IBARRIER:
    case LC_WAIT_RMA_CREATE:
    case LC_WAIT_RMA_FREE:
    case LC_WAIT_RMA_FENCE:
    case LC_WAIT_IO:
        return w->instance != UINT64_MAX && !(w->flags & LC_WAIT_NONBLOCKING);
    default:
        return false;
    }
}

/* A dependence for which nobody waited, or which came while the call waited for a later one. */
struct lc_arrival {
    union {
        int64_t release;   /* u: before the call began, or later than that */
        uint64_t instance; /* of the operation that parts are given to, or that all came to */
    };
    uint32_t call;
    uint32_t cause : 29; /* location; where parts are given: not used */
    uint32_t kind : 3;   /* enum lc_arrival_kind */
};

/* A synchronisation point that this location belongs to
 * (docs/definitions/wait-states.md#31-synchronisation-points), except for those of two locations
 * alone (these are in the waits: r and its cause). Equal (instance, group) on two locations: the
 * same point. */
struct lc_sync {
    int64_t time;      /* T(S) */
    uint64_t instance; /* operation */
    uint32_t group; /* 0, or where one operation has several points: the location that caused it */
    uint32_t reserved;
};

#endif
