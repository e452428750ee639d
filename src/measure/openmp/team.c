#include "measure/openmp/team.h"

#include <stddef.h>
#include <string.h>

#include "base/timer.h"
#include "measure/clocks/call_state.h"
#include "measure/clocks/backlog.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/intervals.h"
#include "measure/core/core.h"
#include "measure/hot/hot.h"
#include "measure/openmp/barrier.h"
#include "measure/openmp/omp_blame.h"
#include "measure/openmp/omp_edges.h"
#include "measure/openmp/nodes.h"
#include "measure/openmp/omp_self.h"
#include "measure/openmp/omp_thread.h"
#include "measure/openmp/omp_trace.h"
#include "measure/openmp/tasks.h"
#include "measure/openmp/usual.h"
#include "measure/hot/locations.h"
#include "measure/core/state_write.h"

void lc_omp_thread_begin(int kind, union ompt_data *data) {
    (void)data;
    struct lc_omp_thread *o = lc_omp_self();
    if (o == NULL || kind != OMPT_THREAD_WORKER)
        return;
    uint64_t now = lc_ticks();
    lc_omp_trace_worker(o, now);
    lc_omp_enter(o, now);
    o->at = lc_omp_node_idle(o);
    o->t->last_ticks = now;
}

void lc_omp_thread_end(union ompt_data *data) {
    (void)data;
    struct lc_omp_thread *o = lc_omp_self();
    if (o == NULL)
        return;
    lc_omp_book(o, lc_ticks());
    o->at = NULL;
}

enum { BARRIERS = 1 << 20 }; /* of a region of which no thread's share ended */

/* 0: too far. */
static int32_t lines_from(const struct lc_omp_region *region, const struct lc_omp_region *next) {
    intptr_t lines = ((intptr_t)next - (intptr_t)region) / LC_OMP_LINE;
    return lines == (int32_t)lines ? (int32_t)lines : 0;
}

/* NULL: no memory. */
static struct lc_omp_region *region_new(struct lc_omp_thread *o) {
    struct lc_omp_region *region =
        lc_omp_take_part(&o->pools, LC_OMP_REGION, sizeof(struct lc_omp_region),
                         offsetof(struct lc_omp_region, next_barrier));
    if (region == NULL)
        return NULL;
    const struct lc_omp_region *next = (struct lc_omp_region *)o->pools.free[LC_OMP_REGION];
    for (size_t i = 0; next != NULL && i < 2; i++) /* its shares have read what a fork writes */
        lc_line_claim((const char *)&next->node + i * LC_OMP_LINE);
    region->ahead = next != NULL ? lines_from(region, next) : 0;
    region->first_barrier = region->next_barrier;
    region->next_barrier += BARRIERS;
    region->node = region->team_number = region->serial = 0;
    atomic_store_explicit(&region->team, 0, memory_order_relaxed);
    region->in_regions = 0;
    region->fork.later = NULL;
    return region;
}

/* References to a region that are there for shares to take, without an atomic operation: a share
 * holds one from its first barrier on, which is at the latest the region's last one, to which all
 * come. Until then the thread that forked it has not left it. */
enum { SHARES = 1 << 30 };

static void keep_for_shares(struct lc_omp_region *region) {
    atomic_store_explicit(&region->item.references, 1 + SHARES, memory_order_relaxed);
}

/* The thread that forked it has left the region. Where no barrier of a team was told, the record
 * stays for ever. */
static void region_left(struct lc_omp_thread *o, struct lc_omp_region *region) {
    bool alone = atomic_load_explicit(&region->team, memory_order_relaxed) <= 1;
    bool known = region->holders != 0 || alone;
    lc_omp_unkeep_some(&o->pools, region, known ? 1 + SHARES - region->holders : 1);
}

uint32_t lc_omp_plain_begin(void *frame, const void *code) {
    struct lc_omp_thread *o = lc_omp_self();
    uint32_t node = 0;
    if (o == NULL || o->at != NULL)
        return 0;
    uint32_t opened = lc_omp_path_open(o, LC_OMP_AT_PARALLEL, frame, code, &node);
    if (opened != 0)
        lc_omp_done(o, o->t->last_ticks);
    return opened;
}

