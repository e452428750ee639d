#include "analyze/replay_private.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/events.h"
#include "analyze/radix.h"
#include "base/lookup.h"
#include "base/mem.h"

/* At most at one time, of each step: on its rank, and on rank 0; measured by `latecomer.sh measure
 * 'analyze.ranks.*'`. */
enum { BYTES_PER_STEP = 216, BYTES_PER_GATHERED_STEP = 190 };

/* --- the steps --- */

/* Instances count from 0; MPI_Init and MPI_Finalize are the first two groups. */
static uint64_t group_of(const struct lc_wait *w) {
    if (w->kind == LC_WAIT_INIT || w->kind == LC_WAIT_FINALIZE)
        return w->kind == LC_WAIT_INIT ? 1 : 2;
    return lc_wait_is_mutual(w) ? w->instance + LC_REPLAY_FIRST_INSTANCE : LC_REPLAY_NO_GROUP;
}

/* near: where another instant close to this one lies. */
static struct lc_replay_place place_of(const struct lc_loc *loc, int64_t time,
                                       struct lc_replay_place near) {
    size_t after = LC_FIRST_WHERE_NEAR(i, near.after, loc->n_transitions, loc->time[i] > time);
    return (struct lc_replay_place){(uint32_t)after};
}

static void add_step(struct lc_replay *replay, struct lc_replay_step step) {
    replay->steps[replay->n_steps++] = step;
}

/* When the location came to the blocking operation that the call is. */
static int64_t came_at(const struct lc_loc *loc, const struct lc_mpi_call *call) {
    size_t end = call + 1 < loc->calls + loc->n_calls ? call[1].first_done : loc->n_done;
    for (size_t i = call->first_done; i < end; i++) {
        const struct lc_coll_part *coll = &loc->colls[loc->done[i] >> 1];
        if (loc->done[i] & 1 && coll->klass != LC_COLL_NONBLOCKING)
            return coll->begin;
    }
    return loc->time[call->enter];
}

/* It waits for all others, like those that came before. */
static struct lc_replay_step step_together(const struct lc_loc *loc, int64_t came, uint64_t group,
                                           uint32_t cause, uint32_t at) {
    return (struct lc_replay_step){.start = came,
                                   .end = came,
                                   .release = came,
                                   .group = group,
                                   .location = loc->id,
                                   .cause = cause,
                                   .slot = LC_NONE,
                                   .at = at,
                                   .kind = LC_REPLAY_BLOCKED};
}

static struct lc_replay_step step_of(const struct lc_loc *loc, const struct lc_arrival *a) {
    const struct lc_mpi_call *call = &loc->calls[a->call];
    int64_t enter = loc->time[call->enter], leave = loc->time[call->leave];
    if (a->kind == LC_ARRIVED_TOGETHER)
        return step_together(loc, came_at(loc, call), a->instance + LC_REPLAY_FIRST_INSTANCE,
                             a->cause, call->enter);
    bool of_parts = a->kind == LC_ARRIVED_MEMBER || a->kind == LC_ARRIVED_ALL;
    bool waited = !of_parts && a->release > enter; /* for this one, too */
    return (struct lc_replay_step){.start = enter,
                                   .end = !waited              ? enter
                                          : a->release < leave ? a->release
                                                               : leave,
                                   .release = of_parts ? enter : a->release,
                                   .group = of_parts ? a->instance + LC_REPLAY_FIRST_INSTANCE
                                                     : LC_REPLAY_NO_GROUP,
                                   .location = loc->id,
                                   .cause = of_parts ? loc->id : a->cause,
                                   .slot = of_parts ? 0 : LC_NONE,
                                   .at = call->enter,
                                   .kind = waited                         ? LC_REPLAY_BLOCKED
                                           : a->kind == LC_ARRIVED_MEMBER ? LC_REPLAY_MEMBER
                                                                          : LC_REPLAY_ARRIVED,
                                   .by_message = a->kind == LC_ARRIVED_MESSAGE};
}

static bool blocks(const struct lc_wait *w) {
    return (w->flags & LC_WAIT_BLOCKS) && w->cause != LC_NONE;
}

static int by_end(const void *a, const void *b) {
    const struct lc_replay_step *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return (x->cause > y->cause) - (x->cause < y->cause);
}

/* Those that came last to MPI_Init or MPI_Finalize, but for the one that is the cause. */
struct last_ones {
    struct lc_replay_step steps[2];
    size_t n;
};

