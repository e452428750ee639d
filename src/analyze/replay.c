#include <stdlib.h>
#include <string.h>

#include "analyze/replay_private.h"

/* --- what is saved until an instant --- */

/* sums[i]: saved until transition i. False: nothing is saved there, and they are not set. */
static bool sum_shares(struct lc_replay *replay, const struct lc_replay_change *change,
                       const struct lc_loc *loc) {
    if (change->share == NULL)
        return false;
    memset(replay->share, 0, (loc->n_transitions + (size_t)1) * sizeof(double));
    if (!change->share(change->what, loc, replay->share))
        return false;
    replay->sums[0] = 0;
    for (uint32_t i = 0; i + 1 < loc->n_transitions; i++)
        replay->sums[i + 1] =
            replay->sums[i] + replay->share[i] * (double)(loc->time[i + 1] - loc->time[i]);
    return true;
}

static double saved_until(const struct lc_replay *replay, const struct lc_loc *loc,
                          struct lc_replay_place place, int64_t time) {
    uint32_t before = place.after - 1;
    if (place.after == 0)
        return 0;
    if (place.after == loc->n_transitions)
        return replay->sums[before];
    return replay->sums[before] + replay->share[before] * (double)(time - loc->time[before]);
}

static void save_all(struct lc_replay *replay, const struct lc_replay_change *change) {
    const struct lc_trace *trace = replay->trace;
    size_t s = 0, r = 0;
    for (size_t l = 0; l < trace->n_locs; l++) { /* ascending ids: steps, releases are, too */
        const struct lc_loc *loc = &trace->locs[l];
        bool any = sum_shares(replay, change, loc);
        replay->saved_last[l] =
            any && loc->n_transitions > 0 ? replay->sums[loc->n_transitions - 1] : 0;
        for (; s < replay->n_steps && replay->steps[s].location == loc->id; s++)
            replay->saved[s] =
                any ? (struct lc_replay_saved){saved_until(replay, loc, replay->starts[s],
                                                           replay->steps[s].start),
                                               saved_until(replay, loc, replay->ends[s],
                                                           replay->steps[s].end)}
                    : (struct lc_replay_saved){0, 0};
        for (; r < replay->n_releases && replay->releases[r].cause == loc->id; r++)
            replay->saved_release[r] =
                any ? saved_until(replay, loc, replay->places[r], replay->releases[r].time) : 0;
    }
}

/* --- the replay, on rank 0 --- */

static double new_time(const struct lc_replay_front *front, int64_t at, double saved) {
    return front->now + (double)(at - front->at) - (saved - front->saved);
}

/* A member gives its part. */
static void give(struct lc_replay *replay, const struct lc_replay_saved *saved, uint32_t step) {
    const struct lc_replay_step *s = &replay->all[step];
    double now = new_time(&replay->fronts[s->location], s->start, saved[step].start);
    if (now > replay->met[s->slot])
        replay->met[s->slot] = now;
}

/* All of a group, or a single blocking: nobody goes on before the latest has come. */
static void go_on(struct lc_replay *replay, const struct lc_replay_saved *saved,
                  const struct lc_replay_event *events, size_t n) {
    const struct lc_replay_step *first = &replay->all[events->step];
    struct lc_replay_front *fronts = replay->fronts, *cause = &fronts[first->cause];
    bool mutual = first->group != LC_REPLAY_NO_GROUP && first->slot == LC_NONE;
    double met = first->slot != LC_NONE
                     ? replay->met[first->slot]
                     : new_time(cause, first->release, replay->until[events->step]);
    for (size_t i = 0; i < n && mutual; i++) {
        const struct lc_replay_step *s = &replay->all[events[i].step];
        double start = new_time(&fronts[s->location], s->start, saved[events[i].step].start);
        met = start > met ? start : met;
    }
    for (size_t i = 0; i < n; i++) {
        const struct lc_replay_step *s = &replay->all[events[i].step];
        struct lc_replay_front *front = &fronts[s->location];
        double start = new_time(front, s->start, saved[events[i].step].start);
        *front =
            (struct lc_replay_front){s->end, saved[events[i].step].end, start > met ? start : met};
    }
    if (mutual && cause->at <= first->release)
        *cause = (struct lc_replay_front){first->release, replay->until[events->step], met};
}