void lc_omp_plain_counts(struct lc_state_row *row) {
    struct lc_omp_thread *o = lc_omp_self();
    if (o == NULL)
        return;
    uint64_t since = lc_omp_since(o);
    row->count += (atomic_load_explicit(&o->t->mode, memory_order_relaxed) & LC_MODE_ON) != 0;
    lc_omp_done(o, since);
}

void lc_omp_plain_end(uint32_t opened, void *frame, const void *code) {
    struct lc_omp_thread *o = lc_omp_self();
    if (o == NULL || opened == 0)
        return;
    lc_omp_path_close(opened, frame, code, 0);
    lc_omp_done(o, o->t->last_ticks);
}

/* Clocks that lag far behind are brought on by the thread that calls MPI, where no other one can be
 * in MPI as well: a program may have many regions between two calls. */
static void keep_up(const struct lc_omp_thread *o) {
    if (lc_unlikely(lc_clk.backlog) && o->t->clocks == lc_clk.threads &&
        lc_core.provided_level != MPI_THREAD_SERIALIZED && lc_clk_backlog_lags())
        lc_clk_backlog_progress(lc_ticks());
}

void lc_omp_parallel_begin(union ompt_data *task, const struct ompt_frame *frame,
                           union ompt_data *data, unsigned wanted, int flags, const void *code) {
    (void)task;
    bool league = ((unsigned)flags & OMPT_PARALLEL_LEAGUE) != 0;
    struct lc_omp_thread *o = lc_omp_self();
    struct lc_omp_region *region = o != NULL ? region_new(o) : NULL;
    if (region == NULL)
        return;
    keep_for_shares(region);
    region->place = o->at;
    region->depth = o->n_outer;
    /* mostly as many: then the threads only read it */
    atomic_store_explicit(&region->team, wanted, memory_order_relaxed);
    region->frame = frame != NULL ? frame->enter_frame.ptr : NULL;
    if (o->at == NULL)
        region->opened = lc_omp_path_open(o, league ? LC_OMP_AT_TEAMS : LC_OMP_AT_PARALLEL,
                                          region->frame, code, &region->node);
    /* the path's event has just read the clock, or (opened 0) there was none */
    uint64_t now = region->opened ? o->t->last_ticks : lc_ticks();
    if (o->at != NULL) {
        lc_omp_book(o, now);
        struct lc_omp_node *node =
            lc_omp_node_get(o, o->at->node, league ? LC_OMP_AT_TEAMS : LC_OMP_AT_PARALLEL, code);
        region->node = node != NULL ? node->node : o->at->node;
    }
    lc_omp_enter_and_tell(o, now, &region->fork);
    bool has_path = region->node != 0 && region->node != LC_NONE;
    uint32_t above = has_path ? lc_state_nodes()[region->node].parent : LC_NONE;
    region->fork.late.node = above != LC_NONE ? above : 0;
    region->task = o->task;
    if (o->task != NULL)
        lc_omp_task_keep(o->task);
    o->at = lc_omp_node_known(o, region->node);
    o->t->last_ticks = now;
    lc_omp_trace_fork(o, region, wanted, now);
    if (o->regions_open == 0)
        region->serial = ++o->serial;
    region->in_regions = o->regions_closed + now * o->regions_open++;
    o->regions_closed -= now;
    region->outer = o->forked;
    o->forked = region;
    data->ptr = region;
    if (region->place == NULL)
        keep_up(o);
    lc_omp_done(o, now);
}

/* The region that has ended. LLVM's runtime gives a nested team back before it tells of the end, so
 * `ended` may already be that of another thread: then it is the innermost one of this thread. */
static struct lc_omp_region *take_forked(struct lc_omp_thread *o,
                                         const struct lc_omp_region *ended) {
    struct lc_omp_region *region = o->forked;
    for (struct lc_omp_region *at = region; at != NULL; at = at->outer)
        if (at == ended)
            region = at;
    if (region != NULL)
        o->forked = region->outer;
    return region;
}

