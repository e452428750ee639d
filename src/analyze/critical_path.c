#include "analyze/critical_path.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/radix.h"
#include "base/lookup.h"
#include "base/mem.h"

struct blocking {
    int64_t start, end;
    int64_t without; /* when it would end if the cause came at once: its start, or where all wait
                        for all the start of the last but one */
    uint32_t cause, reserved;
};

/* What one rank hands to the next on the way along the path, followed by the locations that were
 * visited at this instant. */
struct passed {
    int64_t time, slack, instant;
    uint64_t n_segments; /* so far */
    uint32_t location;
    uint32_t n_visited;
    uint32_t ended; /* the path, or somebody had no memory */
    uint32_t reserved;
};

/* What a rank needs to follow the path. */
struct walk {
    struct blocking *blockings; /* by location, then start */
    size_t n_blockings;
    size_t *first; /* per location of this rank, n_locs + 1 */
    struct lc_segment *segments;
    size_t n_segments, cap_segments;
    uint32_t *visited; /* at the current instant */
    size_t cap_visited;
    struct passed at;
};

/* Lowest location with the latest last event; *before: the latest last event of all others. */
static uint32_t latest_location(const struct lc_critical_path *path, int64_t *before) {
    uint32_t n = (uint32_t)path->lines->trace->n_locations, last = 0;
    for (uint32_t i = 1; i < n; i++)
        if (path->last_event[i] > path->last_event[last])
            last = i;
    *before = path->lower;
    for (uint32_t i = 0; i < n; i++)
        if (i != last && path->last_event[i] > *before)
            *before = path->last_event[i];
    return last;
}

/* docs/definitions/wait-states.md#4-critical-path, "Bounds". *before: when the path could have
 * ended elsewhere. */
static enum lc_err find_bounds(struct lc_critical_path *path, bool mpi_only, int64_t *before) {
    const struct lc_trace *trace = path->lines->trace;
    LC_TRY(lc_alloc(&path->last_event, trace->n_locations + 1, sizeof *path->last_event));
    for (size_t i = 0; i < trace->n_locations; i++)
        path->last_event[i] = INT64_MIN;
    for (size_t i = 0; i < trace->n_locs; i++) {
        const struct lc_loc *loc = &trace->locs[i];
        if (loc->n_transitions > 0)
            path->last_event[loc->id] = loc->time[loc->n_transitions - 1];
    }
    lc_transport_allreduce_i64(trace->comm, path->last_event, trace->n_locations, LC_OP_MAX);
    path->lower = trace->t0;
    path->upper = trace->t1;
    path->last = latest_location(path, before);
    if (mpi_only && trace->init_enter_max != INT64_MIN)
        path->lower = trace->init_enter_max;
    if (mpi_only && trace->finalize_enter_max != INT64_MIN) {
        path->upper = trace->finalize_enter_max;
        path->last = trace->finalize_last;
        *before = path->upper;
    }
    return LC_OK;
}

/* Barriers and the like: everybody waits until the last one comes. */
static bool is_for_all(uint8_t kind) {
    return kind == LC_WAIT_BARRIER || kind == LC_WAIT_N2N || kind == LC_WAIT_MGMT ||
           kind == LC_WAIT_INIT || kind == LC_WAIT_FINALIZE;
}

struct joint_blocking { /* a blocking in a barrier or the like */
    int64_t end, start;
    uint32_t cause, index; /* of the blocking, on its rank */
};

struct joint_end {
    int64_t latest; /* start of those who wait for the same */
    uint32_t index, reserved;
};

static uint64_t joint_key(const void *joint, uint32_t index, int level) {
    const struct joint_blocking *x = (const struct joint_blocking *)joint + index;
    return level == 0 ? x->cause : lc_key_signed(x->end);
}

/* ends[i] of joint[i]: those who wait for one cause until one instant, together: without the cause
 * they would go on when the last of them came. */
static enum lc_err find_latest(const struct joint_blocking *joint, size_t n,
                               struct joint_end **ends) {
    uint32_t *order = NULL;
    LC_TRY(lc_alloc(ends, n + 1, sizeof **ends));
    LC_TRY(lc_order_by(&order, joint, n, joint_key, 2));
    for (size_t i = 0, end; i < n; i = end) {
        const struct joint_blocking *first = &joint[order[i]];
        int64_t latest = INT64_MIN;
        for (end = i; end < n && joint[order[end]].end == first->end &&
                      joint[order[end]].cause == first->cause;
             end++)
            latest = joint[order[end]].start > latest ? joint[order[end]].start : latest;
        for (size_t k = i; k < end; k++)
            (*ends)[order[k]] =
                (struct joint_end){.latest = latest, .index = joint[order[k]].index};
    }
    free(order);
    return LC_OK;
}

