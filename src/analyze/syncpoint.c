#include "analyze/syncpoint.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/radix.h"
#include "base/lookup.h"
#include "base/mem.h"

/* A wait of one location for another that only these two take part in, seen from one of them. */
struct pair_point {
    uint32_t location, partner;
    int64_t time;
};

struct listed_sync { /* on the way to another rank */
    struct lc_sync sync;
    uint32_t location, reserved;
};

struct sync_list {
    const struct lc_sync *syncs;
    size_t n;
};

struct finder {
    const struct lc_timelines *lines;
    int64_t origin;
    struct pair_point *pairs; /* sorted */
    size_t n_pairs;
    struct listed_sync *foreign;
    struct lc_sync *foreign_syncs; /* the same, without locations */
    struct sync_list *lists;       /* per location of the trace; empty where nobody asked */
    struct walked *walked;         /* per location of the trace, for the current r */
};

/* For the current r, whose states come in order of time, and this location: how far both were
 * looked at. */
struct walked {
    uint32_t stamp;
    size_t pair;         /* points of the two alone below this index lie before the last question */
    size_t until, cause; /* points of r, of this location before it ... */
    int64_t found;       /* ... and this is the latest common one */
};

/* The origin of docs/definitions/wait-states.md#31-synchronisation-points. */
static int64_t sync_origin(const struct lc_trace *trace) {
    if (trace->init_enter_max != INT64_MIN && trace->init_enter_max <= trace->init_leave_min)
        return trace->init_leave_min;
    return trace->t0;
}

static uint64_t pair_key(const void *pairs, uint32_t index, int level) {
    const struct pair_point *x = (const struct pair_point *)pairs + index;
    return level == 0 ? lc_key_signed(x->time) : (uint64_t)x->location << 32 | x->partner;
}

/* The waiting location and the cause alone synchronise. */
static bool is_pair_point(const struct lc_wait *w) {
    switch (w->kind) {
    case LC_WAIT_LS:
    case LC_WAIT_LR:
    case LC_WAIT_PROBE:
    case LC_WAIT_RMA_EARLY_WAIT:
    case LC_WAIT_RMA_LATE_POST:
    case LC_WAIT_RMA_LOCK:
    case LC_WAIT_NEIGHBOR:
        return !(w->flags & LC_WAIT_CUT);
    default:
        return false;
    }
}

static enum lc_err find_pairs(struct finder *f) {
    const struct lc_timelines *lines = f->lines;
    struct lc_trace *trace = lines->trace;
    struct pair_point *mine = NULL, *theirs = NULL;
    uint32_t *dest = NULL;
    size_t n = 0, n_theirs = 0;
    enum lc_err err = lc_alloc(&mine, lines->n_states + 1, sizeof *mine);
    if (err == LC_OK)
        err = lc_alloc(&dest, lines->n_states + 1, sizeof *dest);
    for (size_t i = 0; i < trace->n_locs && err == LC_OK; i++) {
        const struct lc_timeline *line = &lines->lines[i];
        for (uint32_t k = 0; k < line->n_states; k++) {
            const struct lc_wait *w = &line->loc->waits[line->states[k].wait];
            if (!is_pair_point(w))
                continue;
            dest[n] = lc_trace_owner(trace, w->cause);
            mine[n++] = (struct pair_point){w->cause, line->loc->id,
                                            w->end < w->cause_end ? w->end : w->cause_end};
        }
    }
    err = lc_transport_agree(trace->comm, err);
    if (err == LC_OK)
        err = lc_transport_agree(trace->comm,
                                 lc_transport_exchange(trace->comm, mine, dest, n, sizeof *mine,
                                                       (void **)&theirs, &n_theirs));
    if (err == LC_OK)
        err = lc_alloc(&f->pairs, n + n_theirs + 1, sizeof *f->pairs);
    if (err == LC_OK) {
        for (size_t i = 0; i < n; i++)
            f->pairs[i] = (struct pair_point){mine[i].partner, mine[i].location, mine[i].time};
        if (n_theirs > 0)
            memcpy(f->pairs + n, theirs, n_theirs * sizeof *theirs);
        f->n_pairs = n + n_theirs;
        err = lc_sort_by(f->pairs, f->n_pairs, sizeof *f->pairs, pair_key, 2);
    }
    free(mine);
    free(theirs);
    free(dest);
    return lc_transport_agree(trace->comm, err);
}

