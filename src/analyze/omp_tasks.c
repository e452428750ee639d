#include "analyze/omp_tasks.h"

#include <stdlib.h>

#include "analyze/events.h"
#include "analyze/health.h"
#include "analyze/syncs.h"
#include "base/idmap.h"
#include "base/lookup.h"
#include "base/mem.h"

struct task {
    uint64_t creator;       /* task */
    int64_t created, ended; /* INT64_MIN: not known; INT64_MAX: it has not ended */
    uint32_t by, on;        /* locations: of the creation, of the end */
    uint32_t create_cnode, cnode;
};

struct lc_omp_tasks {
    struct lc_health *health;
    struct lc_loc *locs;
    uint32_t n_locs;
    struct task *all;
    size_t n, cap;
    uint32_t *ends; /* tasks that have ended, in the order of their ends */
    size_t n_ends;
    struct lc_idmap number; /* of an id */
    uint64_t *next_point;
};

enum { DEEPEST = 10000 }; /* generations of tasks; more are damage */

static const struct task *find(const struct lc_omp_tasks *t, uint64_t id) {
    uint32_t number = lc_idmap_get(&t->number, id);
    return number != LC_NONE ? &t->all[number] : NULL;
}

static enum lc_err add_event(struct lc_omp_tasks *t, const struct lc_loc *loc,
                             const struct lc_task_event *event) {
    uint32_t number = lc_idmap_get(&t->number, event->task);
    if (number == LC_NONE) {
        number = (uint32_t)t->n;
        LC_TRY(lc_grow(&t->all, &t->cap, t->n + 1, sizeof *t->all));
        LC_TRY(lc_idmap_put(&t->number, event->task, number));
        t->all[t->n++] = (struct task){.created = INT64_MIN, .ended = INT64_MAX};
    }
    struct task *task = &t->all[number];
    if (event->what == LC_TASK_CREATED) {
        task->creator = event->other;
        task->created = event->time;
        task->by = loc->id;
        task->create_cnode = event->cnode;
    } else if (event->what == LC_TASK_ENDED) {
        task->ended = event->time;
        task->on = loc->id;
        task->cnode = event->cnode;
    }
    return LC_OK;
}

/* One task's end, to be sorted. */
struct end {
    int64_t time;
    uint32_t task;
};

static int by_time(const void *a, const void *b) {
    const struct end *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->task > y->task) - (x->task < y->task);
}

static enum lc_err order_ends(struct lc_omp_tasks *t) {
    struct end *ends = NULL;
    LC_TRY(lc_alloc(&t->ends, t->n + 1, sizeof *t->ends));
    LC_TRY(lc_alloc(&ends, t->n + 1, sizeof *ends));
    for (size_t i = 0; i < t->n; i++)
        if (t->all[i].ended != INT64_MAX)
            ends[t->n_ends++] = (struct end){t->all[i].ended, (uint32_t)i};
    if (t->n_ends > 0)
        qsort(ends, t->n_ends, sizeof *ends, by_time);
    for (size_t i = 0; i < t->n_ends; i++)
        t->ends[i] = ends[i].task;
    free(ends);
    return LC_OK;
}

static enum lc_err gather(struct lc_omp_tasks *t) {
    for (uint32_t l = 0; l < t->n_locs; l++) {
        const struct lc_loc_extra *extra = t->locs[l].extra;
        for (size_t i = 0; extra && i < extra->n_task_events; i++)
            if (extra->task_events[i].what <= LC_TASK_ENDED)
                LC_TRY(add_event(t, &t->locs[l], &extra->task_events[i]));
    }
    return order_ends(t);
}

/* The waiting task created it before `from`, or (a taskgroup) one of those that it created then
 * did. */
static bool awaited(const struct lc_omp_tasks *t, const struct lc_task_event *wait,
                    const struct task *task, int64_t from) {
    int generations = wait->what == LC_TASK_WAITS ? 1 : DEEPEST;
    for (int i = 0; task != NULL && i < generations; i++, task = find(t, task->creator))
        if (task->creator == wait->task)
            return task->created <= from;
    return false;
}

/* Dependences are between tasks that one task created. */
static bool may_depend_on(const struct task *task, const struct task *other) {
    return task != other && task->creator == other->creator && other->created <= task->created;
}

/* The last task that ended in (from, until], and `wait` waits for, NULL: any; that `task` may
 * depend on, NULL: any; not on a location. */