/* At the owner of the cause all who wait for it are together. */
static enum lc_err find_last_but_one(const struct lc_trace *trace, struct blocking *blockings,
                                     size_t n) {
    struct joint_blocking *joint = NULL, *arrived = NULL;
    struct joint_end *ends = NULL, *back = NULL;
    uint32_t *dest = NULL;
    uint64_t *counts = NULL;
    size_t n_joint = 0, n_arrived = 0, n_back = 0, at = 0;
    for (size_t i = 0; i < n; i++)
        n_joint += blockings[i].without == INT64_MAX;
    enum lc_err err = lc_alloc(&joint, n_joint + 1, sizeof *joint);
    if (err == LC_OK)
        err = lc_alloc(&dest, n_joint + 1, sizeof *dest);
    if (err == LC_OK)
        err = lc_alloc(&counts, trace->comm->size, sizeof *counts);
    err = lc_transport_agree(trace->comm, err);
    for (size_t i = 0; i < n && err == LC_OK; i++)
        if (blockings[i].without == INT64_MAX) {
            dest[at] = lc_trace_owner(trace, blockings[i].cause);
            joint[at++] = (struct joint_blocking){blockings[i].end, blockings[i].start,
                                                  blockings[i].cause, (uint32_t)i};
        }
    if (err == LC_OK)
        err = lc_transport_exchange_from(trace->comm, joint, dest, n_joint, sizeof *joint,
                                         (void **)&arrived, &n_arrived, counts);
    if (err == LC_OK)
        err = lc_transport_agree(trace->comm, find_latest(arrived, n_arrived, &ends));
    if (err == LC_OK) /* as they came: by rank */
        err = lc_transport_exchange_grouped(trace->comm, ends, counts, sizeof *ends, (void **)&back,
                                            &n_back, NULL);
    for (size_t i = 0; i < n_back && err == LC_OK; i++)
        blockings[back[i].index].without = back[i].latest;
    free(joint);
    free(arrived);
    free(ends);
    free(back);
    free(dest);
    free(counts);
    return err;
}

/* Those of a location, in order of start, then end: its waits are in order of start. */
static size_t list_blockings(const struct lc_loc *loc, struct blocking *out) {
    size_t n = 0;
    for (size_t k = 0; k < loc->n_waits; k++) {
        const struct lc_wait *w = &loc->waits[k];
        if (!(w->flags & LC_WAIT_BLOCKS) || w->cause == LC_NONE)
            continue;
        struct blocking b = {.start = w->start,
                             .end = w->release,
                             .without = is_for_all(w->kind) ? INT64_MAX : w->start,
                             .cause = w->cause};
        size_t at = n++;
        for (; at > 0 && out[at - 1].start == b.start && out[at - 1].end > b.end; at--)
            out[at] = out[at - 1];
        out[at] = b;
    }
    return n;
}

static enum lc_err list_all(struct walk *walk, const struct lc_trace *trace) {
    size_t *n = &walk->n_blockings, most = 0;
    for (size_t i = 0; i < trace->n_locs; i++)
        most += trace->locs[i].n_waits;
    if (most >= LC_NONE)
        return lc_fail(LC_ERR_RANGE, "critical path: more than 4294967294 blockings on one rank: "
                                     "use more ranks");
    LC_TRY(lc_alloc(&walk->blockings, most + 1, sizeof *walk->blockings));
    LC_TRY(lc_alloc(&walk->first, trace->n_locs + 1, sizeof *walk->first));
    for (size_t i = 0; i < trace->n_locs; i++) {
        *n += list_blockings(&trace->locs[i], walk->blockings + *n);
        walk->first[i + 1] = *n;
    }
    return LC_OK;
}

/* The last blocking of the location that starts before `time`, or NULL. */
static const struct blocking *last_before(const struct walk *walk, size_t own, int64_t time) {
    size_t begin = walk->first[own];
    size_t after = LC_FIRST_WHERE(i, begin, walk->first[own + 1], walk->blockings[i].start >= time);
    return after > begin ? &walk->blockings[after - 1] : NULL;
}

static enum lc_err visit(struct walk *walk) {
    struct passed *at = &walk->at;
    if (at->instant != at->time)
        at->n_visited = 0;
    at->instant = at->time;
    LC_TRY(lc_grow(&walk->visited, &walk->cap_visited, at->n_visited + (size_t)1,
                   sizeof *walk->visited));
    walk->visited[at->n_visited++] = at->location;
    return LC_OK;
}