void lc_omp_parallel_end(union ompt_data *data, union ompt_data *task, int flags,
                         const void *code) {
    (void)task;
    (void)flags;
    struct lc_omp_thread *o = lc_omp_self();
    struct lc_omp_region *region =
        o != NULL && data != NULL && data->ptr != NULL ? take_forked(o, data->ptr) : NULL;
    if (region == NULL)
        return;
    uint64_t now = lc_ticks();
    lc_omp_leave(o, now);
    lc_omp_book(o, now);
    if (region->left != 0 && now > region->left)
        lc_omp_add(o, lc_omp_node_known(o, region->node), LC_MEASURED_OMP_MANAGEMENT,
                   now - region->left);
    lc_omp_trace_join(o, region, now);
    o->regions_closed += now;
    region->in_regions_after = o->regions_closed + now * --o->regions_open;
    lc_omp_back(o, region->task);
    o->at = region->place;
    o->n_outer = region->depth;
    if (o->task != NULL)
        lc_omp_task_kept(o->task);
    if (region->opened)
        lc_omp_path_close(region->opened, region->frame, code, now);
    region_left(o, region);
    lc_omp_done(o, now);
}

static void initial_task(struct lc_omp_thread *o, union ompt_data *data) {
    struct lc_omp_task *task = lc_omp_task_new(o);
    struct lc_omp_region *serial = task != NULL ? region_new(o) : NULL;
    if (serial == NULL)
        return;
    task->region = serial;
    task->holds_region = true;
    task->barrier = serial->first_barrier;
    data->ptr = task;
    o->fresh = false;
    lc_omp_worked(o, lc_ticks());
    lc_omp_first_task(o, task);
}

/* If the worker waits for the end of a region, or has been told of it only now: its waiting, and
 * since then it is idle. all_over: nobody can come any more. Also for another thread, which may
 * go on meanwhile (`exit` in a region): what is read once stays there. */
static bool book_join(struct lc_omp_thread *o, struct lc_omp_task *task, bool all_over) {
    struct lc_omp_region *region = task != NULL ? task->region : NULL;
    if (region == NULL || task->number == 0 || !task->in_barrier || o->at == NULL)
        return false;
    /* both may be here at once: one of them books */
    uint64_t came = __atomic_exchange_n(&task->came, 0, __ATOMIC_RELAXED);
    if (came == 0)
        return false;
    struct lc_omp_come come = lc_omp_barrier_look(region, task->barrier - 1, all_over);
    uint64_t over = come.over; /* also the tasks */
    lc_omp_wait_book(o, task, came, LC_MEASURED_OMP_IBARRIER, &come.last);
    lc_omp_book(o, over > o->t->last_ticks ? over : o->t->last_ticks);
    o->idle = over > came ? over : came;
    lc_omp_trace_team_end(o, task, o->idle);
    o->at = lc_omp_node_idle(o);
    o->n_outer = 0;
    return true;
}

/* The part of idle time in which the forking thread was in regions of teams that this thread was
 * not in. Known where the same thread forked its last region. */
static uint64_t limited(const struct lc_omp_thread *o, const struct lc_omp_region *next,
                        uint64_t idle) {
    const struct lc_omp_region *last = o->from;
    if (last == NULL || last->fork.late.thread != next->fork.late.thread)
        return 0;
    if (next->serial != 0 && last->serial + 1 == next->serial) /* there is none in between */
        return 0;
    if (last->fork.stamp.interval != next->fork.stamp.interval || last->in_regions_after == 0)
        return 0; /* of another thread: that one may still write */
    uint64_t ticks = next->in_regions - last->in_regions_after;
    return ticks < idle ? ticks : idle;
}

