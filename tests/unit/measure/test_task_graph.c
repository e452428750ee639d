/* OpenMP's edges, exactly: random programs of regions, barriers, tasks, dependences, taskgroups and
 * critical sections run on a runtime of this test, in virtual time, and call what a runtime calls.
 * What comes out is compared with the program activity graph, made here node by node with the edges
 * of the specification, and its longest path: thread-centric and task-centric critical path, useful
 * time, waiting of each kind, idle and ready time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/timer.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/clocks_hooks.h"
#include "measure/core.h"
#include "measure/hot.h"
#include "measure/locations.h"
#include "measure/openmp/mutexes.h"
#include "measure/openmp/nodes.h"
#include "measure/trace/trace_area.h"
#include "measure/openmp/omp_edges.h"
#include "measure/openmp/omp_self.h"
#include "measure/openmp/tasks.h"
#include "measure/openmp/team.h"
#include "measure/paths/user_regions.h"
#include "piggyback/logical.h"

enum {
    THREADS = 96,
    FEW = 4, /* of random programs */
    LOCKS = 2,
    ADDRESSES = 3,
    TASKS = 256,
    ACTIONS = 4000,
    NODES = 40000,
    EDGES = 400000
};

/* ---- what the sources under test need of the rest: clocks as call_clocks.c keeps them */

struct lc_clk lc_clk;
struct lc_core lc_core;
__thread void *latecomer_private_self;
static uint64_t now; /* virtual */
static struct lc_thread threads[THREADS];
static struct lc_clk_thread clocks[THREADS];
static uint64_t measured[THREADS][LC_MEASURED_KINDS];

int __wrap_clock_gettime(clockid_t id, struct timespec *time);
int __wrap_clock_gettime(clockid_t id, struct timespec *time) { /* lc_ticks */
    (void)id;
    *time = (struct timespec){.tv_sec = (time_t)(now / 1000000000u),
                              .tv_nsec = (long)(now % 1000000000u)};
    return 0;
}

void lc_clk_worked(struct lc_clk_thread *k, uint64_t at, uint32_t node) {
    lc_logical_useful(&k->l, at, node);
}

void lc_clk_left_runtime(struct lc_clk_thread *k, uint64_t at) {
    k->l.in_omp += at - k->in_runtime;
    k->l.origin += at - k->in_runtime;
    k->l.last = at;
    k->in_runtime = 0;
}

void lc_clocks_thread_new(struct lc_call *call) {
    struct lc_clk_thread *k = &clocks[call->thread->index];
    memset(k, 0, sizeof *k);
    lc_cpvec_init(&k->l.vec, &lc_clk.mine, call->thread->index, 0);
    k->l.last = k->l.origin = call->begin;
    lc_logical_begin(&k->l, lc_clk.n_intervals, call->begin);
    call->thread->clocks = k;
}

struct lc_thread *lc_thread_here(void) {
    return latecomer_private_self;
}

uint32_t lc_region_enter(uint32_t id, void *frame, void *code) {
    (void)id;
    (void)frame;
    (void)code;
    return 0;
}

void lc_region_leave(uint32_t id, void *frame, void *code) {
    (void)id;
    (void)frame;
    (void)code;
}

/* Nodes of the call tree: one that all are at, and none for the region's name. */
static struct lc_state_row row;
static struct lc_omp_node everywhere = {.row = &row}, no_name = {.node = LC_NONE, .row = &row};

struct lc_omp_node *lc_omp_node_get(struct lc_omp_thread *o, uint32_t parent,
                                    enum lc_omp_construct construct, const void *code) {
    (void)o;
    (void)parent;
    (void)code;
    return construct == LC_OMP_AT_REGION_NAME ? &no_name : &everywhere;
}

struct lc_omp_node *lc_omp_node_known(struct lc_omp_thread *o, uint32_t node) {
    (void)o;
    (void)node;
    return &everywhere;
}

void lc_omp_book(struct lc_omp_thread *o, uint64_t at) {
    if (o->at != NULL)
        o->t->last_ticks = at;
}

void lc_omp_push(struct lc_omp_thread *o, enum lc_omp_construct construct, const void *code,
                 uint64_t at) {
    (void)o;
    (void)construct;
    (void)code;
    (void)at;
}

void lc_omp_pop(struct lc_omp_thread *o, uint64_t at) {
    (void)o;
    (void)at;
}

void lc_omp_pop_into_block(struct lc_omp_thread *o, uint64_t at) {
    lc_omp_pop(o, at);
}

/* No trace: never full. */
uint64_t *lc_trace_refill(struct lc_trace_stream *stream, unsigned words) {
    (void)words;
    return stream->next;
}

void lc_trace_renew(struct lc_trace_stream *stream) {
    (void)stream;
}

void lc_omp_add(struct lc_omp_thread *o, struct lc_omp_node *at, uint32_t kind, uint64_t amount) {
    assert_non_null(at);
    measured[o->t->index][kind] += amount;
}

