/* Thread records: fork and join, teams, locks. A worker's regions hang below the call path of the
 * fork. */
#include "analyze/reader.h"
#include "base/lookup.h"
#include "base/mem.h"

enum { MAX_NESTED = 64 }; /* teams inside each other; more are damage */

static struct lc_team_event *add_team(struct lc_reader *reader) {
    struct lc_loc_extra *extra = lc_reader_extra(reader);
    if (!extra)
        return NULL;
    reader->err =
        lc_grow(&extra->teams, &extra->cap_teams, extra->n_teams + 1, sizeof *extra->teams);
    if (reader->err != LC_OK)
        return NULL;
    struct lc_team_event *event = &extra->teams[extra->n_teams++];
    *event = (struct lc_team_event){.end = INT64_MAX,
                                    .cnode = reader->node,
                                    .fork_location = LC_NONE,
                                    .fork = LC_NONE,
                                    .outer = reader->open_fork,
                                    .outer_part = LC_NONE,
                                    .end_transition = LC_NONE,
                                    .end_call = LC_NONE};
    return event;
}

static OTF2_CallbackCode fork_at(struct lc_reader *reader, OTF2_TimeStamp time) {
    int64_t t = lc_reader_time(reader, time);
    struct lc_team_event *event = add_team(reader);
    if (event) {
        event->begin = t;
        event->forked = true;
        reader->open_fork = (uint32_t)(reader->loc->extra->n_teams - 1);
    }
    return lc_reader_end(reader);
}

static OTF2_CallbackCode join_at(struct lc_reader *reader, OTF2_TimeStamp time) {
    int64_t t = lc_reader_time(reader, time);
    if (reader->open_fork != LC_NONE) {
        struct lc_team_event *event = &reader->loc->extra->teams[reader->open_fork];
        event->end = t;
        reader->open_fork = event->outer;
    }
    return lc_reader_end(reader);
}

static OTF2_CallbackCode on_fork(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position,
                                 void *user, OTF2_AttributeList *attributes, OTF2_Paradigm model,
                                 uint32_t n_threads) {
    (void)location, (void)position, (void)attributes, (void)model, (void)n_threads;
    return fork_at(user, time);
}

static OTF2_CallbackCode on_join(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position,
                                 void *user, OTF2_AttributeList *attributes, OTF2_Paradigm model) {
    (void)location, (void)position, (void)attributes, (void)model;
    return join_at(user, time);
}

/* The last fork of that team on a location whose life contains t, or LC_NONE. */
static uint32_t fork_around(const struct lc_loc_extra *extra, uint64_t team, int64_t t) {
    /* Teams are in the order of their begin. */
    size_t low = LC_FIRST_WHERE(i, 0, extra->n_teams, extra->teams[i].begin > t);
    for (int others = 0; low && others < MAX_NESTED;) {
        const struct lc_team_event *event = &extra->teams[--low];
        if (event->forked && event->begin <= t && t <= event->end) {
            if (event->team == team)
                return (uint32_t)low;
            others++;
        } else { /* no fork, or over, and so are the forks before it that were not open then */
            low = event->outer == LC_NONE ? 0 : event->outer + 1;
        }
    }
    return LC_NONE;
}

/* The fork of the same process whose life contains t: mostly of a thread with a lower number, which
 * was read before; else of any other that was. */
static const struct lc_team_event *find_fork(const struct lc_trace *trace, const struct lc_loc *of,
                                             uint64_t team, int64_t t, uint32_t *location,
                                             uint32_t *index) {
    const struct lc_loc *first = of, *end = of;
    while (first > trace->locs && first[-1].process == of->process)
        first--;
    while (end < trace->locs + trace->n_locs && end->process == of->process)
        end++;
    for (size_t i = 1; i < (size_t)(end - first); i++) {
        const struct lc_loc *loc = of - i >= first ? of - i : first + i;
        *index = loc->extra ? fork_around(loc->extra, team, t) : LC_NONE;
        if (*index != LC_NONE) {
            *location = loc->id;
            return &loc->extra->teams[*index];
        }
    }
    return NULL;
}