static void arrive(struct lc_replay *replay, const struct lc_replay_saved *saved, uint32_t step) {
    const struct lc_replay_step *s = &replay->all[step];
    struct lc_replay_front *front = &replay->fronts[s->location];
    double start = new_time(front, s->start, saved[step].start);
    double there = s->slot != LC_NONE ? replay->met[s->slot] : replay->sent[step];
    if (there > start)
        *front = (struct lc_replay_front){s->start, saved[step].start, there};
}

static bool is_unawaited(const struct lc_replay *replay, const struct lc_replay_change *change,
                         uint32_t step) {
    return change->unawaited != LC_NONE && replay->all[step].by_message &&
           replay->before[step] == change->unawaited;
}

static void play(struct lc_replay *replay, const struct lc_replay_change *change,
                 const struct lc_replay_saved *saved, size_t *skipped) {
    for (size_t i = 0, end; i < replay->n_events; i = end) {
        const struct lc_replay_event *e = &replay->events[i];
        const struct lc_replay_step *s = &replay->all[e->step];
        end = i + lc_replay_together(replay, i);
        if (is_unawaited(replay, change, e->step)) {
            if (e->kind == LC_REPLAY_GO_ON) { /* it goes on as it came */
                double start =
                    new_time(&replay->fronts[s->location], s->start, saved[e->step].start);
                replay->fronts[s->location] =
                    (struct lc_replay_front){s->end, saved[e->step].end, start};
                ++*skipped;
            }
        } else if (e->kind == LC_REPLAY_GO_ON) {
            go_on(replay, saved, e, end - i);
        } else if (e->kind == LC_REPLAY_IS_SENT) {
            replay->sent[e->step] =
                new_time(&replay->fronts[s->cause], s->release, replay->until[e->step]);
        } else if (e->kind == LC_REPLAY_GIVES) {
            give(replay, saved, e->step);
        } else {
            arrive(replay, saved, e->step);
        }
    }
}

static double latest_end(const struct lc_replay *replay, const double *ends) {
    double length = 0;
    for (size_t i = 0; i < replay->trace->n_locations; i++) {
        uint32_t l = replay->location_of[i];
        double end = replay->last[l] != INT64_MIN
                         ? new_time(&replay->fronts[l], replay->last[l], ends[i])
                         : 0;
        length = end > length ? end : length;
    }
    return length;
}

enum lc_err lc_replay_run(struct lc_replay *replay, const struct lc_replay_change *change,
                          double *ticks, size_t *skipped) {
    const struct lc_transport *comm = replay->trace->comm;
    struct lc_replay_saved *saved = NULL;
    double *until = NULL, *ends = NULL;
    size_t bytes = 0;
    *ticks = 0;
    *skipped = 0;
    save_all(replay, change);
    enum lc_err err = lc_replay_gather(comm, replay->saved, replay->n_steps * sizeof *saved,
                                       (void **)&saved, &bytes);
    if (err == LC_OK)
        err = lc_replay_gather(comm, replay->saved_release, replay->n_releases * sizeof *until,
                               (void **)&until, &bytes);
    if (err == LC_OK)
        err = lc_replay_gather(comm, replay->saved_last, replay->trace->n_locs * sizeof *ends,
                               (void **)&ends, &bytes);
    if (err == LC_OK && comm->rank == 0) {
        for (size_t i = 0; i < replay->n_all; i++)
            replay->until[replay->released_by[i].step] = until[i];
        for (size_t i = 0; i < replay->trace->n_locations; i++)
            replay->fronts[i] = (struct lc_replay_front){replay->trace->t0, 0, 0};
        memset(replay->met, 0, replay->n_slots * sizeof *replay->met);
        play(replay, change, saved, skipped);
        *ticks = latest_end(replay, ends);
    }
    if (comm->size > 1) {
        free(saved);
        free(until);
        free(ends);
    }
    return lc_transport_agree(comm, err);
}