/* A worker was idle until the fork; from there until now its team was made. */
static void book_fork(struct lc_omp_thread *o, const struct lc_omp_region *region, uint64_t now) {
    const struct lc_omp_late *fork = &region->fork.late;
    const struct lc_clk_thread *k = o->t->clocks;
    uint64_t since = o->idle, begin;
    uint32_t interval = k != NULL ? lc_clk_interval_of(k, &begin) : 0;
    if (interval == 0)
        return;
    if (since != 0 && since < begin)
        since = begin;
    if (since != 0 && fork->when > since) {
        struct lc_omp_node *idle = lc_omp_node_idle(o);
        lc_omp_put_waited(o, idle, LC_MEASURED_OMP_IDLE, fork->when - since, fork);
        lc_omp_put(o, idle, LC_MEASURED_OMP_LIMITED, limited(o, region, fork->when - since));
    }
    o->idle = 0;
    if (now > fork->when && region->fork.stamp.interval == interval) {
        struct lc_omp_node *node = lc_omp_node_known(o, region->node);
        lc_omp_put(o, node, LC_MEASURED_OMP_FORK, now - fork->when);
        lc_omp_put(o, node, LC_MEASURED_OMP_MANAGEMENT, now - fork->when);
    }
}

/* What a share reads when it begins; both lines may come from another core, at once. */
static inline void fetch(const struct lc_omp_region *region) {
    __builtin_prefetch(&region->node);
    __builtin_prefetch((const char *)&region->node + LC_OMP_LINE);
}

/* A worker is told that its region is over when the next one has begun, in which it is perhaps:
 * what it will read there comes with what it reads now. */
static inline void fetch_ahead(const struct lc_omp_thread *o, uint32_t number) {
    const struct lc_omp_region *ahead = o->ahead;
    if (ahead == NULL)
        return;
    fetch(ahead);
    for (size_t i = 0; i < 2 && number < LC_OMP_SEATS; i++)
        lc_line_claim(&ahead->barriers[i].seats[number]);
}

static inline const struct lc_omp_region *ahead_of(const struct lc_omp_region *region) {
    return region->ahead != 0
               ? (const void *)((const char *)region + (intptr_t)region->ahead * LC_OMP_LINE)
               : NULL;
}

/* A worker that was in a region of another thread before goes on from the last barrier of that, of
 * whose end it was not told. (Of the same thread: the fork is behind that barrier.) */
static inline void follow_last(struct lc_omp_thread *o, const struct lc_omp_region *next,
                               uint64_t now) {
    struct lc_omp_region *last = o->from;
    if (lc_unlikely(last != NULL && last->fork.late.thread != next->fork.late.thread))
        lc_omp_barrier_followed(o, last, o->from_barrier, now);
}

static void begin_share(struct lc_omp_thread *o, struct lc_omp_region *region,
                        union ompt_data *data, unsigned number, unsigned team) {
    fetch(region);
    struct lc_omp_task *task = lc_omp_task_new(o);
    if (task == NULL)
        return;
    uint64_t now = lc_ticks();
    bool goes_on = number == 0 && o->task != NULL;
    if (number != 0)
        follow_last(o, region, now);
    bool usual = !o->fresh && lc_omp_usual_begins(o, task, &region->fork, now);
    if (lc_unlikely(!usual)) {
        lc_omp_leave(o, now);
        if (number != 0 && o->fresh)
            lc_omp_begins(o, now);
    }
    o->fresh = false;
    if (goes_on) {
        lc_omp_book_as(o, usual, now);
    } else {
        if (o->at != NULL && o->n_outer == 0)
            lc_omp_book_as(o, usual, now); /* idle until now */
        o->at = lc_omp_node_known(o, region->node);
        o->n_outer = 0;
        o->t->last_ticks = now;
    }
    task->region = region;
    task->barrier = region->first_barrier;
    lc_omp_barrier_ahead(region, task->barrier, number);
    task->number = number;
    if (number != 0)
        o->ahead = ahead_of(region);
    if (lc_unlikely(!usual))
        lc_omp_run_first(o, task);
    if (atomic_load_explicit(&region->team, memory_order_relaxed) != team)
        atomic_store_explicit(&region->team, team, memory_order_relaxed);
    book_fork(o, region, now);
    if (lc_unlikely(!usual)) {
        lc_omp_trace_team(o, task, now);
        lc_omp_edge(o, &region->fork, now);
    }
    if (o->at != NULL && (number != 0 || region->opened == 0)) /* else when its path was opened */
        o->at->row->count++;
    data->ptr = task;
    lc_omp_done(o, now);
}

