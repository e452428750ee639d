/* The inside of a replay: what replay_steps.c lists once, and replay.c plays. */
#ifndef LC_ANALYZE_REPLAY_PRIVATE_H
#define LC_ANALYZE_REPLAY_PRIVATE_H

#include "analyze/replay.h"

enum { LC_REPLAY_NO_GROUP = 0, LC_REPLAY_FIRST_INSTANCE = 3 };

struct lc_replay_step {
    int64_t start, end, release; /* an arrival: end = start, release before */
    uint64_t group;              /* all with the same one wait for each other */
    uint32_t location, cause;
    uint32_t slot; /* who gives parts and who needs all of them: the same; LC_NONE: others */
    uint32_t at;   /* members, arrivals: the transition with which its call begins */
    uint8_t kind;  /* enum lc_replay_step_kind */
    bool by_message;
    bool posted; /* it waits for a receive to be posted */
};

enum lc_replay_step_kind { LC_REPLAY_BLOCKED, LC_REPLAY_ARRIVED, LC_REPLAY_MEMBER };

/* Where an instant lies among the transitions of its location. */
struct lc_replay_place {
    uint32_t after; /* the first transition after it */
};

struct lc_replay_release { /* of the step with this number in the gathered list */
    int64_t time;
    uint32_t cause, step;
    uint32_t location; /* of the step */
    bool posted;       /* by a receive */
};

struct lc_replay_released_by {
    uint32_t step, cnode; /* what the cause did just before */
    uint32_t at;          /* the transition with which the releasing call begins */
};

/* Saved on the way to each instant of a step. */
struct lc_replay_saved {
    double start, end;
};

/* Where the replay of a location stands: at the old instant `at` the new time is `now`. */
struct lc_replay_front {
    int64_t at;
    double saved, now;
};

enum lc_replay_event_kind {
    LC_REPLAY_GIVES,
    LC_REPLAY_GO_ON,
    LC_REPLAY_ARRIVES,
    LC_REPLAY_IS_SENT
}; /* in this order at one instant, where nothing depends on another (replay_order.c) */
struct lc_replay_event {
    int64_t time;
    uint32_t step, kind;
};

struct lc_replay {
    const struct lc_trace *trace;
    bool partial;
    /* of this rank */
    struct lc_replay_step *steps; /* by location */
    struct lc_replay_place *starts, *ends;
    size_t n_steps;
    struct lc_replay_release *releases; /* by cause */
    struct lc_replay_place *places;
    size_t n_releases;
    double *share, *sums;          /* of the location with most transitions */
    struct lc_replay_saved *saved; /* [n_steps] */
    double *saved_release, *saved_last;
    /* rank 0 */
    struct lc_replay_step *all; /* `steps`, where there is one rank */
    size_t n_all;
    struct lc_replay_released_by *released_by; /* in the order in which releases arrive */
    uint32_t *location_of;                     /* of the ends, in the order in which they arrive */
    struct lc_replay_event *events;
    size_t n_events;
    struct lc_replay_front *fronts; /* per location */
    double *sent;                   /* per step: the new time of its release */
    double *met;                    /* per slot: when the last part was given */
    size_t n_slots;
    double *until;    /* per step: saved until its release */
    uint32_t *before; /* per step: lc_released_by.cnode */
    uint32_t *at;     /* per step: lc_released_by.at, until the events are in order */
    int64_t *last;    /* per location: its end, INT64_MIN without events */
};

/* All of `own`, on rank 0; of a single rank that itself, no copy. Collective. LC_ERR_NOMEM. */
static inline enum lc_err lc_replay_gather(const struct lc_transport *comm, void *own, size_t bytes,
                                           void **all, size_t *all_bytes) {
    if (comm->size > 1)
        return lc_transport_gather(comm, own, bytes, all, all_bytes, NULL);
    *all = own;
    *all_bytes = bytes;
    return LC_OK;
}

/* On rank 0: events at one instant in the order in which they depend on each other. Before, they
 * are sorted by time and kind, members of a group next to each other; these stay so.
 * LC_ERR_NOMEM. */
enum lc_err lc_replay_order(struct lc_replay *replay);

/* The number of events from this one on that are played together: all of a group that go on. */
static inline size_t lc_replay_together(const struct lc_replay *replay, size_t event) {
    const struct lc_replay_event *e = &replay->events[event];
    uint64_t group = replay->all[e->step].group;
    size_t n = 1;
    while (e->kind == LC_REPLAY_GO_ON && group != LC_REPLAY_NO_GROUP &&
           event + n < replay->n_events && e[n].time == e->time && e[n].kind == LC_REPLAY_GO_ON &&
           replay->all[e[n].step].group == group)
        n++;
    return n;
}

#endif