static bool was_visited(const struct walk *walk, uint32_t location) {
    for (uint32_t i = 0; i < walk->at.n_visited; i++)
        if (walk->visited[i] == location)
            return true;
    return false;
}

static enum lc_err add_segment(struct walk *walk, int64_t from) {
    struct passed *at = &walk->at;
    LC_TRY(lc_grow(&walk->segments, &walk->cap_segments, walk->n_segments + 1,
                   sizeof *walk->segments));
    walk->segments[walk->n_segments++] = (struct lc_segment){.location = at->location,
                                                             .number = (uint32_t)at->n_segments++,
                                                             .from = from,
                                                             .to = at->time,
                                                             .slack = at->slack};
    return LC_OK;
}

/* docs/definitions/wait-states.md#4-critical-path, "Extraction": as far as the path leads through
 * locations of this rank. */
static enum lc_err follow_own(struct walk *walk, const struct lc_critical_path *path) {
    const struct lc_trace *trace = path->lines->trace;
    struct passed *at = &walk->at;
    while (lc_trace_owner(trace, at->location) == trace->comm->rank) {
        LC_TRY(visit(walk));
        const struct blocking *b = last_before(walk, trace->own[at->location], at->time);
        if (b != NULL && b->end > path->lower &&
            (b->end < at->time || (b->end == at->time && !was_visited(walk, b->cause)))) {
            LC_TRY(add_segment(walk, b->end));
            at->slack = b->end - b->without;
            at->time = b->end;
            at->location = b->cause;
        } else if (b != NULL && b->end > at->time && b->end > path->lower &&
                   !was_visited(walk, b->cause)) { /* wrong clocks */
            at->location = b->cause;
        } else {
            at->ended = 1;
            return add_segment(walk, path->lower);
        }
    }
    return LC_OK;
}

/* Passes the path on to the owner of the location that it has come to; its end to everybody. */
static void pass_on(const struct walk *walk, const struct lc_trace *trace) {
    size_t bytes = sizeof walk->at + walk->at.n_visited * sizeof *walk->visited;
    char *message = NULL;
    enum lc_err err = lc_alloc(&message, bytes, 1);
    if (err != LC_OK) /* all others wait for it */
        lc_transport_abort(1);
    memcpy(message, &walk->at, sizeof walk->at);
    if (walk->at.n_visited > 0)
        memcpy(message + sizeof walk->at, walk->visited, bytes - sizeof walk->at);
    for (uint32_t r = 0; r < trace->comm->size; r++)
        if (walk->at.ended ? r != trace->comm->rank : r == lc_trace_owner(trace, walk->at.location))
            lc_transport_send(r, message, bytes);
    free(message);
}

static enum lc_err take_over(struct walk *walk) {
    char *message;
    size_t bytes;
    lc_transport_receive((void **)&message, &bytes);
    memcpy(&walk->at, message, sizeof walk->at);
    enum lc_err err =
        lc_grow(&walk->visited, &walk->cap_visited, walk->at.n_visited, sizeof *walk->visited);
    if (err == LC_OK && walk->at.n_visited > 0)
        memcpy(walk->visited, message + sizeof walk->at, bytes - sizeof walk->at);
    free(message);
    return err;
}

/* From the end of the path to its begin, from rank to rank. before: when the path could have ended
 * elsewhere. Collective. */
static enum lc_err follow(struct walk *walk, const struct lc_critical_path *path, int64_t before) {
    const struct lc_trace *trace = path->lines->trace;
    enum lc_err err = LC_OK;
    walk->at = (struct passed){.time = path->upper,
                               .slack = path->upper - before,
                               .instant = INT64_MIN,
                               .location = path->last};
    bool mine = lc_trace_owner(trace, path->last) == trace->comm->rank;
    while (!walk->at.ended) {
        if (!mine)
            err = take_over(walk);
        mine = false;
        if (walk->at.ended)
            break;
        if (err == LC_OK)
            err = follow_own(walk, path);
        walk->at.ended |= err != LC_OK;
        pass_on(walk, trace);
    }
    return err;
}

/* Adds a segment of the location with this index; local[cnode]: index of the call path in its
 * timeline. */
static void add_profile(struct lc_critical_path *path, size_t l, const struct lc_segment *segment,
                        struct lc_profile *profile, const uint32_t *local) {
    lc_profile_window(profile, &path->lines->lines[l], segment->from, segment->to, true);
    for (uint32_t i = 0; i < profile->n_touched; i++) {
        uint32_t cnode = profile->touched[i];
        int64_t ticks = profile->ticks[cnode];
        path->on_path[l][local[cnode]] += ticks;
        path->slack[l][local[cnode]] += ticks < segment->slack ? ticks : segment->slack;
        path->total[cnode] += ticks;
    }
    lc_profile_clear(profile);
}