/* Marks the causes of states of this rank that other ranks own; wanted[] lists them. */
static size_t find_foreign(const struct lc_timelines *lines, uint8_t *marks, uint32_t *wanted) {
    struct lc_trace *trace = lines->trace;
    size_t n = 0;
    for (size_t i = 0; i < trace->n_locs; i++) {
        const struct lc_timeline *line = &lines->lines[i];
        for (uint32_t k = 0; k < line->n_states; k++) {
            uint32_t cause = line->loc->waits[line->states[k].wait].cause;
            if (cause == LC_NONE || marks[cause] ||
                lc_trace_owner(trace, cause) == trace->comm->rank)
                continue;
            marks[cause] = 1;
            wanted[n++] = cause;
        }
    }
    return n;
}

struct request {
    uint32_t location, from;
};

/* What the other ranks asked for. */
static enum lc_err answer(const struct lc_trace *trace, const struct request *requests,
                          size_t n_requests, struct listed_sync **replies, uint32_t **dest,
                          size_t *n) {
    size_t total = 0;
    for (size_t i = 0; i < n_requests; i++)
        total += lc_trace_loc(trace, requests[i].location)->n_syncs;
    LC_TRY(lc_alloc(replies, total + 1, sizeof **replies));
    LC_TRY(lc_alloc(dest, total + 1, sizeof **dest));
    *n = 0;
    for (size_t i = 0; i < n_requests; i++) {
        const struct lc_loc *loc = lc_trace_loc(trace, requests[i].location);
        for (size_t k = 0; k < loc->n_syncs; k++) {
            (*dest)[*n] = requests[i].from;
            (*replies)[(*n)++] = (struct listed_sync){.sync = loc->syncs[k], .location = loc->id};
        }
    }
    return LC_OK;
}

static enum lc_err index_foreign(struct finder *f, size_t n) {
    LC_TRY(lc_alloc(&f->foreign_syncs, n + 1, sizeof *f->foreign_syncs));
    for (size_t i = 0; i < n; i++) {
        struct sync_list *list = &f->lists[f->foreign[i].location];
        f->foreign_syncs[i] = f->foreign[i].sync;
        if (list->n == 0) /* those of a location come one after another */
            list->syncs = &f->foreign_syncs[i];
        list->n++;
    }
    free(f->foreign);
    f->foreign = NULL;
    return LC_OK;
}

static enum lc_err fetch_foreign(struct finder *f) {
    struct lc_trace *trace = f->lines->trace;
    const struct lc_transport *comm = trace->comm;
    uint8_t *marks = NULL;
    uint32_t *wanted = NULL, *dest = NULL, *reply_dest = NULL;
    struct request *asked = NULL, *requests = NULL;
    struct listed_sync *replies = NULL;
    size_t n = 0, n_requests = 0, n_replies = 0, n_foreign = 0;
    enum lc_err err = lc_alloc(&marks, trace->n_locations, 1);
    if (err == LC_OK)
        err = lc_alloc(&wanted, trace->n_locations, sizeof *wanted);
    if (err == LC_OK)
        n = find_foreign(f->lines, marks, wanted);
    if (err == LC_OK)
        err = lc_alloc(&dest, n + 1, sizeof *dest);
    if (err == LC_OK)
        err = lc_alloc(&asked, n + 1, sizeof *asked);
    for (size_t i = 0; i < n && err == LC_OK; i++) {
        dest[i] = lc_trace_owner(trace, wanted[i]);
        asked[i] = (struct request){wanted[i], comm->rank};
    }
    err = lc_transport_agree(comm, err);
    if (err == LC_OK)
        err = lc_transport_agree(comm, lc_transport_exchange(comm, asked, dest, n, sizeof *asked,
                                                             (void **)&requests, &n_requests));
    if (err == LC_OK)
        err = lc_transport_agree(
            comm, answer(trace, requests, n_requests, &replies, &reply_dest, &n_replies));
    if (err == LC_OK)
        err = lc_transport_agree(comm, lc_transport_exchange(comm, replies, reply_dest, n_replies,
                                                             sizeof *replies, (void **)&f->foreign,
                                                             &n_foreign));
    if (err == LC_OK)
        err = lc_transport_agree(comm, index_foreign(f, n_foreign));
    free(marks);
    free(wanted);
    free(dest);
    free(asked);
    free(requests);
    free(replies);
    free(reply_dest);
    return err;
}

/* Index of the first point of the pair. */
static size_t first_of_pair(const struct finder *f, uint32_t location, uint32_t partner) {
    uint64_t key = (uint64_t)location << 32 | partner;
    return LC_FIRST_WHERE(i, 0, f->n_pairs,
                          ((uint64_t)f->pairs[i].location << 32 | f->pairs[i].partner) >= key);
}