/* When the share ends: of a worker that has waited for the others, when all had come; of the thread
 * that forked a team of several, at the end of its last barrier, if nothing happened since: the
 * program's code never runs between both. Else now. */
static uint64_t share_ends(const struct lc_omp_thread *o, const struct lc_omp_task *task,
                           bool joined) {
    if (joined)
        return o->idle;
    bool last = o->barrier_left != 0 && o->barrier_left == o->t->last_ticks && task->number == 0;
    return last ? o->barrier_left : lc_ticks();
}

static void end_share(struct lc_omp_thread *o, struct lc_omp_task *task, union ompt_data *data) {
    if (o->from != NULL) /* its record loses a reference */
        lc_line_claim(o->from);
    if (task->number != 0)
        fetch_ahead(o, task->number);
    uint64_t since = lc_omp_since(o);
    bool joined = book_join(o, task, true);
    uint64_t now = share_ends(o, task, joined);
    if (!joined)
        lc_omp_trace_team_end(o, task, now);
    struct lc_omp_task *forked = NULL;
    if (task->number == 0 && task->region != NULL) {
        forked = task->region->task;
        task->region->left = now;
        task->region->next_barrier = task->barrier;
        if (task->holds_region) /* so does each of them */
            task->region->holders = atomic_load_explicit(&task->region->team, memory_order_relaxed);
    }
    lc_omp_enter(o, now); /* until the master has closed the region, or the next one */
    lc_omp_share_ended(o, task, forked);
    data->ptr = NULL;
    if (o->ended_in == task->region) /* a team of one: nobody waits for them */
        o->ended.any = false;
    if (task->number != 0) {
        o->at = lc_omp_node_idle(o);
        o->n_outer = 0;
        if (o->idle == 0) /* the end of the barrier before was reported */
            o->idle = now;
        lc_omp_unkeep(&o->pools, o->from);
        /* with the task's reference: all that it created has ended */
        o->from = task->holds_region ? task->region : NULL;
        o->from_barrier = task->barrier - 1;
        task->region = NULL;
    }
    lc_omp_task_over(o, task);
    lc_omp_done(o, since);
}

void lc_omp_implicit_task(int endpoint, union ompt_data *region, union ompt_data *data,
                          unsigned team, unsigned number, int flags) {
    struct lc_omp_thread *o = lc_omp_self();
    if (o == NULL || data == NULL)
        return;
    o->hidden = NULL;
    /* shares are those of teams, too: each is an initial task of a league, which is a region */
    if (endpoint != OMPT_BEGIN) {
        struct lc_omp_task *task = data->ptr;
        if (task == NULL && o->task != NULL && !o->task->explicit_one && o->task->number != 0)
            task = o->task; /* see lc_omp_task_hide */
        if (task != NULL && task->region != NULL &&
            atomic_load_explicit(&task->region->team, memory_order_relaxed) != 0)
            end_share(o, task, data);
    } else if (region != NULL && region->ptr != NULL) {
        begin_share(o, region->ptr, data, number, team);
    } else if ((flags & OMPT_TASK_INITIAL) && o->task == NULL) {
        initial_task(o, data);
    }
}

static bool is_barrier(int kind) {
    return kind != OMPT_SYNC_TASKWAIT && kind != OMPT_SYNC_TASKGROUP && kind != OMPT_SYNC_REDUCTION;
}