static struct last_ones last_ones_of(const struct lc_trace *trace, const struct lc_loc *loc) {
    const int64_t came[2] = {loc->init_enter, loc->finalize_enter},
                  last[2] = {trace->some.init_enter_max, trace->some.finalize_enter_max};
    const uint32_t cause[2] = {trace->some.init_last, trace->some.finalize_last},
                   cnode[2] = {loc->init_cnode, loc->finalize_cnode};
    struct last_ones found = {.n = 0};
    for (uint64_t i = 0; i < 2; i++) {
        if (came[i] == INT64_MIN || came[i] != last[i] || cause[i] == loc->id)
            continue;
        size_t at = LC_FIRST_WHERE(k, 0, loc->n_transitions, loc->time[k] >= came[i]);
        while (at + 1 < loc->n_transitions && loc->cnode[at] != cnode[i])
            at++;
        found.steps[found.n++] = step_together(loc, came[i], i + 1, cause[i], (uint32_t)at);
    }
    return found;
}

/* A call that waits for several waits for the first to come, then for the next. steps[first ..] are
 * those of the location. */
static void chain_steps(struct lc_replay *replay, const struct lc_loc *loc, size_t first) {
    struct lc_replay_step *steps = replay->steps;
    bool several = false;
    for (size_t k = 0; k < loc->n_arrivals && !several && !replay->partial; k++)
        several = step_of(loc, &loc->arrivals[k]).kind == LC_REPLAY_BLOCKED;
    if (several)
        qsort(&steps[first], replay->n_steps - first, sizeof *steps, by_end);
    const struct lc_replay_step *last = NULL; /* blocked, and since when */
    int64_t since = 0;
    for (size_t i = first; several && i < replay->n_steps; i++) {
        if (steps[i].kind != LC_REPLAY_BLOCKED)
            continue;
        int64_t start = steps[i].start;
        if (last && start == since)
            steps[i].start = last->end;
        since = start;
        last = &steps[i];
    }
    struct lc_replay_place near = {0};
    for (size_t i = first; i < replay->n_steps; i++) {
        near = replay->starts[i] = place_of(loc, steps[i].start, near);
        replay->ends[i] = place_of(loc, steps[i].end, near);
    }
}

static enum lc_err list_steps(struct lc_replay *replay, size_t n) {
    const struct lc_trace *trace = replay->trace;
    LC_TRY(lc_alloc(&replay->steps, n + 1, sizeof *replay->steps));
    LC_TRY(lc_alloc(&replay->starts, n + 1, sizeof *replay->starts));
    LC_TRY(lc_alloc(&replay->ends, n + 1, sizeof *replay->ends));
    for (size_t l = 0; l < trace->n_locs; l++) {
        const struct lc_loc *loc = &trace->locs[l];
        size_t first = replay->n_steps;
        for (size_t k = 0; k < loc->n_waits; k++) {
            const struct lc_wait *w = &loc->waits[k];
            bool is_slot =
                (w->kind == LC_WAIT_N21 || w->flags & LC_WAIT_FOR_ALL) && !replay->partial;
            if (blocks(w))
                add_step(
                    replay,
                    (struct lc_replay_step){
                        .start = w->start,
                        .end = w->release < w->end ? w->release : w->end,
                        .release = w->release,
                        .group = is_slot ? w->instance + LC_REPLAY_FIRST_INSTANCE : group_of(w),
                        .location = loc->id,
                        .cause = w->cause,
                        .slot = is_slot ? 0 : LC_NONE,
                        .kind = LC_REPLAY_BLOCKED,
                        .by_message = w->kind == LC_WAIT_LS || w->kind == LC_WAIT_PROBE,
                        .posted = w->kind == LC_WAIT_LR});
        }
        for (size_t k = 0; k < loc->n_arrivals && !replay->partial; k++)
            add_step(replay, step_of(loc, &loc->arrivals[k]));
        struct last_ones last = last_ones_of(trace, loc);
        for (size_t k = 0; k < last.n; k++)
            add_step(replay, last.steps[k]);
        chain_steps(replay, loc, first);
    }
    return LC_OK;
}

