#include "analyze/time_map.h"

#include <stdlib.h>

#include "analyze/events.h"
#include "base/lookup.h"
#include "base/mem.h"

enum { FADE = 100 }; /* a shift fades by 1/FADE of the time that passes */

/* From `begin` on (until the next piece) the shift is  shift_begin + slope (t - begin), with the
 * end given by the next knot for ramps. */
struct knot {
    int64_t begin;
    uint32_t index;   /* transition at begin: of equal times, those before it are not meant */
    int64_t shift;    /* at begin */
    int64_t ramp_end; /* ramps: where the shift reaches ramp_shift; else begin */
    int64_t ramp_shift;
};

struct map {
    struct knot *knots;
    size_t n;
};

static int by_at(const void *a, const void *b) {
    const struct lc_jump *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    if (x->index != y->index)
        return x->index < y->index ? -1 : 1;
    return x->shift < y->shift ? -1 : x->shift > y->shift;
}

/* shift * part / whole without overflow: shifts and ramps are short, but archives may be hostile.
 */
static int64_t scaled(int64_t shift, int64_t part, int64_t whole) {
    return whole <= 0 ? shift : (int64_t)((__int128)shift * part / whole);
}

static int64_t shift_at(const struct knot *k, int64_t t) {
    if (k->ramp_end > k->begin && t <= k->ramp_end) /* at its end: those before the next knot's */
        return k->shift + scaled(k->ramp_shift - k->shift, t - k->begin, k->ramp_end - k->begin);
    int64_t faded = k->shift - (t - k->begin) / FADE;
    return faded > 0 ? faded : 0;
}

static int64_t mapped_at(const struct map *map, int64_t t, uint32_t index) {
    const struct knot *k = map->knots;
    size_t after =
        LC_FIRST_WHERE(i, 0, map->n, k[i].begin > t || (k[i].begin == t && k[i].index > index));
    return after ? t + shift_at(&k[after - 1], t) : t;
}

static int64_t mapped(const struct map *map, int64_t t) {
    return mapped_at(map, t, UINT32_MAX);
}

static enum lc_err build(struct map *map, struct lc_jump *jumps, size_t n) {
    LC_TRY(lc_alloc(&map->knots, 2 * n, sizeof *map->knots));
    map->n = 0;
    qsort(jumps, n, sizeof *jumps, by_at);
    for (size_t i = 0; i < n; i++) {
        const struct lc_jump *j = &jumps[i];
        struct knot *last = map->n ? &map->knots[map->n - 1] : NULL;
        int64_t before = last ? shift_at(last, j->at) : 0;
        if (j->shift <= before)
            continue; /* an earlier jump has moved it far enough */
        int64_t from = j->from;
        if (last && from <= last->begin)
            from = last->begin + 1;
        if (from < j->at) {
            int64_t at_from = last ? shift_at(last, from) : 0;
            map->knots[map->n++] = (struct knot){from, j->from_index, at_from, j->at, j->shift};
        }
        map->knots[map->n++] = (struct knot){j->at, j->index, j->shift, j->at, 0};
    }
    return LC_OK;
}

static void map_extra(const struct map *map, struct lc_loc_extra *e) {
    for (size_t i = 0; i < e->n_teams; i++) {
        e->teams[i].begin = mapped(map, e->teams[i].begin);
        if (e->teams[i].end != INT64_MAX)
            e->teams[i].end = mapped(map, e->teams[i].end);
    }
    for (size_t i = 0; i < e->n_locks; i++) {
        e->locks[i].enter = mapped(map, e->locks[i].enter);
        e->locks[i].acquired = mapped(map, e->locks[i].acquired);
        if (e->locks[i].released != INT64_MAX)
            e->locks[i].released = mapped(map, e->locks[i].released);
    }
    for (int level = 0; e->tasks && level < LC_TASK_LEVELS; level++)
        for (size_t i = 0; i < e->tasks[level].n; i++) {
            struct lc_span *task = &e->tasks[level].all[i];
            task->begin = mapped(map, task->begin);
            task->end = mapped(map, task->end);
        }
    for (size_t i = 0; i < e->n_task_events; i++) {
        struct lc_task_event *event = &e->task_events[i];
        event->time = mapped(map, event->time);
    }
    for (size_t i = 0; i < e->n_phases; i++) {
        e->phases[i].begin = mapped(map, e->phases[i].begin);
        if (e->phases[i].end != INT64_MAX)
            e->phases[i].end = mapped(map, e->phases[i].end);
    }
}

static void map_if(const struct map *map, int64_t *t) {
    if (*t != INT64_MIN)
        *t = mapped(map, *t);
}

static void map_location(const struct map *map, struct lc_loc *loc) {
    for (uint32_t i = 0; i < loc->n_transitions; i++)
        loc->time[i] = mapped_at(map, loc->time[i], i);
    for (size_t i = 0; i < loc->n_colls; i++) {
        const struct lc_mpi_call *call = &loc->calls[loc->colls[i].call];
        loc->colls[i].begin = mapped_at(map, loc->colls[i].begin, call->enter);
        loc->colls[i].end = mapped_at(map, loc->colls[i].end, call->leave);
    }
    map_if(map, &loc->init_enter);
    map_if(map, &loc->init_leave);
    map_if(map, &loc->finalize_enter);
    map_if(map, &loc->finalize_leave);
    if (loc->extra)
        map_extra(map, loc->extra);
}

enum lc_err lc_time_map_apply(struct lc_jump *jumps, size_t n_jumps, struct lc_loc *locs,
                              uint32_t n_locs) {
    struct map map;
    LC_TRY(build(&map, jumps, n_jumps));
    for (uint32_t i = 0; i < n_locs; i++)
        map_location(&map, &locs[i]);
    free(map.knots);
    return LC_OK;
}