void lc_omp_waited(struct lc_omp_thread *o, struct lc_omp_node *at, uint32_t kind, uint64_t ticks,
                   const struct lc_omp_late *late) {
    lc_omp_add(o, at, kind, ticks);
    assert_true(ticks == 0 || (late != NULL && late->when <= now));
}

/* ---- the graph: edges go to younger nodes; for threads (1), for tasks (2), or both */

static uint32_t work_of[NODES], edge_from[EDGES], edge_to[EDGES];
static uint8_t edge_kind[EDGES];
static uint32_t n_nodes, n_edges;
enum { OF_THREADS = 1, OF_TASKS = 2, OF_BOTH = 3 };

static void edge(uint32_t from, uint32_t to, int kind) {
    if (from == LC_NONE)
        return;
    assert_true(n_edges < EDGES && from < to);
    edge_from[n_edges] = from;
    edge_to[n_edges] = to;
    edge_kind[n_edges++] = (uint8_t)kind;
}

static uint32_t node_of(uint32_t work) {
    assert_true(n_nodes < NODES);
    work_of[n_nodes] = work;
    return n_nodes++;
}

static int by_target(const void *a, const void *b) {
    const uint32_t x = edge_to[*(const uint32_t *)a], y = edge_to[*(const uint32_t *)b];
    return (x > y) - (x < y);
}

static uint64_t longest_path(int kind) {
    static uint64_t end[NODES];
    static uint32_t order[EDGES];
    uint64_t longest = 0;
    for (uint32_t e = 0; e < n_edges; e++)
        order[e] = e;
    qsort(order, n_edges, sizeof *order, by_target);
    for (uint32_t n = 0, e = 0; n < n_nodes; n++) {
        uint64_t begin = 0;
        for (; e < n_edges && edge_to[order[e]] == n; e++)
            if ((edge_kind[order[e]] & kind) && end[edge_from[order[e]]] > begin)
                begin = end[edge_from[order[e]]];
        end[n] = begin + work_of[n];
        longest = end[n] > longest ? end[n] : longest;
    }
    return longest;
}

/* ---- random programs */

enum action_kind {
    WORK,
    CREATE,
    FULFIL, /* the event of the task that was created last */
    TASKWAIT,
    GROUP_BEGIN,
    GROUP_END,
    CRITICAL,
    BARRIER,
    END
};
struct action {
    enum action_kind kind;
    uint32_t value;    /* ticks; CREATE: first action of the task */
    uint32_t lock;     /* CRITICAL */
    bool undeferred;   /* CREATE */
    bool detached;     /* ... */
    uint32_t n_depend; /* ... */
    uint8_t address[ADDRESSES], type[ADDRESSES];
};
static struct action actions[ACTIONS];
static uint32_t n_actions, n_planned;

static uint32_t below(uint32_t n) {
    return (uint32_t)rand() % n;
}

static struct action *add_action(struct action *list, uint32_t *n, enum action_kind kind) {
    assert_true(*n < 100);
    list[*n] = (struct action){.kind = kind};
    return &list[(*n)++];
}

static uint32_t plan(uint32_t depth, bool implicit);

static void plan_task(struct action *list, uint32_t *n, uint32_t depth) {
    static const uint8_t types[] = {OMPT_DEPEND_IN, OMPT_DEPEND_OUT, OMPT_DEPEND_INOUT,
                                    OMPT_DEPEND_MUTEXINOUTSET, OMPT_DEPEND_INOUTSET};
    struct action *a = add_action(list, n, CREATE);
    a->undeferred = below(6) == 0;
    for (uint8_t i = 0; i < ADDRESSES && !a->undeferred; i++)
        if (below(4) == 0) {
            a->address[a->n_depend] = i;
            a->type[a->n_depend++] = types[below(sizeof types)];
        }
    n_planned++;
    a->value = plan(depth + 1, false);
    if (a->undeferred || below(6) > 0)
        return;
    a->detached = true;
    if (below(2) == 0)
        add_action(list, n, WORK)->value = 1 + below(200);
    add_action(list, n, FULFIL);
}

static void plan_some(struct action *list, uint32_t *n, uint32_t depth) {
    for (uint32_t i = 1 + below(5); i > 0; i--)
        switch (below(8)) {
        case 0:
            add_action(list, n, TASKWAIT);
            break;
        case 1: {
            struct action *a = add_action(list, n, CRITICAL);
            a->lock = below(LOCKS);
            a->value = 1 + below(30);
            break;
        }
        case 2:
            if (depth < 3 && *n < 60) {
                add_action(list, n, GROUP_BEGIN);
                plan_some(list, n, depth + 1);
                add_action(list, n, GROUP_END);
            }
            break;
        case 3:
        case 4:
        case 5:
            if (depth < 3 && n_planned < 60) {
                plan_task(list, n, depth);
                break;
            } /* fall through */
        default:
            add_action(list, n, WORK)->value = 1 + below(100);
        }
}