static const struct task *last_ended(const struct lc_omp_tasks *t, const struct lc_task_event *wait,
                                     const struct task *task, int64_t from, int64_t until,
                                     uint32_t not_on) {
    size_t i = LC_FIRST_WHERE(later, 0, t->n_ends, t->all[t->ends[later]].ended > until);
    while (i-- > 0) {
        const struct task *ended = &t->all[t->ends[i]];
        if (ended->ended <= from)
            break;
        if (ended->on != not_on && (wait == NULL || awaited(t, wait, ended, from)) &&
            (task == NULL || may_depend_on(task, ended)))
            return ended;
    }
    return NULL;
}

/* The location and `other` synchronise at this time. */
static enum lc_err add_sync_point(const struct lc_omp_tasks *t, struct lc_loc *loc, uint32_t other,
                                  int64_t time) {
    uint64_t point = (*t->next_point)++;
    LC_TRY(lc_sync_add(loc, time, point, 0));
    return lc_sync_add(&t->locs[other - t->locs[0].id], time, point, 0);
}

/* Tasks that the location executes in that construct, and in others of its level. */
static const struct lc_spans *spans_in(const struct lc_loc *loc, const struct lc_mpi_call *call) {
    static const struct lc_spans none;
    const struct lc_spans *levels = loc->extra ? loc->extra->tasks : NULL;
    return levels && call->task_level < LC_TASK_LEVELS ? &levels[call->task_level] : &none;
}

/* The task that began at that time. */
static const struct task *begun_at(const struct lc_omp_tasks *t, const struct lc_loc *loc,
                                   int64_t time) {
    const struct lc_task_event *all = loc->extra->task_events;
    size_t i = LC_FIRST_WHERE(k, 0, loc->extra->n_task_events, all[k].time > time);
    while (i-- > 0)
        if (all[i].what == LC_TASK_BEGUN)
            return find(t, all[i].task);
    return NULL;
}

/* Who let the task begin at `until` for which the location had waited since `from`: sets release
 * and cause. */
static void find_release(const struct lc_omp_tasks *t, const struct lc_loc *loc,
                         struct lc_wait *wait, int64_t from, int64_t until) {
    const struct task *task = begun_at(t, loc, until);
    wait->start = from;
    wait->release = until;
    wait->cause = wait->cause_cnode = LC_NONE;
    if (task != NULL && task->created == INT64_MIN)
        task = NULL;
    if (task != NULL && task->by != loc->id && task->created > from && task->created <= until) {
        wait->release = from = task->created;
        wait->cause = task->by;
        wait->cause_cnode = task->create_cnode;
    }
    const struct task *ended = last_ended(t, NULL, task, from, until, loc->id);
    if (ended != NULL) {
        wait->release = ended->ended;
        wait->cause = ended->on;
        wait->cause_cnode = ended->cnode;
    }
    wait->cause_end = wait->release;
    wait->instance = UINT64_MAX;
    wait->end = until;
}

static enum lc_err add_part(const struct lc_omp_tasks *t, struct lc_loc *loc,
                            struct lc_wait *part) {
    if (lc_wait_ticks(part) <= 0)
        return LC_OK;
    part->flags = LC_WAIT_STATE;
    if (part->cause != LC_NONE) {
        part->flags |= LC_WAIT_BLOCKS;
        LC_TRY(add_sync_point(t, loc, part->cause, part->release));
    }
    return lc_wait_add(loc, part);
}

/* From there until a task began: first for somebody else, then for the runtime. */
static enum lc_err add_parts(const struct lc_omp_tasks *t, struct lc_loc *loc,
                             const struct lc_wait *wait, int64_t from, int64_t until) {
    struct lc_wait part = *wait;
    find_release(t, loc, &part, from, until);
    LC_TRY(add_part(t, loc, &part));
    part.start = part.start > part.release ? part.start : part.release;
    part.release = part.cause_end = until;
    part.cause = part.cause_cnode = LC_NONE;
    return add_part(t, loc, &part);
}

static int64_t ticks_within(const struct lc_spans *spans, int64_t begin, int64_t end) {
    size_t first = LC_FIRST_WHERE(i, 0, spans->n, spans->all[i].end > begin);
    int64_t sum = 0;
    for (size_t i = first; i < spans->n && spans->all[i].begin < end; i++) {
        int64_t from = spans->all[i].begin > begin ? spans->all[i].begin : begin;
        int64_t until = spans->all[i].end < end ? spans->all[i].end : end;
        sum += until > from ? until - from : 0;
    }
    return sum;
}