/* Blockings and arrivals of this rank, and of all ranks. */
static void count_steps(const struct lc_trace *trace, int64_t own[2], int64_t all[2]) {
    own[0] = own[1] = 0;
    for (size_t l = 0; l < trace->n_locs; l++) {
        own[1] += (int64_t)trace->locs[l].n_arrivals;
        own[0] += (int64_t)last_ones_of(trace, &trace->locs[l]).n;
        for (size_t k = 0; k < trace->locs[l].n_waits; k++)
            own[0] += blocks(&trace->locs[l].waits[k]);
    }
    memcpy(all, own, 2 * sizeof *all);
    lc_transport_allreduce_i64(trace->comm, all, 2, LC_OP_SUM);
}

/* --- releases, at the owners of the causes --- */

static uint64_t cause_key(const void *releases, uint32_t index, int level) {
    const struct lc_replay_release *r = (const struct lc_replay_release *)releases + index;
    return level == 0 ? lc_key_signed(r->time) : r->cause;
}

/* Steps of the ranks before this one. */
static enum lc_err first_number(const struct lc_replay *replay, uint32_t *first) {
    const struct lc_transport *comm = replay->trace->comm;
    int64_t *counts = NULL;
    LC_TRY(lc_transport_agree(comm, lc_alloc(&counts, comm->size, sizeof *counts)));
    counts[comm->rank] = (int64_t)replay->n_steps;
    lc_transport_allreduce_i64(comm, counts, comm->size, LC_OP_SUM);
    *first = 0;
    for (uint32_t r = 0; r < comm->rank; r++)
        *first += (uint32_t)counts[r];
    free(counts);
    return LC_OK;
}

static enum lc_err send_releases(struct lc_replay *replay) {
    const struct lc_trace *trace = replay->trace;
    struct lc_replay_release *mine = NULL;
    uint32_t *dest = NULL, first = 0;
    enum lc_err err = lc_alloc(&mine, replay->n_steps + 1, sizeof *mine);
    if (err == LC_OK)
        err = lc_alloc(&dest, replay->n_steps + 1, sizeof *dest);
    err = lc_transport_agree(trace->comm, err);
    if (err == LC_OK)
        err = first_number(replay, &first);
    for (size_t i = 0; i < replay->n_steps && err == LC_OK; i++) {
        mine[i] = (struct lc_replay_release){replay->steps[i].release, replay->steps[i].cause,
                                             first + (uint32_t)i, replay->steps[i].location,
                                             replay->steps[i].posted};
        dest[i] = lc_trace_owner(trace, replay->steps[i].cause);
    }
    if (err == LC_OK)
        err = lc_transport_exchange(trace->comm, mine, dest, replay->n_steps, sizeof *mine,
                                    (void **)&replay->releases, &replay->n_releases);
    free(mine);
    free(dest);
    return err;
}

static bool is_in_mpi(const struct lc_trace *trace, uint32_t cnode) {
    return cnode != LC_NONE && trace->regions[trace->cnodes[cnode].region].mpi;
}

/* A stretch of one exact call path, which samples may have divided. */
struct stretch {
    uint32_t exact, cnode; /* cnode: of its longest part */
    int64_t ticks, longest;
    bool divided;
};

/* Adds the next transition; it may begin another stretch. */
static void add_part(const struct lc_trace *trace, struct stretch *s, uint32_t cnode,
                     int64_t ticks) {
    uint32_t exact = cnode != LC_NONE ? trace->cnodes[cnode].exact : LC_NONE;
    bool divided = exact != cnode;
    if (exact != s->exact || !(divided || s->divided))
        *s = (struct stretch){.exact = exact, .longest = -1};
    s->divided = divided;
    s->ticks += ticks;
    if (ticks >= s->longest) {
        s->longest = ticks;
        s->cnode = cnode;
    }
}

/* before[i]: where the location was longest between its last MPI call and the one that begins with
 * transition i; of several, the last. All at once, so that code without MPI is looked at once. */
static void code_before_calls(const struct lc_trace *trace, const struct lc_loc *loc,
                              uint32_t *before) {
    struct stretch stretch = {.exact = LC_NONE};
    uint32_t cnode = LC_NONE;
    int64_t longest = -1;
    bool after_mpi = false;
    before[0] = LC_NONE;
    for (uint32_t i = 1; i <= loc->n_transitions; i++) {
        bool mpi = is_in_mpi(trace, loc->cnode[i - 1]);
        if (!mpi && after_mpi) {
            stretch = (struct stretch){.exact = LC_NONE};
            cnode = LC_NONE;
            longest = -1;
        }
        after_mpi = mpi;
        if (!mpi && i < loc->n_transitions) {
            add_part(trace, &stretch, loc->cnode[i - 1], loc->time[i] - loc->time[i - 1]);
            if (stretch.ticks >= longest) {
                longest = stretch.ticks;
                cnode = stretch.cnode;
            }
        }
        before[i] = cnode;
    }
}

