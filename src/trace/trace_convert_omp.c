/* OpenMP: teams, constructs, locks and tasks -> OTF2 events. Records that find nothing of theirs
 * (measurement was off when it began) are skipped. */
#include "base/mem.h"
#include "format/omp_construct.h"
#include "trace/trace_convert_state.h"

enum { CREATOR_SHIFT = 40 };

static uint32_t creator_of(uint64_t task) {
    return (uint32_t)(task >> CREATOR_SHIFT);
}

static uint32_t number_of(uint64_t task) {
    return (uint32_t)task;
}

/* What calls of MPI have left open inside of the topmost construct is over since the last event. */
static void close_callers(struct lc_trace_conversion *s) {
    size_t depth = lc_convert_omp_depth(s);
    while (depth > 0 && s->depth > depth)
        lc_convert_pop(s);
}

/* 1 + index of the topmost frame of that kind; 0: none. */
static size_t topmost(const struct lc_trace_conversion *s, enum lc_open_kind kind) {
    size_t depth = s->depth;
    while (depth > 0 && s->stack[depth - 1].kind != kind)
        depth--;
    return depth;
}

static enum lc_err fork_team(struct lc_trace_conversion *s, uint64_t time, uint32_t n_threads) {
    if (!s->started)
        return LC_OK;
    close_callers(s);
    lc_convert_move_to(s, time);
    lc_convert_note(s,
                    OTF2_EvtWriter_ThreadFork(s->w, NULL, s->now, OTF2_PARADIGM_OPENMP, n_threads));
    return lc_convert_push(s, (struct lc_convert_frame){.kind = LC_FRAME_FORK});
}

/* Ends the topmost frame of that kind, and what is above it. */
static void end_topmost(struct lc_trace_conversion *s, uint64_t time, enum lc_open_kind kind) {
    size_t depth = topmost(s, kind);
    if (depth == 0)
        return;
    close_callers(s);
    lc_convert_move_to(s, time);
    while (s->depth >= depth)
        lc_convert_pop(s);
}

static enum lc_err note_team(struct lc_convert *c, uint32_t team) {
    for (size_t i = 0; i < c->n_teams; i++)
        if (c->teams[i] == team)
            return LC_OK;
    LC_TRY(lc_grow(&c->teams, &c->cap_teams, c->n_teams + 1, sizeof(*c->teams)));
    c->teams[c->n_teams++] = team;
    return LC_OK;
}

static enum lc_err begin_team(struct lc_trace_conversion *s, uint64_t time, uint32_t node,
                              uint32_t team, uint64_t open) {
    if (team >= LC_REC_OMP_TEAMS) {
        s->c->n_bad++;
        return LC_OK;
    }
    size_t teams = 0;
    for (size_t i = 0; i < s->depth; i++)
        teams += s->stack[i].kind == LC_FRAME_TEAM;
    for (; teams > open; teams--) /* their ends are missing */
        end_topmost(s, s->now, LC_FRAME_TEAM);
    close_callers(s);
    if (s->started)
        lc_convert_move_to(s, time);
    else
        lc_convert_start(s, time);
    uint32_t comm = s->c->thread_comm + 1 + team;
    LC_TRY(note_team(s->c, team));
    lc_convert_note(s, OTF2_EvtWriter_ThreadTeamBegin(s->w, NULL, s->now, comm));
    lc_convert_enter(s, node, 2);
    return lc_convert_push(
        s, (struct lc_convert_frame){.node = node, .kind = LC_FRAME_TEAM, .team = comm});
}

static enum lc_err begin_construct(struct lc_trace_conversion *s, uint64_t time, uint32_t node) {
    close_callers(s);
    lc_convert_move_to(s, time);
    lc_convert_enter(s, node, 2);
    return lc_convert_push(s, (struct lc_convert_frame){.node = node, .kind = LC_FRAME_CONSTRUCT});
}