bool lc_read_threads_outdated(const struct lc_reader *reader, const struct lc_loc *loc) {
    const struct lc_trace *trace = reader->trace;
    for (size_t t = 0; loc->extra && t < loc->extra->n_teams; t++) {
        const struct lc_team_event *part = &loc->extra->teams[t], *fork;
        uint32_t location, index;
        if (part->forked)
            continue;
        if (part->fork_location != LC_NONE)
            fork = &lc_trace_loc(trace, part->fork_location)->extra->teams[part->fork];
        else
            fork = find_fork(trace, loc, part->team, part->begin, &location, &index);
        if (fork != NULL && fork->cnode != part->cnode)
            return true;
    }
    return false;
}

void lc_read_threads_end(struct lc_reader *reader, const struct lc_loc *locs, size_t n) {
    for (const struct lc_loc *loc = locs; loc < locs + n; loc++)
        for (size_t t = 0; loc->extra && t < loc->extra->n_teams; t++)
            if (!loc->extra->teams[t].forked && loc->extra->teams[t].fork_location == LC_NONE)
                lc_health_note(reader->health, LC_HEALTH_TEAM_UNKNOWN, loc->id);
}

static OTF2_CallbackCode on_team_begin(OTF2_LocationRef location, OTF2_TimeStamp time,
                                       uint64_t position, void *user,
                                       OTF2_AttributeList *attributes, OTF2_CommRef team) {
    (void)location, (void)position, (void)attributes;
    struct lc_reader *reader = user;
    int64_t t = lc_reader_time(reader, time);
    struct lc_loc_extra *extra = lc_reader_extra(reader);
    if (!extra)
        return OTF2_CALLBACK_INTERRUPT;
    struct lc_team_event *event = extra->n_teams ? &extra->teams[extra->n_teams - 1] : NULL;
    if (!event || !event->forked || event->begun || event->end != INT64_MAX) {
        uint32_t fork_location = LC_NONE, fork = LC_NONE;
        const struct lc_team_event *of =
            find_fork(reader->trace, reader->loc, team, t, &fork_location, &fork);
        uint32_t below = of ? of->cnode : LC_NONE;
        if (of)
            lc_reader_set_base(reader, t, below);
        else
            reader->forks_missing = true;
        event = add_team(reader);
        if (!event)
            return OTF2_CALLBACK_INTERRUPT;
        event->begin = t;
        event->fork_location = fork_location;
        event->fork = fork;
        event->cnode = below;
    }
    lc_reader_place_samples(reader, t);
    event->team = team;
    event->begun = true;
    event->first_transition = reader->loc->n_transitions;
    event->first_call = (uint32_t)reader->loc->n_calls;
    event->outer_part = reader->open_part;
    event->task = reader->task;
    reader->open_part = (uint32_t)(event - extra->teams);
    reader->task = lc_reader_implicit_task(reader);
    return lc_reader_end(reader);
}

static OTF2_CallbackCode on_team_end(OTF2_LocationRef location, OTF2_TimeStamp time,
                                     uint64_t position, void *user, OTF2_AttributeList *attributes,
                                     OTF2_CommRef team) {
    (void)location, (void)position, (void)attributes;
    struct lc_reader *reader = user;
    int64_t t = lc_reader_time(reader, time);
    struct lc_loc_extra *extra = lc_reader_extra(reader);
    uint32_t *link = &reader->open_part;
    lc_reader_place_samples(reader, t);
    for (int others = 0; extra && *link != LC_NONE && others < MAX_NESTED; others++) {
        struct lc_team_event *event = &extra->teams[*link];
        if (event->team != team) {
            link = &event->outer_part;
            continue;
        }
        *link = event->outer_part;
        reader->task = event->task;
        event->end_transition = reader->loc->n_transitions;
        event->end_call = (uint32_t)reader->loc->n_calls;
        if (!event->forked)
            event->end = t;
        break;
    }
    return lc_reader_end(reader);
}

/* The next entry of extra->locks is that acquisition. */
static enum lc_err remember_lock(struct lc_reader *reader, uint64_t id, uint32_t order) {
    uint32_t number = lc_idmap_get(&reader->lock_ids, id);
    if (number == LC_NONE) {
        number = (uint32_t)reader->lock_ids.count;
        LC_TRY(lc_idmap_put(&reader->lock_ids, id, number));
    }
    return lc_idmap_put(&reader->locks, (uint64_t)number << 32 | order,
                        (uint32_t)reader->loc->extra->n_locks);
}