/* The first action of a task's body, END behind the last. */
static uint32_t plan(uint32_t depth, bool implicit) {
    struct action list[100];
    uint32_t n = 0;
    for (uint32_t part = implicit ? 2 : 0;; part--) {
        plan_some(list, &n, depth);
        if (part == 0)
            break;
        add_action(list, &n, BARRIER);
    }
    add_action(list, &n, implicit ? BARRIER : END);
    if (implicit)
        add_action(list, &n, END);
    assert_true(n_actions + n <= ACTIONS);
    memcpy(actions + n_actions, list, n * sizeof *list);
    n_actions += n;
    return n_actions - n;
}

/* ---- the runtime */

struct group {
    uint32_t tasks; /* that have not ended */
};
struct span {
    uint64_t begin, end;
};
enum task_state { CREATED, BEGUN, DETACHED, ENDED }; /* DETACHED: its event is missing */
struct task {
    union ompt_data data;
    const struct action *next;
    const struct action *made_by;
    struct task *parent, *under;  /* that the thread has put down for it */
    struct task *awaits_event;    /* that it has created last */
    struct group *group, *own[4]; /* it was created in; that it has opened */
    uint32_t n_own, phase;        /* barriers before it */
    enum task_state state;
    bool implicit;
    bool waits;                /* at the action before the next */
    uint32_t thread, children; /* that have not ended */
    uint32_t last, create_node, end_node, undeferred_end, event;
    uint64_t created, ended, came, down; /* down: since when it is put down */
    struct span spans[TASKS];            /* in which it was put down, since it came */
    uint32_t n_spans;
};
struct place { /* a thread */
    struct task *task;
    uint64_t busy; /* until then */
    uint32_t last;
    struct task *begins; /* in this region, not yet */
    struct task *old;    /* in its last one, of whose end it has not heard; NULL: none */
    bool known;
    int wants, holds; /* a lock; -1: none */
    uint64_t asked, idle;
};
static struct group groups[ACTIONS];
static struct task *tasks[TASKS];
static uint32_t n_groups, n_tasks, n_region; /* first one of this region */
static struct place places[THREADS];
static struct lock {
    bool held;
    uint32_t released; /* node */
    uint64_t when;
} locks[LOCKS];
static uint64_t expected[THREADS][LC_MEASURED_KINDS], own_work[THREADS];

static void be(uint32_t thread) {
    latecomer_private_self = &threads[thread];
}

static struct task *new_task(bool implicit) {
    assert_true(n_tasks < TASKS);
    struct task *t = calloc(1, sizeof *t);
    assert_non_null(t);
    t->implicit = implicit;
    t->last = t->create_node = t->end_node = t->undeferred_end = t->event = LC_NONE;
    tasks[n_tasks++] = t;
    return t;
}

/* The thread and its task go on: a node behind both. */
static uint32_t step(uint32_t thread, struct task *t, uint32_t work) {
    uint32_t n = node_of(work);
    edge(places[thread].last, n, OF_THREADS);
    edge(t->last, n, OF_TASKS);
    if (t->undeferred_end != LC_NONE)
        edge(t->undeferred_end, n, OF_BOTH);
    t->undeferred_end = LC_NONE;
    own_work[thread] += work;
    return places[thread].last = t->last = n;
}

static uint64_t overlap(const struct task *t, uint64_t begin, uint64_t end) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < t->n_spans; i++) {
        uint64_t a = t->spans[i].begin > begin ? t->spans[i].begin : begin;
        uint64_t b = t->spans[i].end < end ? t->spans[i].end : end;
        sum += b > a ? b - a : 0;
    }
    return sum;
}

static void expect_wait(struct task *t, uint32_t kind, uint64_t last) {
    if (last > t->came)
        expected[t->thread][kind] += last - t->came - overlap(t, t->came, last);
}

static bool excludes(const struct task *a, const struct task *b) {
    for (uint32_t i = 0; i < a->made_by->n_depend; i++)
        for (uint32_t j = 0; j < b->made_by->n_depend; j++)
            if (a->made_by->address[i] == b->made_by->address[j] &&
                a->made_by->type[i] == OMPT_DEPEND_MUTEXINOUTSET &&
                b->made_by->type[j] == OMPT_DEPEND_MUTEXINOUTSET)
                return true;
    return false;
}

/* Must `b` wait for `a`, its older sibling? */
static bool before(const struct task *a, const struct task *b) {
    for (uint32_t i = 0; i < a->made_by->n_depend; i++)
        for (uint32_t j = 0; j < b->made_by->n_depend; j++) {
            uint8_t x = a->made_by->type[i], y = b->made_by->type[j];
            bool writes = x == OMPT_DEPEND_OUT || x == OMPT_DEPEND_INOUT;
            if (a->made_by->address[i] == b->made_by->address[j] && (x != y || writes))
                return true;
        }
    return false;
}