/* Of the task that runs. */
static void end_construct(struct lc_trace_conversion *s, uint64_t time, uint32_t node) {
    size_t depth = s->depth;
    while (depth > 0 &&
           (s->stack[depth - 1].kind < LC_FRAME_FORK ||
            (s->stack[depth - 1].kind == LC_FRAME_CONSTRUCT && s->stack[depth - 1].node != node)))
        depth--;
    if (depth == 0 || s->stack[depth - 1].kind != LC_FRAME_CONSTRUCT)
        return;
    while (s->depth > depth)
        lc_convert_pop(s);
    lc_convert_move_to(s, time);
    lc_convert_pop(s);
}

static enum lc_err acquire(struct lc_trace_conversion *s, uint64_t time, uint64_t lock,
                           uint32_t block) {
    close_callers(s);
    lc_convert_move_to(s, time);
    lc_convert_note(s, OTF2_EvtWriter_ThreadAcquireLock(s->w, NULL, s->now, OTF2_PARADIGM_OPENMP,
                                                        (uint32_t)(lock >> 32), (uint32_t)lock));
    return block != 0 ? begin_construct(s, time, block) : LC_OK;
}

static void release(struct lc_trace_conversion *s, uint64_t time, uint64_t lock, uint64_t nodes) {
    if ((uint32_t)nodes != 0)
        end_construct(s, time, (uint32_t)nodes);
    close_callers(s);
    lc_convert_move_to(s, time);
    lc_convert_note(s, OTF2_EvtWriter_ThreadReleaseLock(s->w, NULL, s->now, OTF2_PARADIGM_OPENMP,
                                                        (uint32_t)(lock >> 32), (uint32_t)lock));
    if (nodes >> 32 != 0)
        end_construct(s, time, (uint32_t)(nodes >> 32));
}

/* 1 + index of the frame of that task (an implicit one: the team's); 0: it is not open here. */
static size_t frame_of(const struct lc_trace_conversion *s, uint64_t task) {
    size_t depth = s->depth;
    for (; depth > 0 && s->stack[depth - 1].kind != LC_FRAME_TEAM; depth--)
        if (s->stack[depth - 1].kind == LC_FRAME_TASK && s->stack[depth - 1].task == task)
            return depth;
    return number_of(task) == 0 ? depth : 0;
}

/* Tasks that run above a frame, of 1 + index `depth`, are left. */
static void suspend_above(struct lc_trace_conversion *s, size_t depth) {
    size_t first = depth;
    while (first < s->depth && s->stack[first].kind != LC_FRAME_TASK)
        first++;
    while (s->depth > first)
        lc_convert_pop(s);
}

static enum lc_err switch_task(struct lc_trace_conversion *s, uint32_t team, uint64_t task,
                               uint32_t node) {
    size_t depth = frame_of(s, task);
    if (depth > 0)
        suspend_above(s, depth);
    lc_convert_note(s, OTF2_EvtWriter_ThreadTaskSwitch(s->w, NULL, s->now, team, creator_of(task),
                                                       number_of(task)));
    if (depth > 0 || number_of(task) == 0)
        return LC_OK;
    lc_convert_enter(s, node, 2);
    return lc_convert_push(
        s, (struct lc_convert_frame){.node = node, .kind = LC_FRAME_TASK, .task = task});
}

static void complete_task(struct lc_trace_conversion *s, uint32_t team, uint64_t task) {
    size_t depth = frame_of(s, task);
    while (depth > 0 && s->depth >= depth)
        lc_convert_pop(s);
    lc_convert_note(s, OTF2_EvtWriter_ThreadTaskComplete(s->w, NULL, s->now, team, creator_of(task),
                                                         number_of(task)));
}