/* Where the release before this one was found. */
struct near {
    struct lc_replay_place place;
    size_t call, p2p;
};

/* The transition with which the call of the cause begins that releases the step: where several
 * begin at that instant, the one that sends to the step's location, or receives from it; else the
 * last. */
static uint32_t call_of(const struct lc_trace *trace, const struct lc_loc *loc,
                        struct lc_replay_place place, const struct lc_replay_release *r,
                        struct near *near) {
    enum { LOOKED_AT = 64 };
    uint32_t peer = trace->locations[r->location].process;
    size_t from = LC_FIRST_WHERE_NEAR(i, place.after, loc->n_transitions, loc->time[i] >= r->time);
    size_t first = LC_FIRST_WHERE_NEAR(i, near->call, loc->n_calls, loc->calls[i].enter >= from);
    size_t end = LC_FIRST_WHERE_NEAR(i, first, loc->n_calls, loc->calls[i].enter >= place.after);
    size_t k = LC_FIRST_WHERE_NEAR(i, near->p2p, loc->n_p2p, loc->p2p[i].call >= first);
    near->call = first;
    near->p2p = k;
    for (size_t n = 0; end > first + 1 && n < LOOKED_AT && k < loc->n_p2p; n++, k++) {
        const struct lc_p2p *p2p = &loc->p2p[k];
        if (p2p->call >= end)
            break;
        if (p2p->flags & LC_P2P_KNOWN && p2p->peer == peer &&
            !(p2p->flags & LC_P2P_RECV) == !r->posted)
            return loc->calls[p2p->call].enter;
    }
    return end > first ? loc->calls[end - 1].enter : place.after;
}

static enum lc_err place_releases(struct lc_replay *replay, struct lc_replay_released_by **by) {
    const struct lc_trace *trace = replay->trace;
    LC_TRY(
        lc_sort_by(replay->releases, replay->n_releases, sizeof *replay->releases, cause_key, 2));
    LC_TRY(lc_alloc(&replay->places, replay->n_releases + 1, sizeof *replay->places));
    LC_TRY(lc_alloc(by, replay->n_releases + 1, sizeof **by));
    uint32_t *before = NULL;
    size_t cap = 0;
    struct near near = {{0}, 0, 0};
    enum lc_err err = LC_OK;
    for (size_t i = 0; i < replay->n_releases && err == LC_OK; i++) {
        const struct lc_replay_release *r = &replay->releases[i];
        const struct lc_loc *loc = lc_trace_loc(trace, r->cause);
        if (i == 0 || r[-1].cause != r->cause) {
            err = lc_reserve(&before, &cap, (size_t)loc->n_transitions + 1, sizeof *before);
            if (err != LC_OK)
                break;
            code_before_calls(trace, loc, before);
            near = (struct near){{0}, 0, 0};
        }
        near.place = replay->places[i] = place_of(loc, r->time, near.place);
        uint32_t at = call_of(trace, loc, near.place, r, &near);
        (*by)[i] = (struct lc_replay_released_by){r->step, before[at], at};
    }
    free(before);
    return err;
}

/* --- on rank 0: what happens in which order --- */

static uint64_t event_key(const void *events, uint32_t index, int level) {
    const struct lc_replay_event *e = (const struct lc_replay_event *)events + index;
    return level == 0 ? e->kind : lc_key_signed(e->time);
}

/* Members of a group next to each other, whatever the number of ranks. */
static uint64_t step_key(const void *steps, uint32_t index, int level) {
    const struct lc_replay_step *s = (const struct lc_replay_step *)steps + index;
    switch (level) {
    case 0:
        return s->cause;
    case 1:
        return lc_key_signed(s->start);
    case 2:
        return s->location;
    case 3:
        return s->group;
    default:
        return lc_key_signed(s->release);
    }
}

static uint64_t slot_key(const void *steps, uint32_t index, int level) {
    const struct lc_replay_step *s = (const struct lc_replay_step *)steps + index;
    return level == 0 ? s->group : s->slot;
}