static bool is_ready(const struct task *t) {
    if (t->implicit || t->state != CREATED || t->made_by->undeferred)
        return false;
    if (t->made_by->n_depend == 0)
        return true;
    for (uint32_t i = n_region, older = 1; i < n_tasks; i++) {
        const struct task *s = tasks[i];
        older &= s != t;
        if (s == t || s->implicit || s->parent != t->parent)
            continue;
        if (older && s->state != ENDED && before(s, t))
            return false;
        if ((s->state == BEGUN || s->state == DETACHED) && excludes(s, t))
            return false;
    }
    return true;
}

static bool descends(const struct task *t, const struct task *from) {
    while (t != NULL && t != from)
        t = t->parent;
    return t != NULL;
}

/* The scheduling constraint of tied tasks. */
static bool may_run(uint32_t thread, const struct task *t) {
    for (const struct task *s = places[thread].task; s != NULL; s = s->under)
        if (!(s->implicit && s->next[-1].kind == BARRIER) && !descends(t, s))
            return false;
    return true;
}

static bool in_order; /* tasks run in the order in which they were created */

static struct task *pick(uint32_t thread) {
    uint32_t from = in_order ? 0 : below(n_tasks - n_region);
    for (uint32_t i = 0; i < n_tasks - n_region; i++) {
        struct task *t = tasks[n_region + (i + from) % (n_tasks - n_region)];
        if (is_ready(t) && may_run(thread, t))
            return t;
    }
    return NULL;
}

static void put_down(struct task *t) {
    t->down = now;
}

static void take_up(uint32_t thread, struct task *t) {
    places[thread].task = t;
    if (t->waits)
        t->spans[t->n_spans++] = (struct span){t->down, now};
}

static void begin_task(uint32_t thread, struct task *t) {
    struct task *under = places[thread].task;
    uint64_t ready = t->created;
    uint32_t n = node_of(0);
    edge(places[thread].last, n, OF_THREADS);
    edge(t->create_node, n, OF_BOTH);
    for (uint32_t i = n_region, older = 1; i < n_tasks; i++) {
        const struct task *s = tasks[i];
        older &= s != t;
        if (s != t && !s->implicit && s->parent == t->parent && s->state == ENDED &&
            ((older && before(s, t)) || excludes(s, t))) {
            edge(s->end_node, n, OF_BOTH);
            ready = s->ended > ready ? s->ended : ready;
        }
    }
    places[thread].last = t->last = n;
    expected[thread][LC_MEASURED_OMP_TASK_READY] += now - ready;
    expected[thread][LC_MEASURED_OMP_STOLEN] += t->parent->thread != thread;
    t->state = BEGUN;
    t->thread = thread;
    t->under = under;
    put_down(under);
    places[thread].task = t;
    be(thread);
    lc_omp_task_schedule(&under->data, OMPT_STATUS_SWITCH, &t->data);
}

/* Its body, `body`, has ended, and its event, if it has one, is fulfilled. */
static void complete(struct task *t, uint32_t body) {
    t->end_node = node_of(0);
    edge(body, t->end_node, OF_BOTH);
    edge(t->event, t->end_node, OF_BOTH);
    t->state = ENDED;
    t->ended = now;
    t->parent->children--;
    if (t->group != NULL)
        t->group->tasks--;
    if (t->made_by->undeferred)
        t->parent->undeferred_end = t->end_node;
}

static void end_task(uint32_t thread, struct task *t) {
    struct task *under = t->under;
    uint32_t body = step(thread, t, 0);
    bool event_missing = t->made_by->detached && t->event == LC_NONE;
    if (event_missing)
        t->state = DETACHED;
    else
        complete(t, body);
    be(thread);
    lc_omp_task_schedule(&t->data, event_missing ? OMPT_STATUS_DETACH : OMPT_STATUS_COMPLETE,
                         &under->data);
    take_up(thread, under);
}

static void fulfil(uint32_t thread, struct task *by) {
    struct task *t = by->awaits_event;
    bool late = t->state == DETACHED;
    t->event = step(thread, by, 0);
    be(thread);
    lc_omp_task_schedule(&t->data, late ? OMPT_STATUS_LATE_FULFILL : OMPT_STATUS_EARLY_FULFILL,
                         NULL);
    if (late)
        complete(t, t->last);
}

static void create(uint32_t thread, struct task *parent, const struct action *a) {
    struct task *t = new_task(false);
    struct ompt_dependence list[ADDRESSES];
    t->made_by = a;
    t->next = &actions[a->value];
    t->parent = parent;
    t->group = parent->n_own > 0 ? parent->own[parent->n_own - 1] : parent->group;
    t->phase = parent->phase;
    t->created = now;
    t->create_node = step(thread, parent, 0);
    parent->children++;
    if (t->group != NULL)
        t->group->tasks++;
    expected[thread][LC_MEASURED_OMP_CREATED]++;
    be(thread);
    lc_omp_task_create(&parent->data, NULL, &t->data,
                       OMPT_TASK_EXPLICIT | (a->undeferred ? OMPT_TASK_UNDEFERRED : 0),
                       a->n_depend > 0, NULL);
    for (uint32_t i = 0; i < a->n_depend; i++)
        list[i] = (struct ompt_dependence){.variable.value = 1000 + 8u * a->address[i],
                                           .type = a->type[i]};
    if (a->n_depend > 0)
        lc_omp_dependences(&t->data, list, (int)a->n_depend);
    if (a->detached)
        parent->awaits_event = t;
    if (a->undeferred)
        begin_task(thread, t);
}

