#include "analyze/profile.h"

#include <stdlib.h>
#include <string.h>

#include "base/lookup.h"
#include "base/mem.h"

enum { MIN_SPACING = 64 };

/* First index whose key is > t, where keys (one every `stride` bytes) ascend. Looks around `hint`
 * first, in steps that double: questions about a location mostly come in order of time. */
static inline uint32_t after(const void *keys, size_t stride, uint32_t n, int64_t t,
                             uint32_t hint) {
#define KEY(i) (*(const int64_t *)((const char *)keys + (size_t)(i)*stride))
    uint32_t low = 0, high = n, step = 1;
    if (hint < n && KEY(hint) <= t) {
        for (low = hint + 1; step < n - low && KEY(low + step) <= t; step *= 2)
            low += step + 1;
        high = step < n - low ? low + step : n;
    } else if (hint < n) {
        for (high = hint; step < high && KEY(high - step) > t; step *= 2)
            high -= step;
        low = step < high ? high - step + 1 : 0;
    }
    return (uint32_t)LC_FIRST_WHERE(i, low, high, KEY(i) > t);
#undef KEY
}

static uint32_t transition_after(const struct lc_timeline *line, int64_t t, uint32_t hint) {
    return after(line->loc->time, sizeof *line->loc->time, line->loc->n_transitions, t, hint);
}

int64_t lc_state_overlap(const struct lc_state *state, int64_t from, int64_t to) {
    int64_t a = state->start > from ? state->start : from;
    int64_t b = state->end < to ? state->end : to;
    int64_t covered = b > a ? b - a : 0;
    return covered < state->ticks ? covered : state->ticks;
}

void lc_states_within(struct lc_timeline *line, int64_t from, int64_t to, uint32_t *first,
                      uint32_t *last) {
    const struct lc_state *states = line->states;
    *first = *last = 0;
    if (!line->n_states)
        return;
    *first = after(&states->end, sizeof *states, line->n_states, from, line->state_hint);
    *last = *first;
    if (*first < line->n_states && states[*first].start < to)
        *last = after(&states->start, sizeof *states, line->n_states, to - 1, *first);
    line->state_hint = *first;
}

enum lc_err lc_profile_new(struct lc_profile *profile, size_t n_cnodes) {
    memset(profile, 0, sizeof *profile);
    enum lc_err err = lc_alloc(&profile->ticks, n_cnodes, sizeof *profile->ticks);
    if (err == LC_OK)
        err = lc_alloc(&profile->touched, n_cnodes, sizeof *profile->touched);
    if (err == LC_OK)
        err = lc_alloc(&profile->is_touched, n_cnodes, sizeof *profile->is_touched);
    if (err != LC_OK)
        lc_profile_free(profile);
    return err;
}

void lc_profile_free(struct lc_profile *profile) {
    free(profile->ticks);
    free(profile->touched);
    free(profile->is_touched);
    memset(profile, 0, sizeof *profile);
}

void lc_profile_clear(struct lc_profile *profile) {
    for (uint32_t i = 0; i < profile->n_touched; i++) {
        profile->ticks[profile->touched[i]] = 0;
        profile->is_touched[profile->touched[i]] = 0;
    }
    profile->n_touched = 0;
}

static inline void add(struct lc_profile *profile, uint32_t cnode, int64_t ticks) {
    profile->ticks[cnode] += ticks;
    if (!profile->is_touched[cnode]) {
        profile->is_touched[cnode] = 1;
        profile->touched[profile->n_touched++] = cnode;
    }
}

/* Adds [from, to), which lies within the life of the location, transition by transition; i: the
 * first one after `from`. Its states begin at or after `state`. */
