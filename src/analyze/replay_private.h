/* The inside of a replay: what replay_steps.c lists once, and replay.c plays. */
#ifndef LC_ANALYZE_REPLAY_PRIVATE_H
#define LC_ANALYZE_REPLAY_PRIVATE_H

#include "analyze/replay.h"

enum { LC_REPLAY_NO_GROUP = 0, LC_REPLAY_FIRST_INSTANCE = 3 };

struct lc_replay_step {
    int64_t start, end, release; /* an arrival: end = start, release before */
    uint64_t group;              /* all with the same one wait for each other */
    uint32_t location, cause;
    uint32_t slot; /* members of reductions and their root: the same; LC_NONE: others */
    uint8_t kind;  /* enum lc_replay_step_kind */
    bool by_message;
};

enum lc_replay_step_kind { LC_REPLAY_BLOCKED, LC_REPLAY_ARRIVED, LC_REPLAY_MEMBER };

/* Where an instant lies among the transitions of its location. */
struct lc_replay_place {
    uint32_t after; /* the first transition after it */
};

struct lc_replay_release { /* of the step with this number in the gathered list */
    int64_t time;
    uint32_t cause, step;
};

struct lc_replay_released_by {
    uint32_t step, cnode; /* what the cause did just before */
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
}; /* in this order at one instant */
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
    struct lc_replay_step *all;
    size_t n_all;
    struct lc_replay_released_by *released_by; /* in the order in which releases arrive */
    uint32_t *location_of;                     /* of the ends, in the order in which they arrive */
    struct lc_replay_event *events;
    size_t n_events;
    struct lc_replay_front *fronts; /* per location */
    double *sent;                   /* per step: the new time of its release */
    double *met;                    /* per slot: when the last member of a reduction came */
    size_t n_slots;
    double *until;    /* per step: saved until its release */
    uint32_t *before; /* per step: lc_released_by.cnode */
    int64_t *last;    /* per location: its end, INT64_MIN without events */
};

#endif