/* ---- barriers: the j-th of a region; all members, all tasks */

static union ompt_data region;
static uint32_t team, arrived, arrive_nodes[THREADS];
static bool is_over; /* those who are inside may leave */
static uint32_t inside;
static uint64_t latest;

static bool all_ended(void) {
    for (uint32_t i = n_region; i < n_tasks; i++)
        if (!tasks[i]->implicit && tasks[i]->state != ENDED)
            return false;
    return true;
}

static void begin_wait(struct task *t) {
    t->waits = true;
    t->came = now;
    t->n_spans = 0;
}

static int barrier_kind(const struct task *t) {
    return t->next->kind == END ? OMPT_SYNC_IMPLICIT : OMPT_SYNC_EXPLICIT;
}

static void enter_barrier(uint32_t thread, struct task *t) {
    arrive_nodes[arrived++] = step(thread, t, 0);
    inside++;
    latest = now;
    begin_wait(t);
    be(thread);
    lc_omp_sync_region(barrier_kind(t), OMPT_BEGIN, &region, &t->data, NULL);
}

static uint64_t last_ended(void) {
    uint64_t last = 0;
    for (uint32_t i = n_region; i < n_tasks; i++)
        if (!tasks[i]->implicit && tasks[i]->ended > last)
            last = tasks[i]->ended;
    return last;
}

/* The last barrier of a region: workers hear of its end now, or when the next region begins. */
static void leave_region(uint32_t thread, struct task *t, bool tell) {
    struct place *p = &places[thread];
    p->task = NULL;
    p->old = tell ? NULL : t;
    if (!tell) {
        p->idle = last_ended() > latest ? last_ended() : latest;
        return;
    }
    p->idle = now;
    lc_omp_sync_region(OMPT_SYNC_IMPLICIT, OMPT_END, &region, &t->data, NULL);
    lc_omp_implicit_task(OMPT_END, NULL, &t->data, team, thread, 0);
}

static void leave_barrier(uint32_t thread, struct task *t) {
    uint32_t n = step(thread, t, 0);
    bool last = t->next->kind == END;
    for (uint32_t i = 0; i < team; i++)
        edge(arrive_nodes[i], n, OF_BOTH);
    for (uint32_t i = n_region; i < n_tasks; i++)
        if (!tasks[i]->implicit && tasks[i]->phase <= t->phase)
            edge(tasks[i]->end_node, n, OF_BOTH);
    t->phase++;
    expect_wait(t, last ? LC_MEASURED_OMP_IBARRIER : LC_MEASURED_OMP_EBARRIER, latest);
    t->waits = false;
    be(thread);
    if (last)
        leave_region(thread, t, thread == 0 || below(2) == 0);
    else
        lc_omp_sync_region(OMPT_SYNC_EXPLICIT, OMPT_END, &region, &t->data, NULL);
    if (--inside == 0) {
        arrived = 0;
        is_over = false;
    }
}

/* ---- taskwait and taskgroup */

static void begin_tasks_wait(uint32_t thread, struct task *t, enum action_kind kind) {
    step(thread, t, 0);
    begin_wait(t);
    be(thread);
    if (kind == TASKWAIT)
        lc_omp_sync_region(OMPT_SYNC_TASKWAIT, OMPT_BEGIN, &region, &t->data, NULL);
    else
        lc_omp_sync_region_wait(OMPT_SYNC_TASKGROUP, OMPT_BEGIN, &region, &t->data, NULL);
}

static void end_tasks_wait(uint32_t thread, struct task *t, enum action_kind kind) {
    uint32_t n = step(thread, t, 0);
    uint64_t last = 0;
    struct group *group = kind == GROUP_END ? t->own[t->n_own - 1] : NULL;
    for (uint32_t i = n_region; i < n_tasks; i++) {
        const struct task *s = tasks[i];
        if (s->implicit || (group != NULL ? s->group != group : s->parent != t))
            continue;
        edge(s->end_node, n, OF_BOTH);
        last = s->ended > last ? s->ended : last;
    }
    expect_wait(t, LC_MEASURED_OMP_TASKWAIT, last);
    t->waits = false;
    be(thread);
    if (kind == TASKWAIT) {
        lc_omp_sync_region(OMPT_SYNC_TASKWAIT, OMPT_END, &region, &t->data, NULL);
        return;
    }
    lc_omp_sync_region_wait(OMPT_SYNC_TASKGROUP, OMPT_END, &region, &t->data, NULL);
    lc_omp_sync_region(OMPT_SYNC_TASKGROUP, OMPT_END, &region, &t->data, NULL);
    t->n_own--;
}