static void scan(struct lc_profile *profile, const struct lc_timeline *line, int64_t from,
                 int64_t to, uint32_t i, uint32_t state) {
    const struct lc_loc *loc = line->loc;
    int64_t begin = from;
    for (i = i > 0 ? i - 1 : 0; begin < to && i < loc->n_transitions; i++) {
        int64_t end = i + 1 < loc->n_transitions ? loc->time[i + 1] : to;
        end = end < to ? end : to;
        if (end > begin && loc->cnode[i] != LC_NONE)
            add(profile, loc->cnode[i], end - begin);
        begin = end > begin ? end : begin;
    }
    for (; state < line->n_states && line->states[state].start < to; state++) {
        int64_t covered = lc_state_overlap(&line->states[state], from, to);
        if (covered > 0)
            add(profile, line->states[state].cnode, -covered);
    }
}

/* Snapshots a <= b: adds what lies between them. */
static void add_snapshots(struct lc_profile *profile, const struct lc_timeline *line, uint32_t a,
                          uint32_t b) {
    const int64_t *low = line->snapshots + (size_t)a * line->n_cnodes;
    const int64_t *high = line->snapshots + (size_t)b * line->n_cnodes;
    for (uint32_t i = 0; i < line->n_cnodes; i++)
        if (high[i] != low[i])
            add(profile, line->cnodes[i], high[i] - low[i]);
}

/* Adds [from, to), which lies within the life of the location: from snapshot to snapshot where
 * there are any, the rest transition by transition. */
static void add_window(struct lc_profile *profile, struct lc_timeline *line, int64_t from,
                       int64_t to) {
    const struct lc_loc *loc = line->loc;
    uint32_t i = transition_after(line, from, line->hint), a = 0, b = 0, first, last;
    line->hint = i;
    lc_states_within(line, from, to, &first, &last);
    if (line->n_snapshots > 0) {
        a = (i + line->spacing - 1) / line->spacing;
        b = (transition_after(line, to, i) - 1) / line->spacing;
        b = b < line->n_snapshots ? b : line->n_snapshots - 1;
    }
    if (b <= a) {
        scan(profile, line, from, to, i, first);
        return;
    }
    int64_t head = loc->time[(size_t)a * line->spacing],
            tail = loc->time[(size_t)b * line->spacing];
    scan(profile, line, from, head, i, first);
    add_snapshots(profile, line, a, b);
    for (; last > first && line->states[last - 1].end > tail; last--)
        ;
    /* Transitions of equal times: the last of them is what counts. */
    scan(profile, line, tail, to, b * line->spacing + 1, last);
}

/* Waiting without a cause (taskwait) does not lead to another location, so for sections 4 and 5 it
 * is time of its call path. */
static void add_causeless(struct lc_profile *profile, struct lc_timeline *line, int64_t from,
                          int64_t to) {
    uint32_t first, last;
    lc_states_within(line, from, to, &first, &last);
    for (; first < last; first++) {
        const struct lc_state *state = &line->states[first];
        int64_t covered = lc_state_overlap(state, from, to);
        if (covered > 0 && line->loc->waits[state->wait].cause == LC_NONE)
            add(profile, state->cnode, covered);
    }
}

void lc_profile_window(struct lc_profile *profile, struct lc_timeline *line, int64_t from,
                       int64_t to, bool with_init) {
    const struct lc_loc *loc = line->loc;
    if (to <= from || loc->n_transitions == 0)
        return;
    if (from < loc->time[0]) { /* before its first event, a location is in its root */
        if (loc->root != LC_NONE)
            add(profile, loc->root, (to < loc->time[0] ? to : loc->time[0]) - from);
        from = loc->time[0];
    }
    if (to > loc->time[loc->n_transitions - 1])
        to = loc->time[loc->n_transitions - 1];
    if (to > from)
        add_window(profile, line, from, to);
    if (with_init && line->causeless)
        add_causeless(profile, line, from, to);
    int64_t in_init = with_init ? lc_state_overlap(&line->init, from, to) : 0;
    if (in_init > 0)
        add(profile, line->init.cnode, -in_init);
    for (uint32_t i = 0; i < profile->n_touched; i++)
        if (profile->ticks[profile->touched[i]] < 0)
            profile->ticks[profile->touched[i]] = 0;
}