static void taskwait(struct lc_omp_thread *o, bool begins, const void *code) {
    struct lc_omp_late last = {0};
    uint64_t now = lc_ticks();
    if (begins) {
        lc_omp_enter_construct(o, LC_OMP_AT_TASKWAIT, code, now);
        lc_omp_wait_begin(o, false, now);
    } else {
        bool usual = lc_omp_leave_construct(o, now);
        if (o->task != NULL) {
            lc_omp_edge_joint(o, &o->task->children, now, &last);
            lc_omp_wait_end_tasks(o, &last);
        }
        lc_omp_construct_left(o, usual, now);
    }
    lc_omp_done(o, now);
}

static void taskgroup_begin(struct lc_omp_thread *o) {
    uint64_t since = lc_omp_since(o);
    struct lc_omp_group *group =
        o->task != NULL ? lc_omp_take_part(&o->pools, LC_OMP_GROUP, sizeof(struct lc_omp_group),
                                           offsetof(struct lc_omp_group, joint))
                        : NULL;
    if (group == NULL)
        return;
    lc_omp_joint_begin(&group->joint);
    group->outer = o->task->group;
    o->task->group = group;
    lc_omp_done(o, since);
}

static void taskgroup_end(struct lc_omp_thread *o, uint64_t now) {
    struct lc_omp_group *group = o->task != NULL ? o->task->group : NULL;
    if (group == NULL)
        return;
    lc_omp_edge_joint(o, &group->joint, now, NULL);
    o->task->group = group->outer;
    lc_omp_unkeep(&o->pools, group);
    lc_omp_done(o, now);
}

void lc_omp_sync_region(int kind, int endpoint, union ompt_data *region, union ompt_data *task,
                        const void *code) {
    struct lc_omp_thread *o = lc_omp_self();
    if (o == NULL)
        return;
    if (endpoint == OMPT_END)
        lc_omp_task_unhide(o, task);
    if (kind == OMPT_SYNC_TASKWAIT) {
        taskwait(o, endpoint == OMPT_BEGIN, code);
    } else if (kind == OMPT_SYNC_TASKGROUP) {
        if (endpoint == OMPT_BEGIN)
            taskgroup_begin(o);
        else
            taskgroup_end(o, lc_ticks());
    } else if (is_barrier(kind)) {
        if (endpoint == OMPT_BEGIN)
            lc_omp_barrier_begins(o, kind, task, code);
        /* Without a region, a worker: the end of the barrier that ended its region, told when the
         * next one begins. It stays in the runtime. */
        else if ((region != NULL && region->ptr != NULL) ||
                 (o->task != NULL && o->task->number == 0))
            lc_omp_barrier_ends(o, kind);
    }
}

static void group_waits(struct lc_omp_thread *o, const void *code, uint64_t since) {
    lc_omp_enter_construct(o, LC_OMP_AT_TASKGROUP, code, since);
    lc_omp_wait_begin(o, false, since);
}

void lc_omp_taskgroup_waits(uint64_t since, const void *code) {
    struct lc_omp_thread *o = lc_omp_self();
    if (o == NULL)
        return;
    uint64_t begun = lc_omp_since(o);
    group_waits(o, code, since);
    lc_omp_done(o, begun);
}

void lc_omp_sync_region_wait(int kind, int endpoint, union ompt_data *region, union ompt_data *task,
                             const void *code) {
    (void)region;
    (void)task;
    struct lc_omp_thread *o = kind == OMPT_SYNC_TASKGROUP ? lc_omp_self() : NULL;
    if (o == NULL)
        return;
    uint64_t now = lc_ticks();
    if (endpoint == OMPT_BEGIN) {
        group_waits(o, code, now);
    } else {
        struct lc_omp_late last = {0};
        struct lc_omp_group *group = o->task != NULL ? o->task->group : NULL;
        bool usual = lc_omp_leave_construct(o, now);
        if (group != NULL) {
            lc_omp_edge_joint(o, &group->joint, now, &last);
            lc_omp_wait_end_tasks(o, &last);
        }
        lc_omp_construct_left(o, usual, now);
    }
    lc_omp_done(o, now);
}