/* ---- the threads in turns: whoever can do something first */

static void ask_lock(uint32_t thread, struct task *t, const struct action *a) {
    step(thread, t, 0);
    places[thread].wants = (int)a->lock;
    places[thread].asked = now;
    be(thread);
    lc_omp_mutex_acquire(OMPT_MUTEX_CRITICAL, 0, 0, 7000 + a->lock, NULL);
}

static void get_lock(uint32_t thread, struct task *t, uint32_t work) {
    struct place *p = &places[thread];
    struct lock *lock = &locks[p->wants];
    edge(lock->released, step(thread, t, 0), OF_BOTH);
    if (lock->when > p->asked)
        expected[thread][LC_MEASURED_OMP_CRITICAL] += lock->when - p->asked;
    lock->held = true;
    be(thread);
    lc_omp_mutex_acquired(OMPT_MUTEX_CRITICAL, 7000 + (uint64_t)p->wants, NULL);
    step(thread, t, work);
    p->busy = now + work;
    p->holds = p->wants;
    p->wants = -1;
}

static void give_lock(uint32_t thread, struct task *t) {
    struct place *p = &places[thread];
    struct lock *lock = &locks[p->holds];
    *lock = (struct lock){.released = step(thread, t, 0), .when = now};
    be(thread);
    lc_omp_mutex_released(OMPT_MUTEX_CRITICAL, 7000 + (uint64_t)p->holds, NULL);
    p->holds = -1;
}

static uint64_t forked;
static uint32_t fork_node;

static void begin_share(uint32_t thread) {
    struct place *p = &places[thread];
    struct task *t = p->begins;
    uint32_t n = node_of(0);
    edge(p->last, n, OF_THREADS);
    edge(fork_node, n, OF_BOTH);
    p->last = t->last = n;
    p->begins = NULL;
    p->task = t;
    be(thread);
    if (!p->known && thread != 0)
        lc_omp_thread_begin(OMPT_THREAD_WORKER, &(union ompt_data){0});
    p->known = true;
    if (p->old != NULL) {
        lc_omp_sync_region(OMPT_SYNC_IMPLICIT, OMPT_END, NULL, &p->old->data, NULL);
        lc_omp_implicit_task(OMPT_END, NULL, &p->old->data, 0, thread, 0);
        p->old = NULL;
    }
    lc_omp_implicit_task(OMPT_BEGIN, &region, &t->data, team, thread, OMPT_TASK_IMPLICIT);
    expected[thread][LC_MEASURED_OMP_FORK] += now - forked;
    expected[thread][LC_MEASURED_OMP_MANAGEMENT] += now - forked;
    if (thread != 0 && p->idle != 0 && forked > p->idle)
        expected[thread][LC_MEASURED_OMP_IDLE] += forked - p->idle;
}

/* May a waiting task go on? */
static bool is_free(const struct task *t) {
    switch (t->next[-1].kind) {
    case TASKWAIT:
        return t->children == 0;
    case GROUP_END:
        return t->own[t->n_own - 1]->tasks == 0;
    default:
        return is_over;
    }
}

static bool can_act(uint32_t thread) {
    const struct place *p = &places[thread];
    if (p->begins != NULL)
        return true;
    if (p->task == NULL)
        return false;
    if (p->wants >= 0)
        return !locks[p->wants].held;
    if (p->task->waits)
        return is_free(p->task) || pick(thread) != NULL;
    return p->holds >= 0 || p->task->next->kind != BARRIER || !is_over;
}

static void go_on(uint32_t thread, struct task *t) {
    enum action_kind kind = t->next[-1].kind;
    if (!is_free(t))
        begin_task(thread, pick(thread));
    else if (kind == BARRIER)
        leave_barrier(thread, t);
    else
        end_tasks_wait(thread, t, kind);
}

static void do_action(uint32_t thread, struct task *t) {
    const struct action *a = t->next++;
    switch (a->kind) {
    case WORK:
        step(thread, t, a->value);
        places[thread].busy = now + a->value;
        break;
    case CREATE:
        create(thread, t, a);
        break;
    case FULFIL:
        fulfil(thread, t);
        break;
    case GROUP_BEGIN:
        assert_true(n_groups < ACTIONS);
        groups[n_groups] = (struct group){0};
        t->own[t->n_own++] = &groups[n_groups++];
        be(thread);
        lc_omp_sync_region(OMPT_SYNC_TASKGROUP, OMPT_BEGIN, &region, &t->data, NULL);
        break;
    case TASKWAIT:
    case GROUP_END:
        begin_tasks_wait(thread, t, a->kind);
        break;
    case CRITICAL:
        ask_lock(thread, t, a);
        break;
    case BARRIER:
        enter_barrier(thread, t);
        break;
    default:
        end_task(thread, t);
    }
}