enum lc_err lc_omp_wait_add(struct lc_omp_tasks *t, struct lc_loc *loc,
                            const struct lc_mpi_call *call, const struct lc_wait *wait) {
    const struct lc_spans *spans = spans_in(loc, call);
    struct lc_wait rest = *wait;
    int64_t until = wait->release < wait->end ? wait->release : wait->end;
    if (t->n == 0) {
        rest.busy_ticks = ticks_within(spans, wait->start, until);
        return lc_wait_ticks(&rest) > 0 ? lc_wait_add(loc, &rest) : LC_OK;
    }
    size_t i = LC_FIRST_WHERE(k, 0, spans->n, spans->all[k].end > wait->start);
    for (; i < spans->n && spans->all[i].begin < until; i++) {
        LC_TRY(add_parts(t, loc, wait, rest.start, spans->all[i].begin));
        rest.start = spans->all[i].end;
    }
    return lc_wait_ticks(&rest) > 0 ? lc_wait_add(loc, &rest) : LC_OK;
}

/* A task that makes others does not wait yet, whatever its records say: else a thread that waited
 * for the last of these to be made, and then runs it, would wait for a task that waits for it. */
static int64_t begin_of_wait(const struct lc_omp_tasks *t, const struct lc_loc *loc,
                             const struct lc_task_event *event, int64_t start, int64_t end) {
    const struct lc_task_event *last = loc->extra->task_events + loc->extra->n_task_events;
    int64_t begin = start;
    for (const struct lc_task_event *e = event + 1; e < last && e->time < end; e++)
        if (e->what == LC_TASK_CREATED && e->other == event->task)
            begin = e->time;
    if (begin > start)
        lc_health_note(t->health, LC_HEALTH_WAIT_BEFORE_TASKS, loc->id);
    return begin;
}

static enum lc_err add_task_wait(struct lc_omp_tasks *t, struct lc_loc *loc,
                                 const struct lc_task_event *event) {
    const struct lc_mpi_call *call = &loc->calls[event->call];
    int64_t end = loc->time[call->leave];
    int64_t start = begin_of_wait(t, loc, event, loc->time[call->enter], end);
    struct lc_wait wait = {.start = start,
                           .release = end,
                           .end = end,
                           .cause_end = end,
                           .instance = UINT64_MAX,
                           .cnode = loc->cnode[call->enter],
                           .cause = LC_NONE,
                           .cause_cnode = LC_NONE,
                           .kind = LC_WAIT_TASKWAIT,
                           .flags = LC_WAIT_STATE};
    const struct task *last = t->n > 0 ? last_ended(t, event, NULL, start, end, LC_NONE) : NULL;
    if (t->n > 0 && last == NULL)
        return LC_OK;
    if (last != NULL)
        wait.release = last->ended;
    if (last != NULL && last->on != loc->id) {
        wait.cause = last->on;
        wait.cause_cnode = last->cnode;
        wait.cause_end = last->ended;
        wait.flags |= LC_WAIT_BLOCKS;
        LC_TRY(add_sync_point(t, loc, wait.cause, last->ended));
    }
    return lc_omp_wait_add(t, loc, call, &wait);
}

enum lc_err lc_omp_task_waits(struct lc_omp_tasks *t) {
    for (uint32_t l = 0; l < t->n_locs; l++) {
        struct lc_loc *loc = &t->locs[l];
        for (size_t i = 0; loc->extra && i < loc->extra->n_task_events; i++) {
            const struct lc_task_event *event = &loc->extra->task_events[i];
            if (event->what == LC_TASK_WAITS || event->what == LC_TASK_WAITS_GROUP)
                LC_TRY(add_task_wait(t, loc, event));
        }
    }
    return LC_OK;
}

enum lc_err lc_omp_tasks_new(struct lc_omp_tasks **tasks, struct lc_trace *trace,
                             struct lc_loc *locs, uint32_t n_locs, uint64_t *next_point) {
    LC_TRY(lc_alloc(tasks, 1, sizeof **tasks));
    (*tasks)->health = trace->health;
    (*tasks)->locs = locs;
    (*tasks)->n_locs = n_locs;
    (*tasks)->next_point = next_point;
    return gather(*tasks);
}

void lc_omp_tasks_free(struct lc_omp_tasks *t) {
    if (t == NULL)
        return;
    free(t->all);
    free(t->ends);
    lc_idmap_free(&t->number);
    free(t);
}
