/* Thread records: fork and join, teams, locks. A worker's regions hang below the call path of the
 * fork. */
#include "analyze/reader.h"
#include "base/mem.h"

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
    }
    return lc_reader_end(reader);
}

static OTF2_CallbackCode join_at(struct lc_reader *reader, OTF2_TimeStamp time) {
    int64_t t = lc_reader_time(reader, time);
    struct lc_loc_extra *extra = lc_reader_extra(reader);
    for (size_t i = extra ? extra->n_teams : 0; i-- > 0;)
        if (extra->teams[i].forked && extra->teams[i].end == INT64_MAX) {
            extra->teams[i].end = t;
            break;
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

/* The fork of the same process whose life contains t. Masters have lower thread numbers and were
 * read before. */
static const struct lc_team_event *find_fork(const struct lc_reader *reader, uint64_t team,
                                             int64_t t, uint32_t *location, uint32_t *index) {
    const struct lc_trace *trace = reader->trace;
    for (const struct lc_loc *loc = reader->loc; loc-- > trace->locs;) {
        if (loc->process != reader->loc->process)
            break;
        for (size_t i = loc->extra ? loc->extra->n_teams : 0; i-- > 0;) {
            const struct lc_team_event *event = &loc->extra->teams[i];
            if (event->forked && event->team == team && event->begin <= t && t <= event->end) {
                *location = loc->id;
                *index = (uint32_t)i;
                return event;
            }
        }
    }
    return NULL;
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
        const struct lc_team_event *of = find_fork(reader, team, t, &fork_location, &fork);
        if (!of)
            lc_health_note(reader->health, LC_HEALTH_TEAM_UNKNOWN, reader->loc->id);
        else
            lc_reader_set_base(reader, t, of->cnode);
        event = add_team(reader);
        if (!event)
            return OTF2_CALLBACK_INTERRUPT;
        event->begin = t;
        event->fork_location = fork_location;
        event->fork = fork;
    }
    event->team = team;
    event->begun = true;
    event->first_transition = reader->loc->n_transitions;
    event->first_call = (uint32_t)reader->loc->n_calls;
    return lc_reader_end(reader);
}

static OTF2_CallbackCode on_team_end(OTF2_LocationRef location, OTF2_TimeStamp time,
                                     uint64_t position, void *user, OTF2_AttributeList *attributes,
                                     OTF2_CommRef team) {
    (void)location, (void)position, (void)attributes;
    struct lc_reader *reader = user;
    int64_t t = lc_reader_time(reader, time);
    struct lc_loc_extra *extra = lc_reader_extra(reader);
    for (size_t i = extra ? extra->n_teams : 0; i-- > 0;) {
        struct lc_team_event *event = &extra->teams[i];
        if (event->team != team || !event->begun || event->end_call != LC_NONE)
            continue;
        event->end_transition = reader->loc->n_transitions;
        event->end_call = (uint32_t)reader->loc->n_calls;
        if (!event->forked)
            event->end = t;
        break;
    }
    return lc_reader_end(reader);
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
    const struct lc_frame *frame = &reader->frames[reader->depth - 1];
    extra->locks[extra->n_locks++] =
        (struct lc_lock_event){.enter = reader->loc->time[frame->enter],
                               .acquired = t,
                               .released = INT64_MAX,
                               .lock = (uint64_t)model << 32 | lock,
                               .order = order,
                               .cnode = reader->node,
                               .release_cnode = reader->node,
                               .fn = reader->trace->regions[frame->region].fn};
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_release(OTF2_LocationRef location, OTF2_TimeStamp time,
                                    uint64_t position, void *user, OTF2_AttributeList *attributes,
                                    OTF2_Paradigm model, uint32_t lock, uint32_t order) {
    (void)location, (void)position, (void)attributes;
    struct lc_reader *reader = user;
    int64_t t = lc_reader_time(reader, time);
    struct lc_loc_extra *extra = lc_reader_extra(reader);
    uint64_t id = (uint64_t)model << 32 | lock;
    for (size_t i = extra ? extra->n_locks : 0; i-- > 0;)
        if (extra->locks[i].lock == id && extra->locks[i].order == order) {
            extra->locks[i].released = t;
            extra->locks[i].release_cnode = reader->node;
            break;
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