static void act(uint32_t thread) {
    struct place *p = &places[thread];
    struct task *t = p->task;
    if (p->begins != NULL)
        begin_share(thread);
    else if (p->wants >= 0)
        get_lock(thread, t, t->next[-1].value);
    else if (p->holds >= 0)
        give_lock(thread, t);
    else if (t->waits)
        go_on(thread, t);
    else
        do_action(thread, t);
    if (arrived == team && all_ended())
        is_over = true;
}

/* bodies: first action of each thread; NULL: random ones. */
static void run_region(struct task *initial, const uint32_t *bodies) {
    be(0);
    lc_omp_parallel_begin(&initial->data, NULL, &region, team, 0, NULL);
    fork_node = step(0, initial, 0);
    forked = now;
    n_region = n_tasks;
    for (uint32_t i = 0; i < team; i++) {
        struct task *t = new_task(true);
        t->thread = i;
        t->next = &actions[bodies != NULL ? bodies[i] : plan(0, true)];
        places[i].begins = t;
        places[i].busy = now + (i > 0 && bodies == NULL ? below(20) : 0);
    }
    for (;;) {
        uint32_t first = LC_NONE, from = below(team);
        uint64_t when = UINT64_MAX;
        for (uint32_t i = 0; i < team; i++) {
            uint32_t thread = (i + from) % team;
            if (can_act(thread) && places[thread].busy < when) {
                first = thread;
                when = places[thread].busy;
            }
        }
        if (first == LC_NONE)
            break;
        now = when > now ? when : now;
        act(first);
    }
    uint32_t n = node_of(0);
    assert_int_equal(inside, 0); /* all have left: nothing hangs */
    edge(places[0].last, n, OF_THREADS);
    edge(initial->last, n, OF_TASKS);
    edge(tasks[n_region]->last, n, OF_TASKS);
    places[0].last = initial->last = n;
    be(0);
    lc_omp_parallel_end(&region, &initial->data, 0, NULL);
}

static void serial_work(struct task *initial) {
    uint32_t work = 1 + below(50);
    step(0, initial, work);
    now += work;
}

static void reset(void) {
    n_actions = n_planned = n_groups = n_tasks = n_nodes = n_edges = 0;
    arrived = inside = 0;
    memset(places, 0, sizeof places);
    memset(measured, 0, sizeof measured);
    memset(expected, 0, sizeof expected);
    memset(own_work, 0, sizeof own_work);
    now += 1000;
    lc_clk.n_intervals++;
    for (uint32_t i = 0; i < LOCKS; i++)
        locks[i] = (struct lock){.released = LC_NONE};
    for (uint32_t i = 0; i < THREADS; i++) {
        places[i].wants = places[i].holds = -1;
        places[i].last = LC_NONE;
        threads[i].index = i;
        threads[i].last_ticks = now;
        threads[i].clocks = NULL;
        atomic_store(&threads[i].mode, LC_MODE_LIVE | LC_MODE_ON | LC_MODE_CLOCKS);
    }
}

static void compare(uint32_t seed) {
    uint64_t longest = 0, critical = longest_path(OF_THREADS), task = longest_path(OF_TASKS);
    for (uint32_t i = 0; i < THREADS; i++) {
        const struct lc_clk_thread *k = threads[i].clocks;
        for (uint32_t kind = 0; kind < LC_MEASURED_KINDS; kind++)
            if (measured[i][kind] != expected[i][kind])
                fail_msg("seed %u: thread %u: %s: %llu, not %llu", seed, i, lc_raw_measured[kind],
                         (unsigned long long)measured[i][kind],
                         (unsigned long long)expected[i][kind]);
        if (k == NULL)
            continue;
        longest = k->l.useful > longest ? k->l.useful : longest;
        uint64_t in_omp = k->l.in_omp + (k->in_runtime ? now - k->in_runtime : 0);
        if (k->l.own != own_work[i] || k->l.own + in_omp != now - k->l.begin)
            fail_msg("seed %u: thread %u: %llu useful, not %llu; %llu in the runtime of %llu", seed,
                     i, (unsigned long long)k->l.own, (unsigned long long)own_work[i],
                     (unsigned long long)in_omp, (unsigned long long)(now - k->l.begin));
    }
    uint64_t chain = lc_omp_task_chain(lc_clk.n_intervals);
    if (longest != critical || (chain != 0 && chain != task))
        fail_msg("seed %u: critical path %llu, not %llu; along the tasks %llu, not %llu", seed,
                 (unsigned long long)longest, (unsigned long long)critical,
                 (unsigned long long)chain, (unsigned long long)task);
    assert_true(task <= critical);
    for (uint32_t i = 0; i < THREADS; i++)
        assert_true(own_work[i] <= critical);
}

static struct task *begin_program(void) {
    reset();
    struct task *initial = new_task(true);
    initial->next = &actions[0];
    be(0);
    lc_omp_implicit_task(OMPT_BEGIN, NULL, &initial->data, 1, 0, OMPT_TASK_INITIAL);
    return initial;
}

static void end_program(uint32_t seed) {
    be(0);
    lc_omp_worked(threads[0].openmp, now);
    lc_clk.switch_ticks = now;
    lc_omp_book_open();
    compare(seed);
}

