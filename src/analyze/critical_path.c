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
    uint32_t location, cause;
};

/* What rank 0 needs to follow the path. */
struct walk {
    struct blocking *blockings; /* by location, then start */
    size_t *first;              /* per location, n_locations + 1 */
    struct lc_segment *segments;
    size_t n_segments, cap_segments;
    uint32_t *visited; /* at the current instant */
    size_t n_visited, cap_visited;
    int64_t instant;
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
    uint32_t cause, index; /* of the blocking */
};

static uint64_t joint_key(const void *joint, uint32_t index, int level) {
    const struct joint_blocking *x = (const struct joint_blocking *)joint + index;
    return level == 0 ? x->cause : lc_key_signed(x->end);
}

/* Those who wait for one cause until one instant, together: without the cause they would go on when
 * the last of them came. */
static enum lc_err find_last_but_one(struct blocking *blockings, size_t n) {
    struct joint_blocking *joint = NULL;
    size_t n_joint = 0;
    for (size_t i = 0; i < n; i++)
        n_joint += blockings[i].without == INT64_MAX;
    LC_TRY(lc_alloc(&joint, n_joint + 1, sizeof *joint));
    size_t at = 0;
    for (size_t i = 0; i < n; i++)
        if (blockings[i].without == INT64_MAX)
            joint[at++] = (struct joint_blocking){blockings[i].end, blockings[i].start,
                                                  blockings[i].cause, (uint32_t)i};
    enum lc_err err = lc_sort_by(joint, n_joint, sizeof *joint, joint_key, 2);
    for (size_t i = 0, end; i < n_joint && err == LC_OK; i = end) {
        int64_t latest = INT64_MIN;
        for (end = i;
             end < n_joint && joint[end].end == joint[i].end && joint[end].cause == joint[i].cause;
             end++)
            latest = joint[end].start > latest ? joint[end].start : latest;
        for (size_t k = i; k < end; k++)
            blockings[joint[k].index].without = latest;
    }
    free(joint);
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
                             .location = loc->id,
                             .cause = w->cause};
        size_t at = n++;
        for (; at > 0 && out[at - 1].start == b.start && out[at - 1].end > b.end; at--)
            out[at] = out[at - 1];
        out[at] = b;
    }
    return n;
}

/* Rank 0: puts what came rank by rank, each in order of its locations, in order of all locations.
 */
static enum lc_err order_blockings(struct walk *walk, struct blocking *arrived, size_t n,
                                   const struct lc_trace *trace) {
    if (n >= LC_NONE)
        return lc_fail(LC_ERR_RANGE,
                       "critical path: more than 4294967294 blockings: analyse a part of the run");
    LC_TRY(lc_alloc(&walk->first, trace->n_locations + 2, sizeof *walk->first));
    for (size_t i = 0; i < n; i++)
        walk->first[arrived[i].location + 2]++;
    for (size_t i = 1; i <= trace->n_locations; i++)
        walk->first[i + 1] += walk->first[i];
    LC_TRY(lc_alloc(&walk->blockings, n + 1, sizeof *walk->blockings));
    for (size_t i = 0; i < n; i++)
        walk->blockings[walk->first[arrived[i].location + 1]++] = arrived[i];
    return find_last_but_one(walk->blockings, n);
}

static enum lc_err gather_blockings(struct walk *walk, const struct lc_trace *trace) {
    struct blocking *mine = NULL, *arrived = NULL;
    size_t n = 0, most = 0, bytes = 0;
    for (size_t i = 0; i < trace->n_locs; i++)
        most += trace->locs[i].n_waits;
    enum lc_err err = lc_transport_agree(trace->comm, lc_alloc(&mine, most + 1, sizeof *mine));
    for (size_t i = 0; i < trace->n_locs && err == LC_OK; i++)
        n += list_blockings(&trace->locs[i], mine + n);
    if (err == LC_OK)
        err = lc_transport_gather(trace->comm, mine, n * sizeof *mine, (void **)&arrived, &bytes,
                                  NULL);
    free(mine);
    if (err == LC_OK && trace->comm->rank == 0)
        err = order_blockings(walk, arrived, bytes / sizeof *arrived, trace);
    free(arrived);
    return lc_transport_agree(trace->comm, err);
}