/* One for each operation that parts are given to. */
static enum lc_err number_slots(struct lc_replay *replay) {
    uint32_t *order = NULL;
    uint64_t last = LC_REPLAY_NO_GROUP;
    LC_TRY(lc_order_by(&order, replay->all, replay->n_all, slot_key, 2));
    for (size_t i = 0; i < replay->n_all && replay->all[order[i]].slot != LC_NONE; i++) {
        struct lc_replay_step *s = &replay->all[order[i]];
        replay->n_slots += s->group != last;
        last = s->group;
        s->slot = (uint32_t)replay->n_slots - 1;
    }
    free(order);
    return lc_alloc(&replay->met, replay->n_slots + 1, sizeof *replay->met);
}

static enum lc_err make_events(struct lc_replay *replay) {
    uint32_t *order = NULL;
    LC_TRY(number_slots(replay));
    LC_TRY(lc_alloc(&replay->events, 2 * replay->n_all + 1, sizeof *replay->events));
    LC_TRY(lc_alloc(&replay->sent, replay->n_all + 1, sizeof(double)));
    LC_TRY(lc_alloc(&replay->until, replay->n_all + 1, sizeof(double)));
    LC_TRY(lc_alloc(&replay->fronts, replay->trace->n_locations + 1, sizeof *replay->fronts));
    LC_TRY(lc_order_by(&order, replay->all, replay->n_all, step_key, 5));
    for (size_t i = 0; i < replay->n_all; i++) {
        const struct lc_replay_step *s = &replay->all[order[i]];
        if (s->kind == LC_REPLAY_ARRIVED)
            replay->events[replay->n_events++] =
                (struct lc_replay_event){s->start, order[i], LC_REPLAY_ARRIVES};
        if (s->kind != LC_REPLAY_ARRIVED || s->slot == LC_NONE)
            replay->events[replay->n_events++] =
                (struct lc_replay_event){s->release, order[i],
                                         s->kind == LC_REPLAY_BLOCKED  ? LC_REPLAY_GO_ON
                                         : s->kind == LC_REPLAY_MEMBER ? LC_REPLAY_GIVES
                                                                       : LC_REPLAY_IS_SENT};
    }
    free(order);
    LC_TRY(lc_sort_by(replay->events, replay->n_events, sizeof *replay->events, event_key, 2));
    return lc_replay_order(replay);
}

static enum lc_err keep_released_by(struct lc_replay *replay) {
    LC_TRY(lc_alloc(&replay->before, replay->n_all + 1, sizeof *replay->before));
    LC_TRY(lc_alloc(&replay->at, replay->n_all + 1, sizeof *replay->at));
    for (size_t i = 0; i < replay->n_all; i++) {
        const struct lc_replay_released_by *by = &replay->released_by[i];
        replay->before[by->step] = by->cnode;
        replay->at[by->step] = by->at;
    }
    return LC_OK;
}

static enum lc_err gather_steps(struct lc_replay *replay) {
    const struct lc_trace *trace = replay->trace;
    struct lc_replay_released_by *by = NULL;
    uint32_t *ids = NULL;
    size_t bytes = 0, by_bytes = 0, id_bytes = 0;
    enum lc_err err = lc_transport_agree(trace->comm, place_releases(replay, &by));
    if (err == LC_OK)
        err = lc_replay_gather(trace->comm, replay->steps, replay->n_steps * sizeof *replay->steps,
                               (void **)&replay->all, &bytes);
    if (err == LC_OK)
        err = lc_replay_gather(trace->comm, by, replay->n_releases * sizeof *by,
                               (void **)&replay->released_by, &by_bytes);
    if (err == LC_OK)
        err = lc_transport_agree(trace->comm, lc_alloc(&ids, trace->n_locs + 1, sizeof *ids));
    for (size_t l = 0; l < trace->n_locs && err == LC_OK; l++)
        ids[l] = trace->locs[l].id;
    if (err == LC_OK)
        err = lc_replay_gather(trace->comm, ids, trace->n_locs * sizeof *ids,
                               (void **)&replay->location_of, &id_bytes);
    if (by != replay->released_by)
        free(by);
    if (ids != replay->location_of)
        free(ids);
    replay->n_all = bytes / sizeof *replay->all;
    if (err == LC_OK && trace->comm->rank == 0) {
        err = keep_released_by(replay);
        if (err == LC_OK)
            err = make_events(replay);
    }
    return lc_transport_agree(trace->comm, err);
}