static void forget_program(void) {
    for (uint32_t i = 0; i < n_tasks; i++)
        free(tasks[i]);
    for (uint32_t i = 0; i < THREADS; i++)
        lc_omp_thread_gone(&threads[i]);
}

/* The number of explicit tasks that ran. */
static uint32_t one_program(uint32_t seed) {
    srand(seed);
    struct task *initial = begin_program();
    for (uint32_t regions = 1 + below(3); regions > 0; regions--) {
        serial_work(initial);
        team = 1 + below(FEW);
        run_region(initial, NULL);
    }
    serial_work(initial);
    end_program(seed);
    uint32_t explicit_ones = 0;
    for (uint32_t i = 0; i < n_tasks; i++)
        explicit_ones += !tasks[i]->implicit;
    forget_program();
    return explicit_ones;
}

static void start(void) {
    size_t bytes = lc_area_size(THREADS);
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        abort();
    lc_area_init(&lc_clk.mine, memory, bytes, 0, THREADS);
    lc_clk.areas = &lc_clk.mine;
    lc_clk.size = 1;
    lc_clk.on = lc_clk.ready = true;
}

static void random_programs(void **state) {
    (void)state;
    uint32_t n = 0;
    for (uint32_t seed = 1; seed <= 1000; seed++)
        n += one_program(seed);
    assert_true(n > 10000);
}

/* The experiment of the OTF-CPT slides: one task of 0.1 s and 115 of 0.02 s, created by one thread
 * at once; the long one runs first (good schedule), or last (bad). Here creation takes no time, so
 * that all is known: on n threads the good one takes 5 rounds of 0.02 s, and what is left then; in
 * the bad one the long task begins when the first thread finds no other. */
enum { ROUND = 20000, SMALL = 115, LONG = 5 };
static const struct row {
    uint32_t threads;
    double good, bad; /* load balance on the slides, percent */
} slides[] = {{2, 100.0, 96.8}, {4, 99.9, 90.8},  {6, 99.9, 83.4},  {8, 99.8, 79.0},
              {12, 99.8, 71.4}, {16, 93.7, 62.6}, {24, 99.6, 56.0}, {32, 80.7, 46.9},
              {48, 47.0, 34.9}, {64, 35.9, 32.1}, {96, 25.2, 21.2}};

static uint32_t plan_experiment(bool good, uint32_t *others) {
    struct action list[SMALL + 4] = {0};
    uint32_t n = 0, bodies[2];
    for (uint32_t i = 0; i < 2; i++) {
        bodies[i] = n_actions;
        actions[n_actions++] =
            (struct action){.kind = WORK, .value = i == 0 ? LONG * ROUND : ROUND};
        actions[n_actions++] = (struct action){.kind = END};
    }
    for (uint32_t i = 0; i <= SMALL; i++)
        list[n++] = (struct action){.kind = CREATE, .value = bodies[i != (good ? 0 : SMALL)]};
    list[n++] = (struct action){.kind = BARRIER};
    list[n++] = (struct action){.kind = END};
    memcpy(actions + n_actions, list, n * sizeof *list);
    n_actions += n;
    *others = n_actions - 2;
    return n_actions - n;
}

static void one_experiment(const struct row *on, bool good) {
    struct task *initial = begin_program();
    uint32_t bodies[THREADS], others, n = on->threads;
    uint32_t left = LONG * (n - 1) < SMALL ? SMALL - LONG * (n - 1) : 0;
    uint64_t begin = now, takes = (good ? LONG + (left + n - 1) / n : SMALL / n + LONG) * ROUND;
    bodies[0] = plan_experiment(good, &others);
    for (uint32_t i = 1; i < THREADS; i++)
        bodies[i] = others;
    team = n;
    run_region(initial, bodies);
    end_program(n);
    uint64_t longest = 0, most = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct lc_logical *l = &clocks[i].l;
        longest = l->useful > longest ? l->useful : longest;
        most = l->own > most ? l->own : most;
    }
    double balance = 100.0 * (SMALL + LONG) * ROUND / n / (double)most;
    double off = balance - (good ? on->good : on->bad);
    assert_int_equal(now - begin, takes);
    assert_int_equal(longest, takes);
    assert_int_equal(lc_omp_task_chain(lc_clk.n_intervals), LONG * ROUND);
    /* with more threads than work, creation shows on the slides */
    double within = good && n > 24 && n < 96 ? 6.0 : 1.0;
    assert_true(off <= within && off >= -within);
    assert_true((longest == LONG * ROUND) == (good && n >= 24));
    forget_program();
}

static void experiment_of_the_slides(void **state) {
    (void)state;
    in_order = true;
    for (size_t i = 0; i < sizeof slides / sizeof *slides; i++)
        for (int good = 0; good < 2; good++)
            one_experiment(&slides[i], good);
    in_order = false;
}

int main(void) {
    start();
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_programs),
                                       cmocka_unit_test(experiment_of_the_slides)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