/* The wait states of a location in compact form, and its waiting in MPI_Init. */
static uint32_t fill_states(struct lc_timeline *line, struct lc_state *states) {
    const struct lc_loc *loc = line->loc;
    uint32_t n = 0;
    for (size_t i = 0; i < loc->n_waits; i++) {
        const struct lc_wait *w = &loc->waits[i];
        struct lc_state state = {.start = w->start,
                                 .end = w->release < w->end ? w->release : w->end,
                                 .ticks = lc_wait_ticks(w),
                                 .cnode = w->cnode,
                                 .wait = (uint32_t)i};
        line->causeless |= w->cause == LC_NONE;
        if (w->flags & LC_WAIT_STATE)
            states[n++] = state;
        else if (w->kind == LC_WAIT_INIT)
            line->init = state;
    }
    return n;
}

/* Which call paths the location visits: local[cnode] becomes its index + 1 (0: none), for the time
 * of building. */
static enum lc_err find_cnodes(struct lc_timeline *line, uint32_t *local) {
    const struct lc_loc *loc = line->loc;
    size_t capacity = 0;
    for (uint32_t i = 0; i < loc->n_transitions; i++) {
        uint32_t cnode = loc->cnode[i];
        if (cnode == LC_NONE || local[cnode] != 0)
            continue;
        LC_TRY(lc_grow(&line->cnodes, &capacity, (size_t)line->n_cnodes + 1, sizeof *line->cnodes));
        line->cnodes[line->n_cnodes++] = cnode;
        local[cnode] = line->n_cnodes;
    }
    return LC_OK;
}

static enum lc_err make_snapshots(struct lc_timeline *line, const uint32_t *local) {
    const struct lc_loc *loc = line->loc;
    line->spacing = 4 * line->n_cnodes > MIN_SPACING ? 4 * line->n_cnodes : MIN_SPACING;
    if (loc->n_transitions <= line->spacing)
        return LC_OK;
    line->n_snapshots = (loc->n_transitions - 1) / line->spacing + 1;
    size_t width = line->n_cnodes;
    LC_TRY(lc_alloc(&line->snapshots, (size_t)line->n_snapshots * width, sizeof *line->snapshots));
    uint32_t state = 0;
    int64_t done = loc->time[0]; /* waiting up to here is in the snapshot before */
    for (uint32_t k = 1; k < line->n_snapshots; k++) {
        int64_t *now = line->snapshots + k * width;
        memcpy(now, now - width, width * sizeof *now);
        for (uint32_t i = (k - 1) * line->spacing; i < k * line->spacing; i++)
            if (loc->cnode[i] != LC_NONE)
                now[local[loc->cnode[i]] - 1] += loc->time[i + 1] - loc->time[i];
        int64_t until = loc->time[(size_t)k * line->spacing];
        for (; state < line->n_states && line->states[state].start < until; state++) {
            const struct lc_state *s = &line->states[state];
            if (local[s->cnode] != 0)
                now[local[s->cnode] - 1] -= lc_state_overlap(s, done, until);
            if (s->end > until)
                break;
        }
        done = until;
    }
    return LC_OK;
}

static enum lc_err build(struct lc_timelines *lines) {
    struct lc_trace *trace = lines->trace;
    uint32_t *local = NULL;
    LC_TRY(lc_alloc(&local, trace->n_cnodes + 1, sizeof *local));
    enum lc_err err = LC_OK;
    for (size_t i = 0; i < trace->n_locs && err == LC_OK; i++) {
        struct lc_timeline *line = &lines->lines[i];
        err = find_cnodes(line, local);
        if (err == LC_OK)
            err = make_snapshots(line, local);
        for (uint32_t k = 0; k < line->n_cnodes; k++)
            local[line->cnodes[k]] = 0;
    }
    free(local);
    return err;
}