/* After all else that needs memory only until then. */
static enum lc_err alloc_saved(struct lc_replay *replay) {
    enum lc_err err = lc_alloc(&replay->saved, replay->n_steps + 1, sizeof *replay->saved);
    if (err == LC_OK)
        err = lc_alloc(&replay->saved_release, replay->n_releases + 1, sizeof(double));
    return lc_transport_agree(replay->trace->comm, err);
}

static enum lc_err find_ends(struct lc_replay *replay) {
    const struct lc_trace *trace = replay->trace;
    size_t most = 0;
    for (size_t l = 0; l < trace->n_locs; l++)
        most = trace->locs[l].n_transitions > most ? trace->locs[l].n_transitions : most;
    enum lc_err err = lc_alloc(&replay->share, most + 1, sizeof(double));
    if (err == LC_OK)
        err = lc_alloc(&replay->sums, most + 1, sizeof(double));
    if (err == LC_OK)
        err = lc_alloc(&replay->saved_last, trace->n_locs + 1, sizeof(double));
    if (err == LC_OK)
        err = lc_alloc(&replay->last, trace->n_locations + 1, sizeof *replay->last);
    LC_TRY(lc_transport_agree(trace->comm, err));
    for (size_t i = 0; i < trace->n_locations; i++)
        replay->last[i] = INT64_MIN;
    for (size_t l = 0; l < trace->n_locs; l++)
        if (trace->locs[l].n_transitions > 0)
            replay->last[trace->locs[l].id] = trace->locs[l].time[trace->locs[l].n_transitions - 1];
    lc_transport_allreduce_i64(trace->comm, replay->last, trace->n_locations, LC_OP_MAX);
    return LC_OK;
}

uint64_t lc_replay_need(const struct lc_trace *trace) {
    int64_t own[2], all[2];
    count_steps(trace, own, all);
    if (all[0] > LC_REPLAY_STEPS)
        return 0;
    bool partial = all[0] + all[1] > LC_REPLAY_STEPS;
    uint64_t n = (uint64_t)(own[0] + (partial ? 0 : own[1]));
    uint64_t gathered = (uint64_t)(all[0] + (partial ? 0 : all[1]));
    return n * BYTES_PER_STEP + (trace->comm->rank == 0 ? gathered * BYTES_PER_GATHERED_STEP : 0);
}

enum lc_err lc_replay_new(struct lc_replay **out, const struct lc_timelines *lines) {
    const struct lc_trace *trace = lines->trace;
    struct lc_replay *replay = NULL;
    int64_t own[2], all[2];
    *out = NULL;
    count_steps(trace, own, all);
    if (all[0] > LC_REPLAY_STEPS)
        return lc_fail(LC_ERR_RANGE, "replay: more than %d blockings: analyse a part of the run",
                       (int)LC_REPLAY_STEPS);
    enum lc_err err = lc_alloc(&replay, 1, sizeof *replay);
    if (err == LC_OK) {
        replay->trace = trace;
        replay->partial = all[0] + all[1] > LC_REPLAY_STEPS;
        err = list_steps(replay, (size_t)(own[0] + (replay->partial ? 0 : own[1])));
    }
    err = lc_transport_agree(trace->comm, err);
    if (err == LC_OK)
        err = find_ends(replay);
    if (err == LC_OK)
        err = send_releases(replay);
    if (err == LC_OK)
        err = gather_steps(replay);
    if (err == LC_OK)
        err = alloc_saved(replay);
    if (err != LC_OK)
        lc_replay_free(replay);
    else
        *out = replay;
    return err;
}

void lc_replay_free(struct lc_replay *replay) {
    if (replay == NULL)
        return;
    if (replay->all != replay->steps)
        free(replay->all);
    free(replay->steps);
    free(replay->starts);
    free(replay->ends);
    free(replay->releases);
    free(replay->places);
    free(replay->share);
    free(replay->sums);
    free(replay->saved);
    free(replay->saved_release);
    free(replay->saved_last);
    free(replay->released_by);
    free(replay->location_of);
    free(replay->events);
    free(replay->fronts);
    free(replay->sent);
    free(replay->met);
    free(replay->until);
    free(replay->before);
    free(replay->at);
    free(replay->last);
    free(replay);
}

bool lc_replay_is_partial(const struct lc_replay *replay) {
    return replay->partial;
}