/* The last blocking of the location that starts before `time`, or NULL. */
static const struct blocking *last_before(const struct walk *walk, uint32_t location,
                                          int64_t time) {
    size_t begin = walk->first[location];
    size_t after =
        LC_FIRST_WHERE(i, begin, walk->first[location + 1], walk->blockings[i].start >= time);
    return after > begin ? &walk->blockings[after - 1] : NULL;
}

static enum lc_err visit(struct walk *walk, uint32_t location, int64_t time) {
    if (walk->instant != time)
        walk->n_visited = 0;
    walk->instant = time;
    LC_TRY(lc_grow(&walk->visited, &walk->cap_visited, walk->n_visited + 1, sizeof *walk->visited));
    walk->visited[walk->n_visited++] = location;
    return LC_OK;
}

static bool was_visited(const struct walk *walk, uint32_t location) {
    for (size_t i = 0; i < walk->n_visited; i++)
        if (walk->visited[i] == location)
            return true;
    return false;
}

static enum lc_err add_segment(struct walk *walk, uint32_t location, int64_t from, int64_t to,
                               int64_t slack) {
    LC_TRY(lc_grow(&walk->segments, &walk->cap_segments, walk->n_segments + 1,
                   sizeof *walk->segments));
    walk->segments[walk->n_segments++] =
        (struct lc_segment){.location = location, .from = from, .to = to, .slack = slack};
    return LC_OK;
}

/* docs/definitions/wait-states.md#4-critical-path, "Extraction". */
static enum lc_err follow(struct walk *walk, const struct lc_critical_path *path, int64_t before) {
    uint32_t p = path->last;
    int64_t t = path->upper, slack = t - before;
    walk->instant = INT64_MIN;
    for (;;) {
        LC_TRY(visit(walk, p, t));
        const struct blocking *b = last_before(walk, p, t);
        if (b == NULL || b->end <= path->lower)
            return add_segment(walk, p, path->lower, t, slack);
        if (b->end < t || (b->end == t && !was_visited(walk, b->cause))) {
            LC_TRY(add_segment(walk, p, b->end, t, slack));
            slack = b->end - b->without;
            t = b->end;
            p = b->cause;
        } else if (b->end > t && !was_visited(walk, b->cause)) { /* wrong clocks */
            p = b->cause;
        } else {
            return add_segment(walk, p, path->lower, t, slack);
        }
    }
}

static enum lc_err share_segments(struct lc_critical_path *path, struct walk *walk) {
    const struct lc_transport *comm = path->lines->trace->comm;
    uint64_t n = walk->n_segments;
    lc_transport_bcast(comm, &n, sizeof n, 0);
    if (comm->rank == 0) {
        path->segments = walk->segments;
        walk->segments = NULL;
    }
    enum lc_err err =
        comm->rank == 0 ? LC_OK : lc_alloc(&path->segments, n + 1, sizeof *path->segments);
    LC_TRY(lc_transport_agree(comm, err));
    path->n_segments = n;
    lc_transport_bcast(comm, path->segments, n * sizeof *path->segments, 0);
    return LC_OK;
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
    for (size_t i = 0; i < path->n_segments; i++) {
        const struct lc_loc *loc = lc_trace_loc(trace, path->segments[i].location);
        if (loc != NULL)
            own[n++] = (uint64_t)(loc - trace->locs) << 32 | i;
    }
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
        err = lc_alloc(&own, path->n_segments + 1, sizeof *own);
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
        err = gather_blockings(&walk, trace);
    if (err == LC_OK)
        err = lc_transport_agree(trace->comm,
                                 trace->comm->rank == 0 ? follow(&walk, path, before) : LC_OK);
    if (err == LC_OK)
        err = share_segments(path, &walk);
    if (err == LC_OK && path->n_segments > UINT32_MAX)
        err = lc_fail(LC_ERR_RANGE,
                      "critical path: more than 4294967295 segments: analyse a part of the run");
    if (err == LC_OK)
        err = lc_transport_agree(trace->comm, sum_segments(path));
    if (err == LC_OK)
        lc_transport_allreduce_i64(trace->comm, path->total, trace->n_cnodes, LC_OP_SUM);
    free(walk.blockings);
    free(walk.first);
    free(walk.segments);
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
