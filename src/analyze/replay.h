/* The trace replayed forwards with some time removed: how long the run takes then.
 *
 * Nouns
 *   blocking  a location cannot go on before its cause does something (lc_wait with
 *             LC_WAIT_BLOCKS): in the replay it goes on when its cause has come, members of
 *             barriers and N-to-N operations when all have
 *   arrival   a message, a broadcast, or parts of a reduction or of a nonblocking operation in
 *             which all wait for all, that were there before anybody waited for them (lc_arrival):
 *             in the replay they may come too late
 *   share     of the time between two transitions, the part that goes; negative: time is added
 *
 * Everything else keeps its duration, MPI calls without their waiting among it. Receivers that
 * keep a sender waiting are known only where they did so in the trace. Only meaningful without
 * clock errors.
 *
 * Blockings and arrivals are gathered on rank 0 once (56 bytes each, 32 more while a replay runs);
 * each replay takes a pass over the transitions of all ranks and one over the steps on rank 0.
 * Used by what_if.c, gains.c. */
#ifndef LC_ANALYZE_REPLAY_H
#define LC_ANALYZE_REPLAY_H

#include "analyze/profile.h"

struct lc_replay;

struct lc_replay_change {
    /* Sets share[i] for the time between the transitions i and i + 1 of the location; all 0 when it
     * is called. False: none of its time goes. NULL: none of any */
    bool (*share)(const void *what, const struct lc_loc *loc, double *share);
    const void *what;
    uint32_t unawaited; /* nobody waits for messages sent right after this call path; LC_NONE */
};

/* Steps that rank 0 can hold; of longer traces arrivals are left out, then there is no replay. */
enum { LC_REPLAY_STEPS = 1 << 24 };

/* Bytes that replays of this trace need on this rank, about; 0 where there will be none.
 * Collective. */
uint64_t lc_replay_need(const struct lc_trace *trace);

/* Collective; lc_replay_free frees it. LC_ERR_NOMEM; LC_ERR_RANGE: too many blockings. */
enum lc_err lc_replay_new(struct lc_replay **replay, const struct lc_timelines *lines);
/* NULL is allowed. */
void lc_replay_free(struct lc_replay *replay);

/* *ticks: the length of the run, on rank 0; elsewhere 0. *skipped: of messages that nobody waits
 * for by `unawaited`. Collective. LC_ERR_NOMEM. */
enum lc_err lc_replay_run(struct lc_replay *replay, const struct lc_replay_change *change,
                          double *ticks, size_t *skipped);

/* Some arrivals were left out. The same on all ranks. */
bool lc_replay_is_partial(const struct lc_replay *replay);

#endif