/* Latest point of the pair alone at or before `time`; INT64_MIN if there is none. */
static int64_t latest_of_pair(const struct finder *f, struct walked *known, uint32_t location,
                              uint32_t partner, int64_t time) {
    const struct pair_point *pairs = f->pairs;
    size_t i = known->pair;
    while (i < f->n_pairs && pairs[i].time <= time && pairs[i].partner == partner &&
           pairs[i].location == location)
        i++;
    known->pair = i;
    return i > 0 && pairs[i - 1].partner == partner && pairs[i - 1].location == location
               ? pairs[i - 1].time
               : INT64_MIN;
}

/* Number of points at or before `time`, at least `low`: in steps that double, since it mostly is
 * near. */
static size_t points_until(const struct sync_list *list, size_t low, int64_t time) {
    size_t step = 1;
    for (; step <= list->n - low && list->syncs[low + step - 1].time <= time; step *= 2)
        low += step;
    size_t high = step < list->n - low ? low + step : list->n;
    return LC_FIRST_WHERE(i, low, high, list->syncs[i].time > time);
}

static int compare_syncs(const struct lc_sync *x, const struct lc_sync *y) {
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    if (x->instance != y->instance)
        return x->instance < y->instance ? -1 : 1;
    return (x->group > y->group) - (x->group < y->group);
}

/* Latest common point of two lists at or before the question's time, where the list of r has
 * `top` points: what lies before the last question about the same pair is known, so that all
 * questions about a pair together walk its lists once. */
static int64_t latest_common(const struct finder *f, struct walked *known,
                             const struct sync_list *a, size_t top, uint32_t cause, int64_t time) {
    const struct sync_list *b = &f->lists[cause];
    size_t i = top, j = points_until(b, known->cause, time);
    known->cause = j;
    while (i > known->until && j > 0) {
        int order = compare_syncs(&a->syncs[i - 1], &b->syncs[j - 1]);
        if (order == 0) {
            known->found = a->syncs[i - 1].time;
            break;
        }
        if (order > 0)
            i--;
        else
            j--;
    }
    known->until = top;
    return known->found;
}

static void find_starts_of(struct finder *f, const struct lc_timeline *line, uint32_t stamp,
                           int64_t *starts) {
    const struct sync_list *own = &f->lists[line->loc->id];
    size_t top = 0;
    for (uint32_t k = 0; k < line->n_states; k++) {
        const struct lc_wait *w = &line->loc->waits[line->states[k].wait];
        starts[k] = INT64_MIN;
        if (w->cause == LC_NONE)
            continue;
        struct walked *known = &f->walked[w->cause];
        if (known->stamp != stamp)
            *known = (struct walked){.stamp = stamp,
                                     .pair = first_of_pair(f, line->loc->id, w->cause),
                                     .found = INT64_MIN};
        top = points_until(own, top, w->start);
        int64_t pair = latest_of_pair(f, known, line->loc->id, w->cause, w->start);
        int64_t common = latest_common(f, known, own, top, w->cause, w->start);
        starts[k] = pair > common ? pair : common;
        starts[k] = starts[k] > f->origin ? starts[k] : f->origin;
    }
}

enum lc_err lc_sync_starts(const struct lc_timelines *lines, int64_t *starts) {
    struct lc_trace *trace = lines->trace;
    struct finder f = {.lines = lines, .origin = sync_origin(trace)};
    enum lc_err err = lc_alloc(&f.lists, trace->n_locations, sizeof *f.lists);
    if (err == LC_OK)
        err = lc_alloc(&f.walked, trace->n_locations, sizeof *f.walked);
    err = lc_transport_agree(trace->comm, err);
    if (err == LC_OK) {
        for (size_t i = 0; i < trace->n_locs; i++)
            f.lists[trace->locs[i].id] =
                (struct sync_list){trace->locs[i].syncs, trace->locs[i].n_syncs};
        err = find_pairs(&f);
    }
    if (err == LC_OK && trace->comm->size > 1)
        err = fetch_foreign(&f);
    for (size_t i = 0; i < trace->n_locs && err == LC_OK; i++)
        find_starts_of(&f, &lines->lines[i], (uint32_t)i + 1,
                       starts + (lines->lines[i].states - lines->states));
    free(f.pairs);
    free(f.foreign);
    free(f.foreign_syncs);
    free(f.lists);
    free(f.walked);
    return err;
}
