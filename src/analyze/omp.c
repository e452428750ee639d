#include "analyze/omp.h"

#include <stdlib.h>

#include "analyze/events.h"
#include "analyze/health.h"
#include "analyze/locks.h"
#include "analyze/omp_tasks.h"
#include "analyze/results.h"
#include "analyze/syncs.h"
#include "base/lookup.h"
#include "base/mem.h"

struct member { /* of a team: the part of one thread */
    struct lc_loc *loc;
    const struct lc_team_event *part;
    uint32_t fork_location, fork;      /* which team */
    size_t call;                       /* next call to look at */
    const struct lc_team_event *inner; /* the first that may begin after that */
};

/* Forks of a location, for the time that it spends in parallel regions. */
struct forks {
    int64_t *begin, *end;          /* [count], both ascending */
    uint64_t *begin_sum, *end_sum; /* [count + 1]: of those before (differences matter: may wrap) */
    size_t count;
};

struct omp {
    struct lc_trace *trace;
    struct lc_loc *locs; /* of the process */
    uint32_t n_locs;
    struct member *members; /* sorted by team */
    size_t n_members, cap_members;
    struct forks *forks; /* [n_locs] */
    uint64_t next_point;
    struct lc_omp_tasks *tasks;
    uint32_t management, fork, limited; /* metrics */
};