/* A construct that is the program's work begins or ends. */
static inline void work_construct(struct lc_omp_thread *o, bool begins,
                                  enum lc_omp_construct construct, const void *code, uint64_t now) {
    struct lc_omp_node *inside = begins ? lc_omp_usual_inside(o, construct, code) : NULL;
    if (lc_likely((!begins || inside != NULL) && lc_omp_usual_works(o, inside, now)))
        return;
    lc_omp_worked(o, now);
    if (begins)
        lc_omp_push(o, construct, code, now);
    else
        lc_omp_pop(o, now);
}

void lc_omp_work(int kind, int endpoint, union ompt_data *region, union ompt_data *task,
                 uint64_t count, const void *code) {
    static const uint8_t constructs[] = {[OMPT_WORK_LOOP] = LC_OMP_AT_FOR,
                                         [OMPT_WORK_SECTIONS] = LC_OMP_AT_SECTIONS,
                                         [OMPT_WORK_SINGLE] = LC_OMP_AT_SINGLE,
                                         [OMPT_WORK_WORKSHARE] = LC_OMP_AT_WORKSHARE,
                                         [OMPT_WORK_DISTRIBUTE] = LC_OMP_AT_DISTRIBUTE,
                                         [OMPT_WORK_TASKLOOP] = LC_OMP_AT_TASKLOOP,
                                         [OMPT_WORK_SCOPE] = LC_OMP_AT_SCOPE};
    (void)region;
    (void)task;
    (void)count;
    if (kind == OMPT_WORK_SINGLE_OTHER || endpoint == OMPT_BEGINEND)
        return;
    struct lc_omp_thread *o = lc_omp_self();
    if (o == NULL || o->at == NULL)
        return;
    uint64_t now = lc_ticks();
    uint32_t construct =
        kind > 0 && kind < (int)sizeof constructs ? constructs[kind] : LC_OMP_AT_FOR;
    if (endpoint == OMPT_BEGIN && kind == OMPT_WORK_LOOP && o->task != NULL)
        o->task->loops++;
    work_construct(o, endpoint == OMPT_BEGIN, (enum lc_omp_construct)construct, code, now);
    lc_omp_done(o, now);
}

void lc_omp_masked(int endpoint, union ompt_data *region, union ompt_data *task, const void *code) {
    (void)region;
    (void)task;
    struct lc_omp_thread *o = lc_omp_self();
    if (o == NULL || o->at == NULL || endpoint == OMPT_BEGINEND)
        return;
    uint64_t now = lc_ticks();
    work_construct(o, endpoint == OMPT_BEGIN, LC_OMP_AT_MASTER, code, now);
    lc_omp_done(o, now);
}

void lc_omp_book_open(void) {
    uint64_t now = lc_ticks();
    for (struct lc_omp_thread *o = lc_omp_threads(); o != NULL; o = o->next) {
        if (o->t == NULL)
            continue;
        if (!lc_omp_in_runtime(o)) /* it works: it is asked nothing */
            continue;
        book_join(o, o->task, false);
        lc_omp_book(o, now);
        lc_omp_blame_flush(o);
    }
    struct lc_omp_thread *own = lc_self != NULL ? lc_self->openmp : NULL;
    if (own != NULL)
        lc_omp_blame_flush(own);
    lc_omp_blame_close();
}

void lc_omp_book_joined(uint64_t now) {
    const struct lc_omp_thread *own = lc_self != NULL ? lc_self->openmp : NULL;
    for (struct lc_omp_thread *o = own != NULL ? lc_omp_threads() : NULL; o != NULL; o = o->next) {
        struct lc_omp_task *task = o->t != NULL && o != own ? o->task : NULL;
        const struct lc_omp_region *region = task != NULL ? task->region : NULL;
        if (region != NULL && region->fork.late.thread == own->t->index &&
            region->in_regions_after != 0 && book_join(o, task, false))
            lc_omp_book(o, now);
    }
}

void lc_omp_book_spans(void) {
    struct lc_omp_thread *own = lc_self != NULL ? lc_self->openmp : NULL;
    if (own != NULL)
        lc_omp_spans_book(own);
}