static enum lc_err task_record(struct lc_trace_conversion *s, uint64_t time,
                               const uint64_t *words) {
    size_t in_team = topmost(s, LC_FRAME_TEAM);
    if (in_team == 0)
        return LC_OK;
    uint32_t team = s->stack[in_team - 1].team;
    uint64_t task = words[1];
    close_callers(s);
    lc_convert_move_to(s, time);
    switch (lc_rec_kind_of(words[0])) {
    case LC_REC_OMP_SWITCH:
        return switch_task(s, team, task, (uint32_t)words[2]);
    case LC_REC_OMP_DONE:
        if (number_of(task) != 0)
            complete_task(s, team, task);
        return LC_OK;
    default:
        lc_convert_enter(s, (uint32_t)words[2], 2);
        lc_convert_note(s, OTF2_EvtWriter_ThreadTaskCreate(s->w, NULL, s->now, team,
                                                           creator_of(task), number_of(task)));
        lc_convert_leave(s, (uint32_t)words[2]);
        return LC_OK;
    }
}

/* Nodes that the record refers to are there. */
static bool sound(const struct lc_trace_conversion *s, const uint64_t *words) {
    size_t n = s->d->n_nodes;
    switch (lc_rec_kind_of(words[0])) {
    case LC_REC_OMP_TEAM:
    case LC_REC_OMP_IN:
        return (uint32_t)words[1] < n;
    case LC_REC_OMP_ACQUIRE:
    case LC_REC_OMP_CREATE:
    case LC_REC_OMP_SWITCH:
        return words[2] < n;
    default:
        return true;
    }
}

bool lc_convert_is_construct(const struct lc_trace_conversion *s, uint32_t node) {
    const struct lc_trace_region *region = &s->d->regions[s->d->nodes[node].region];
    return region->kind == LC_RAW_REGION && lc_omp_is_construct(region->name);
}

/* What has a region of its own there is the acquisition of a lock; else measurement was off when
 * the team began. */
static enum lc_err outside_of_teams(struct lc_trace_conversion *s, enum lc_rec_kind kind,
                                    uint64_t time, const uint64_t *words) {
    const struct lc_convert_frame *top = s->depth > 0 ? &s->stack[s->depth - 1] : NULL;
    bool in_region = top != NULL && top->kind == LC_FRAME_REGION;
    if (kind == LC_REC_OMP_ACQUIRE && in_region && lc_convert_is_construct(s, top->node))
        return acquire(s, time, words[1], 0);
    if (kind == LC_REC_OMP_RELEASE && s->started)
        release(s, time, words[1], 0);
    return LC_OK;
}

enum lc_err lc_convert_omp(struct lc_trace_conversion *s, const uint64_t *words) {
    enum lc_rec_kind kind = lc_rec_kind_of(words[0]);
    uint64_t time = lc_convert_time(s, lc_rec_payload(words[0]));
    if (!sound(s, words)) {
        s->c->n_bad++;
        return LC_OK;
    }
    if (s->n_samples > 0) {
        close_callers(s);
        lc_convert_samples(s);
    }
    switch (kind) {
    case LC_REC_OMP_FORK:
        return fork_team(s, time, (uint32_t)words[1]);
    case LC_REC_OMP_JOIN:
        end_topmost(s, time, LC_FRAME_FORK);
        return LC_OK;
    case LC_REC_OMP_TEAM:
        return begin_team(s, time, (uint32_t)words[1], (uint32_t)(words[1] >> 32), words[2]);
    case LC_REC_OMP_TEAM_END:
        end_topmost(s, time, LC_FRAME_TEAM);
        return LC_OK;
    default:
        break;
    }
    if (topmost(s, LC_FRAME_TEAM) == 0)
        return outside_of_teams(s, kind, time, words);
    switch (kind) {
    case LC_REC_OMP_IN:
        return begin_construct(s, time, (uint32_t)words[1]);
    case LC_REC_OMP_OUT:
        end_construct(s, time, (uint32_t)words[1]);
        return LC_OK;
    case LC_REC_OMP_ACQUIRE:
        return acquire(s, time, words[1], (uint32_t)words[2]);
    case LC_REC_OMP_RELEASE:
        release(s, time, words[1], words[2]);
        return LC_OK;
    case LC_REC_OMP_CREATE:
    case LC_REC_OMP_SWITCH:
    case LC_REC_OMP_DONE:
        return task_record(s, time, words);
    default:
        return LC_OK; /* what kind of thread it is */
    }
}