static int64_t max_i64(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static int64_t min_i64(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static uint32_t end_transition(const struct member *m) {
    return m->part->end_transition == LC_NONE ? m->loc->n_transitions - 1 : m->part->end_transition;
}

static const struct lc_team_event *fork_of(const struct omp *o, const struct member *m) {
    const struct lc_loc *loc = &o->locs[m->fork_location - o->locs[0].id];
    return &loc->extra->teams[m->fork];
}

static int by_team(const void *a, const void *b) {
    const struct member *x = a, *y = b;
    if (x->fork_location != y->fork_location)
        return x->fork_location < y->fork_location ? -1 : 1;
    if (x->fork != y->fork)
        return x->fork < y->fork ? -1 : 1;
    return x->loc->id < y->loc->id ? -1 : x->loc->id > y->loc->id;
}

static enum lc_err find_members(struct omp *o) {
    o->n_members = 0;
    for (uint32_t l = 0; l < o->n_locs; l++) {
        struct lc_loc *loc = &o->locs[l];
        for (size_t t = 0; loc->extra && t < loc->extra->n_teams; t++) {
            const struct lc_team_event *part = &loc->extra->teams[t];
            if (!part->begun || (!part->forked && part->fork_location == LC_NONE))
                continue;
            LC_TRY(lc_grow(&o->members, &o->cap_members, o->n_members + 1, sizeof *o->members));
            o->members[o->n_members++] =
                (struct member){loc,
                                part,
                                part->forked ? loc->id : part->fork_location,
                                part->forked ? (uint32_t)t : part->fork,
                                part->first_call,
                                part + 1};
        }
    }
    if (o->n_members)
        qsort(o->members, o->n_members, sizeof *o->members, by_team);
    return LC_OK;
}

/* Fork: until the thread enters the parallel region; join: from leaving it until the join. */
static enum lc_err book_management(struct omp *o, const struct member *m) {
    const struct lc_team_event *fork = fork_of(o, m);
    uint32_t first = m->part->first_transition, end = end_transition(m);
    if (first >= end)
        return LC_OK;
    struct lc_results *r = o->trace->results;
    uint32_t cnode = m->loc->cnode[first];
    int64_t begin = m->loc->time[first] - fork->begin;
    int64_t join = fork->end == INT64_MAX ? 0 : fork->end - m->loc->time[end - 1];
    if (cnode == LC_NONE)
        return LC_OK;
    if (begin > 0)
        LC_TRY(lc_results_add_int(r, o->fork, cnode, m->loc->id, begin));
    return lc_results_add_int(r, o->management, cnode, m->loc->id,
                              max_i64(begin, 0) + max_i64(join, 0));
}

/* The member's next barrier that is not in a team nested inside this one; NULL: no more. */
static const struct lc_mpi_call *next_barrier(struct member *m) {
    const struct lc_loc *loc = m->loc;
    size_t end = m->part->end_call == LC_NONE ? loc->n_calls : m->part->end_call;
    const struct lc_team_event *last = loc->extra->teams + loc->extra->n_teams;
    while (m->call < end) {
        for (; m->inner < last && m->inner->first_call <= m->call; m->inner++)
            if (m->inner->begun && m->call < m->inner->end_call)
                m->call = m->inner->end_call;
        if (m->call >= end)
            break;
        const struct lc_mpi_call *call = &loc->calls[m->call++];
        if (call->fn == LC_FN_OMP_BARRIER || call->fn == LC_FN_OMP_IBARRIER)
            return call;
    }
    return NULL;
}

static enum lc_err find_barrier_waits(struct omp *o, struct member *team,
                                      const struct lc_mpi_call **calls, size_t n) {
    size_t last = n;
    int64_t earliest_end = INT64_MAX;
    for (size_t i = 0; i < n; i++) {
        if (!calls[i])
            continue;
        if (last == n ||
            team[i].loc->time[calls[i]->enter] > team[last].loc->time[calls[last]->enter])
            last = i;
        earliest_end = min_i64(earliest_end, team[i].loc->time[calls[i]->leave]);
    }
    uint64_t point = o->next_point++;
    int64_t release = team[last].loc->time[calls[last]->enter];
    for (size_t i = 0; i < n; i++) {
        if (!calls[i])
            continue;
        struct lc_loc *loc = team[i].loc;
        LC_TRY(lc_sync_add(loc, earliest_end, point, 0));
        struct lc_wait wait = {.start = loc->time[calls[i]->enter],
                               .release = release,
                               .end = loc->time[calls[i]->leave],
                               .cause_end = team[last].loc->time[calls[last]->leave],
                               .instance = point,
                               .cnode = loc->cnode[calls[i]->enter],
                               .cause = team[last].loc->id,
                               .cause_cnode = team[last].loc->cnode[calls[last]->enter],
                               .kind = calls[i]->fn == LC_FN_OMP_BARRIER ? LC_WAIT_OMP_EBARRIER
                                                                         : LC_WAIT_OMP_IBARRIER,
                               .flags = LC_WAIT_STATE | LC_WAIT_BLOCKS};
        if (wait.release > wait.end)
            wait.flags |= LC_WAIT_CUT;
        if (i != last)
            LC_TRY(lc_omp_wait_add(o->tasks, loc, calls[i], &wait));
        if (i != last && wait.start == release)
            LC_TRY(lc_wait_together(loc, &wait, (uint32_t)(calls[i] - loc->calls)));
    }
    return LC_OK;
}

/* The j-th barrier of every member is the same one. */
static enum lc_err find_team_waits(struct omp *o, struct member *team, size_t n) {
    const struct lc_mpi_call **calls;
    LC_TRY(lc_alloc(&calls, n, sizeof *calls));
    int64_t begin = INT64_MAX;
    for (size_t i = 0; i < n; i++) {
        const struct lc_loc *loc = team[i].loc;
        if (team[i].part->first_transition < loc->n_transitions)
            begin = min_i64(begin, loc->time[team[i].part->first_transition]);
    }
    enum lc_err err = LC_OK;
    uint64_t point = o->next_point++;
    for (size_t i = 0; i < n && err == LC_OK; i++) {
        err = book_management(o, &team[i]);
        if (err == LC_OK && begin != INT64_MAX)
            err = lc_sync_add(team[i].loc, begin, point, 0);
    }
    for (size_t found = 1; found && err == LC_OK;) {
        found = 0;
        for (size_t i = 0; i < n; i++)
            found += (calls[i] = next_barrier(&team[i])) != NULL;
        if (found)
            err = find_barrier_waits(o, team, calls, n);
    }
    free(calls);
    return err;
}

static int by_time(const void *a, const void *b) {
    const int64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

static enum lc_err sum_up(struct forks *f, const struct lc_loc *loc) {
    size_t n = loc->extra ? loc->extra->n_teams : 0;
    LC_TRY(lc_alloc(&f->begin, n, sizeof *f->begin));
    LC_TRY(lc_alloc(&f->end, n, sizeof *f->end));
    LC_TRY(lc_alloc(&f->begin_sum, n + 1, sizeof *f->begin_sum));
    LC_TRY(lc_alloc(&f->end_sum, n + 1, sizeof *f->end_sum));
    for (size_t i = 0; i < n; i++) {
        const struct lc_team_event *fork = &loc->extra->teams[i];
        if (!fork->forked || !fork->begun || fork->end == INT64_MAX)
            continue;
        f->begin[f->count] = fork->begin;
        f->end[f->count++] = fork->end;
    }
    if (f->count)
        qsort(f->end, f->count, sizeof *f->end, by_time);
    for (size_t i = 0; i < f->count; i++) {
        f->begin_sum[i + 1] = f->begin_sum[i] + (uint64_t)f->begin[i];
        f->end_sum[i + 1] = f->end_sum[i] + (uint64_t)f->end[i];
    }
    return LC_OK;
}

/* Sum of t - x[i] over those before t. */
static uint64_t passed_since(const int64_t *x, const uint64_t *sum, size_t n, int64_t t) {
    size_t before = LC_FIRST_WHERE(i, 0, n, x[i] >= t);
    return before * (uint64_t)t - sum[before];
}

/* Time spent between forks and their joins before t. */
static uint64_t forked_before(const struct forks *f, int64_t t) {
    return passed_since(f->begin, f->begin_sum, f->count, t) -
           passed_since(f->end, f->end_sum, f->count, t);
}

/* Idle time in parallel regions whose team is smaller than the largest. */
static enum lc_err book_limited(struct omp *o, const struct lc_wait *wait, uint32_t location) {
    const struct forks *f = &o->forks[wait->cause - o->locs[0].id];
    int64_t sum = (int64_t)(forked_before(f, wait->release) - forked_before(f, wait->start));
    return sum ? lc_results_add_int(o->trace->results, o->limited, wait->cnode, location, sum)
               : LC_OK;
}

/* Before its first parallel region a worker cannot do anything (it has no life yet): for the
 * critical path it is blocked until the fork. */
static enum lc_err add_birth(const struct omp *o, struct lc_loc *loc,
                             const struct lc_team_event *part, const struct lc_loc *master,
                             const struct lc_team_event *fork) {
    struct lc_wait wait = {.start = o->trace->t0,
                           .release = fork->begin,
                           .end = part->begin,
                           .cause_end = fork->begin,
                           .instance = UINT64_MAX,
                           .cnode = loc->root,
                           .cause = master->id,
                           .cause_cnode = fork->cnode,
                           .kind = LC_WAIT_OMP_IDLE,
                           .flags = LC_WAIT_BLOCKS};
    bool first = loc->n_transitions && loc->time[0] >= fork->begin;
    return first && loc->root != LC_NONE && lc_wait_ticks(&wait) > 0 ? lc_wait_add(loc, &wait)
                                                                     : LC_OK;
}

/* A worker is idle from the join of a team that it was in until the fork of the next one. */
static enum lc_err find_idle(struct omp *o, struct lc_loc *loc) {
    const struct lc_team_event *last = NULL;
    for (size_t t = 0; loc->extra && t < loc->extra->n_teams; t++) {
        const struct lc_team_event *part = &loc->extra->teams[t];
        if (part->forked || part->fork_location == LC_NONE)
            continue;
        const struct lc_loc *master = &o->locs[part->fork_location - o->locs[0].id];
        const struct lc_team_event *fork = &master->extra->teams[part->fork];
        if (!last)
            LC_TRY(add_birth(o, loc, part, master, fork));
        if (last && last->end != INT64_MAX && last->end_transition) {
            const struct lc_loc *before = &o->locs[last->fork_location - o->locs[0].id];
            const struct lc_team_event *joined = &before->extra->teams[last->fork];
            struct lc_wait wait = {
                .start = joined->end == INT64_MAX ? last->end : max_i64(joined->end, last->end),
                .release = fork->begin,
                .end = part->begin,
                .cause_end = fork->begin,
                .instance = UINT64_MAX,
                .cnode = loc->cnode[last->end_transition - 1],
                .cause = master->id,
                .cause_cnode = fork->cnode,
                .kind = LC_WAIT_OMP_IDLE,
                .flags = LC_WAIT_STATE | LC_WAIT_BLOCKS};
            if (wait.cnode != LC_NONE && lc_wait_ticks(&wait) > 0) {
                LC_TRY(lc_wait_add(loc, &wait));
                LC_TRY(book_limited(o, &wait, loc->id));
            }
        }
        last = part;
    }
    return LC_OK;
}

static void forget_forks(struct omp *o) {
    for (uint32_t l = 0; o->forks && l < o->n_locs; l++) {
        free(o->forks[l].begin);
        free(o->forks[l].end);
        free(o->forks[l].begin_sum);
        free(o->forks[l].end_sum);
    }
    free(o->forks);
    o->forks = NULL;
}

static enum lc_err find_all_idle(struct omp *o) {
    enum lc_err err = lc_alloc(&o->forks, o->n_locs, sizeof *o->forks);
    for (uint32_t l = 0; l < o->n_locs && err == LC_OK; l++)
        err = sum_up(&o->forks[l], &o->locs[l]);
    for (uint32_t l = 0; l < o->n_locs && err == LC_OK; l++)
        err = find_idle(o, &o->locs[l]);
    forget_forks(o);
    return err;
}

static enum lc_err find_process_waits(struct omp *o) {
    LC_TRY(lc_omp_tasks_new(&o->tasks, o->trace, o->locs, o->n_locs, &o->next_point));
    LC_TRY(find_members(o));
    for (size_t i = 0; i < o->n_members;) {
        size_t end = i;
        while (end < o->n_members && o->members[end].fork_location == o->members[i].fork_location &&
               o->members[end].fork == o->members[i].fork)
            end++;
        LC_TRY(find_team_waits(o, &o->members[i], end - i));
        i = end;
    }
    LC_TRY(find_all_idle(o));
    LC_TRY(lc_omp_task_waits(o->tasks));
    return lc_lock_waits(o->trace, o->locs, o->n_locs);
}

enum lc_err lc_omp_waits(struct lc_trace *trace) {
    struct omp o = {.trace = trace};
    struct lc_results *r = trace->results;
    LC_TRY(lc_results_metric(r, "omp_management", &o.management));
    LC_TRY(lc_results_metric(r, "omp_fork", &o.fork));
    LC_TRY(lc_results_metric(r, "omp_limited_parallelism", &o.limited));
    enum lc_err err = LC_OK;
    for (size_t i = 0; i < trace->n_locs && err == LC_OK;) {
        o.locs = &trace->locs[i];
        o.n_locs = trace->processes[trace->locs[i].process].n_locations;
        /* Points of this process: apart from collective instances and from those of other
         * processes. */
        o.next_point = (uint64_t)1 << 63 | (uint64_t)o.locs[0].id << 40;
        bool any = false;
        for (uint32_t l = 0; l < o.n_locs; l++)
            any |= o.locs[l].extra != NULL;
        if (any)
            err = find_process_waits(&o);
        lc_omp_tasks_free(o.tasks);
        o.tasks = NULL;
        i += o.n_locs;
    }
    free(o.members);
    return err;
}