/* Numbers the states of the whole trace by (location, time). */
static enum lc_err number_states(struct lc_timelines *lines) {
    struct lc_trace *trace = lines->trace;
    int64_t *counts = NULL;
    LC_TRY(lc_alloc(&counts, trace->n_locations + 1, sizeof *counts));
    for (size_t i = 0; i < trace->n_locs; i++)
        counts[trace->locs[i].id] = lines->lines[i].n_states;
    lc_transport_allreduce_i64(trace->comm, counts, trace->n_locations, LC_OP_SUM);
    uint64_t sum = 0;
    for (size_t i = 0; i <= trace->n_locations; i++) {
        lines->first_state[i] = sum;
        sum += (uint64_t)counts[i];
    }
    free(counts);
    for (size_t i = 0; i < trace->n_locs; i++)
        lines->lines[i].first_state = lines->first_state[trace->locs[i].id];
    return LC_OK;
}

static enum lc_err build_states(struct lc_timelines *lines) {
    struct lc_trace *trace = lines->trace;
    size_t most = 0;
    for (size_t i = 0; i < trace->n_locs; i++)
        for (size_t k = 0; k < trace->locs[i].n_waits; k++)
            most += (trace->locs[i].waits[k].flags & LC_WAIT_STATE) != 0;
    LC_TRY(lc_alloc(&lines->lines, trace->n_locs, sizeof *lines->lines));
    LC_TRY(lc_alloc(&lines->states, most + 1, sizeof *lines->states)); /* never NULL */
    LC_TRY(lc_alloc(&lines->first_state, trace->n_locations + 1, sizeof *lines->first_state));
    for (size_t i = 0; i < trace->n_locs; i++) {
        struct lc_timeline *line = &lines->lines[i];
        line->loc = &trace->locs[i];
        line->states = lines->states + lines->n_states;
        line->n_states = fill_states(line, line->states);
        lines->n_states += line->n_states;
    }
    return LC_OK;
}

enum lc_err lc_timelines_new(struct lc_timelines **out, struct lc_trace *trace) {
    struct lc_timelines *lines = NULL;
    enum lc_err err = lc_alloc(&lines, 1, sizeof *lines);
    if (err == LC_OK) {
        lines->trace = trace;
        err = build_states(lines);
    }
    if (err == LC_OK)
        err = build(lines);
    err = lc_transport_agree(trace->comm, err);
    if (err == LC_OK)
        err = lc_transport_agree(trace->comm, number_states(lines));
    if (err != LC_OK) {
        lc_timelines_free(lines);
        lines = NULL;
    }
    *out = lines;
    return err;
}

void lc_timelines_free(struct lc_timelines *lines) {
    if (lines == NULL)
        return;
    for (size_t i = 0; lines->lines != NULL && i < lines->trace->n_locs; i++) {
        free(lines->lines[i].cnodes);
        free(lines->lines[i].snapshots);
    }
    free(lines->lines);
    free(lines->states);
    free(lines->first_state);
    free(lines);
}

struct lc_timeline *lc_timeline_of(const struct lc_timelines *lines, uint32_t location) {
    const struct lc_loc *loc = lc_trace_loc(lines->trace, location);
    return loc != NULL ? &lines->lines[loc - lines->trace->locs] : NULL;
}

size_t lc_line_of_state(const struct lc_timelines *lines, uint64_t state) {
    return LC_FIRST_WHERE(
        i, 0, lines->trace->n_locs,
        (uint64_t)(lines->lines[i].states - lines->states) + lines->lines[i].n_states > state);
}

uint64_t lc_state_number(const struct lc_timelines *lines, uint64_t state) {
    const struct lc_timeline *line = &lines->lines[lc_line_of_state(lines, state)];
    return line->first_state + (state - (uint64_t)(line->states - lines->states));
}