/* The segments of this rank as (index of the location << 32 | segment), ascending. */
static size_t own_segments(const struct lc_critical_path *path, uint64_t *own) {
    const struct lc_trace *trace = path->lines->trace;
    size_t n = 0;
    for (size_t i = 0; i < path->n_own_segments; i++)
        own[n++] = (uint64_t)trace->own[path->segments[i].location] << 32 | i;
    return n;
}

static uint64_t segment_key(const void *own, uint32_t index, int level) {
    (void)level;
    return ((const uint64_t *)own)[index];
}

static enum lc_err allocate_sums(struct lc_critical_path *path) {
    const struct lc_timelines *lines = path->lines;
    size_t n_locs = lines->trace->n_locs;
    LC_TRY(lc_alloc(&path->on_path, n_locs + 1, sizeof *path->on_path));
    LC_TRY(lc_alloc(&path->slack, n_locs + 1, sizeof *path->slack));
    LC_TRY(lc_alloc(&path->total, lines->trace->n_cnodes + 1, sizeof *path->total));
    for (size_t i = 0; i < n_locs; i++) {
        LC_TRY(lc_alloc(&path->on_path[i], lines->lines[i].n_cnodes, sizeof **path->on_path));
        LC_TRY(lc_alloc(&path->slack[i], lines->lines[i].n_cnodes, sizeof **path->slack));
    }
    return LC_OK;
}

static enum lc_err sum_segments(struct lc_critical_path *path) {
    const struct lc_timelines *lines = path->lines;
    struct lc_profile profile = {0};
    uint64_t *own = NULL;
    uint32_t *local = NULL;
    enum lc_err err = allocate_sums(path);
    if (err == LC_OK)
        err = lc_profile_new(&profile, lines->trace->n_cnodes);
    if (err == LC_OK)
        err = lc_alloc(&own, path->n_own_segments + 1, sizeof *own);
    if (err == LC_OK)
        err = lc_alloc(&local, lines->trace->n_cnodes + 1, sizeof *local);
    size_t n = err == LC_OK ? own_segments(path, own) : 0, current = SIZE_MAX;
    if (err == LC_OK)
        err = lc_sort_by(own, n, sizeof *own, segment_key, 1);
    for (size_t i = 0; i < n && err == LC_OK; i++) {
        size_t l = own[i] >> 32;
        const struct lc_timeline *line = &lines->lines[l];
        for (uint32_t k = 0; l != current && k < line->n_cnodes; k++)
            local[line->cnodes[k]] = k;
        current = l;
        add_profile(path, l, &path->segments[(uint32_t)own[i]], &profile, local);
    }
    free(own);
    free(local);
    lc_profile_free(&profile);
    return err;
}

enum lc_err lc_path_find(struct lc_critical_path *path, const struct lc_timelines *lines,
                         bool mpi_only) {
    const struct lc_trace *trace = lines->trace;
    struct walk walk = {0};
    int64_t before = 0;
    *path = (struct lc_critical_path){.lines = lines};
    enum lc_err err = lc_transport_agree(trace->comm, find_bounds(path, mpi_only, &before));
    if (err == LC_OK)
        err = lc_transport_agree(trace->comm, list_all(&walk, trace));
    if (err == LC_OK)
        err = find_last_but_one(trace, walk.blockings, walk.n_blockings);
    if (err == LC_OK)
        err = lc_transport_agree(trace->comm, follow(&walk, path, before));
    path->segments = walk.segments;
    path->n_own_segments = walk.n_segments;
    path->n_segments = walk.at.n_segments;
    if (err == LC_OK && path->n_segments > UINT32_MAX)
        err = lc_fail(LC_ERR_RANGE,
                      "critical path: more than 4294967295 segments: analyse a part of the run");
    if (err == LC_OK)
        err = lc_transport_agree(trace->comm, sum_segments(path));
    if (err == LC_OK)
        lc_transport_allreduce_i64(trace->comm, path->total, trace->n_cnodes, LC_OP_SUM);
    free(walk.blockings);
    free(walk.first);
    free(walk.visited);
    if (err != LC_OK)
        lc_path_free(path);
    return err;
}

void lc_path_free(struct lc_critical_path *path) {
    for (size_t i = 0; path->lines != NULL && i < path->lines->trace->n_locs; i++) {
        if (path->on_path != NULL)
            free(path->on_path[i]);
        if (path->slack != NULL)
            free(path->slack[i]);
    }
    free(path->on_path);
    free(path->slack);
    free(path->segments);
    free(path->total);
    free(path->last_event);
    *path = (struct lc_critical_path){0};
}