static OTF2_CallbackCode on_acquire(OTF2_LocationRef location, OTF2_TimeStamp time,
                                    uint64_t position, void *user, OTF2_AttributeList *attributes,
                                    OTF2_Paradigm model, uint32_t lock, uint32_t order) {
    (void)location, (void)position, (void)attributes;
    struct lc_reader *reader = user;
    int64_t t = lc_reader_time(reader, time);
    struct lc_loc_extra *extra = lc_reader_extra(reader);
    if (!extra || !reader->depth)
        return lc_reader_end(reader);
    reader->err =
        lc_grow(&extra->locks, &extra->cap_locks, extra->n_locks + 1, sizeof *extra->locks);
    if (reader->err != LC_OK)
        return OTF2_CALLBACK_INTERRUPT;
    const struct lc_open_region *frame = &reader->frames[reader->depth - 1];
    reader->err = remember_lock(reader, (uint64_t)model << 32 | lock, order);
    extra->locks[extra->n_locks++] =
        (struct lc_lock_event){.enter = reader->loc->time[frame->enter],
                               .acquired = t,
                               .released = INT64_MAX,
                               .lock = (uint64_t)model << 32 | lock,
                               .order = order,
                               .cnode = reader->node,
                               .release_cnode = reader->node,
                               .fn = reader->trace->regions[frame->region].fn};
    return lc_reader_end(reader);
}

static OTF2_CallbackCode on_release(OTF2_LocationRef location, OTF2_TimeStamp time,
                                    uint64_t position, void *user, OTF2_AttributeList *attributes,
                                    OTF2_Paradigm model, uint32_t lock, uint32_t order) {
    (void)location, (void)position, (void)attributes;
    struct lc_reader *reader = user;
    int64_t t = lc_reader_time(reader, time);
    uint32_t number = lc_idmap_get(&reader->lock_ids, (uint64_t)model << 32 | lock);
    uint32_t index =
        number == LC_NONE ? LC_NONE : lc_idmap_get(&reader->locks, (uint64_t)number << 32 | order);
    if (index != LC_NONE) {
        reader->loc->extra->locks[index].released = t;
        reader->loc->extra->locks[index].release_cnode = reader->node;
    }
    return lc_reader_end(reader);
}

static OTF2_CallbackCode on_unknown(OTF2_LocationRef location, OTF2_TimeStamp time,
                                    uint64_t position, void *user, OTF2_AttributeList *attributes) {
    (void)location, (void)position, (void)attributes;
    struct lc_reader *reader = user;
    lc_reader_pass(reader, time);
    lc_health_note(reader->health, LC_HEALTH_UNKNOWN_RECORD, reader->loc->id);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_sample(OTF2_LocationRef location, OTF2_TimeStamp time,
                                   uint64_t position, void *user, OTF2_AttributeList *attributes,
                                   OTF2_CallingContextRef context, uint32_t distance) {
    (void)location, (void)position, (void)attributes, (void)context, (void)distance;
    struct lc_reader *reader = user;
    lc_reader_pass(reader, time);
    lc_health_note(reader->health, LC_HEALTH_SAMPLES, reader->loc->id);
    return OTF2_CALLBACK_SUCCESS;
}

void lc_read_thread_callbacks(OTF2_EvtReaderCallbacks *callbacks) {
    OTF2_EvtReaderCallbacks_SetThreadForkCallback(callbacks, on_fork);
    OTF2_EvtReaderCallbacks_SetThreadJoinCallback(callbacks, on_join);
    OTF2_EvtReaderCallbacks_SetThreadTeamBeginCallback(callbacks, on_team_begin);
    OTF2_EvtReaderCallbacks_SetThreadTeamEndCallback(callbacks, on_team_end);
    OTF2_EvtReaderCallbacks_SetThreadAcquireLockCallback(callbacks, on_acquire);
    OTF2_EvtReaderCallbacks_SetThreadReleaseLockCallback(callbacks, on_release);
    OTF2_EvtReaderCallbacks_SetUnknownCallback(callbacks, on_unknown);
    OTF2_EvtReaderCallbacks_SetCallingContextEnterCallback(callbacks, on_sample);
}
