/* What the sources under test need of the rest: clocks as call_clocks.c keeps them, nodes. */
#include "task_graph.h"

#include <time.h>

#include "measure/clocks/backlog.h"
#include "measure/clocks/clocks_hooks.h"
#include "measure/clocks/intervals.h"
#include "measure/clocks/origins.h"
#include "measure/hot/hot.h"
#include "measure/hot/locations.h"
#include "measure/samples/sampler.h"
#include "measure/trace/trace_area.h"

struct lc_clk lc_clk;
struct lc_core lc_core;
__thread void *latecomer_private_self;
uint64_t now; /* virtual */
uint64_t program_begin;
enum lc_omp_construct last_region;
struct lc_thread threads[THREADS];
struct lc_clk_thread clocks[THREADS];
uint64_t measured[THREADS][LC_MEASURED_KINDS];

int __wrap_clock_gettime(clockid_t id, struct timespec *time);
int __wrap_clock_gettime(clockid_t id, struct timespec *time) { /* lc_ticks */
    (void)id;
    *time = (struct timespec){.tv_sec = (time_t)(now / 1000000000u),
                              .tv_nsec = (long)(now % 1000000000u)};
    return 0;
}

uint32_t n_chunks;

void *__real_aligned_alloc(size_t line, size_t bytes);
void *__wrap_aligned_alloc(size_t line, size_t bytes);
void *__wrap_aligned_alloc(size_t line, size_t bytes) { /* of pools; and locks */
    n_chunks++;
    return __real_aligned_alloc(line, bytes);
}

void (*while_waiting)(void); /* what another thread does when this one gives its core away */

int __wrap_sched_yield(void);
int __wrap_sched_yield(void) {
    if (while_waiting != NULL)
        while_waiting();
    return 0;
}

void (*while_sleeping)(void);

int __wrap_nanosleep(const struct timespec *time, struct timespec *rest);
int __wrap_nanosleep(const struct timespec *time, struct timespec *rest) {
    (void)time;
    (void)rest;
    if (while_sleeping != NULL)
        while_sleeping();
    return 0;
}

void lc_clk_worked(struct lc_clk_thread *k, uint64_t at, uint32_t node) {
    static const float as_it_is[] = {1, 1, 1}, of_tasks[] = {2, 1, 2};
    uint64_t last = k->l.last;
    lc_logical_useful(&k->l, at, node);
    if (at > last)
        lc_logical_whatif(&k->l, at - last, node >= TASK_NODE ? of_tasks : as_it_is);
}

void lc_clk_left_runtime(struct lc_clk_thread *k, uint64_t at) {
    k->l.in_omp += at - k->in_runtime;
    k->l.origin += at - k->in_runtime;
    k->l.last = at;
    k->in_runtime = 0;
}

/* Scenarios and phases are on: no event is usual. */
void lc_clk_origins_worked(struct lc_clk_thread *k, uint64_t from, uint64_t until, uint32_t node,
                           uint32_t gap) {
    (void)k;
    (void)from;
    (void)until;
    (void)node;
    (void)gap;
    fail();
}

void lc_clocks_thread_new(struct lc_call *call) {
    struct lc_clk_thread *k = &clocks[call->thread->index];
    memset(k, 0, sizeof *k);
    lc_cpvec_init(&k->l.vec, &lc_clk.mine, call->thread->index, SCENARIOS);
    k->l.last = k->l.origin = k->seen = call->begin;
    lc_logical_begin(&k->l, lc_clk.n_intervals, call->begin);
    lc_clk_phase_catch_up(k);
    call->thread->clocks = k;
}

/* The queue of events: some run when they come, others some time later, all in order. */
static struct queued {
    const struct lc_event_type *type;
    struct lc_clk_thread *k;
    _Alignas(8) unsigned char data[LC_EVENT_DATA];
} queue[QUEUED];
static uint32_t queue_first, queue_end;

void run_events(uint32_t left) {
    while (queue_end - queue_first > left) {
        struct queued e = queue[queue_first++ % QUEUED];
        struct lc_call call = {.begin = now};
        e.type->run(&call, e.k, e.data);
    }
}

void lc_clk_backlog_submit_at(const struct lc_event_type *type, struct lc_clk_thread *k,
                              const struct lc_event_at *where, const void *data, size_t bytes) {
    static uint32_t n;
    (void)where;
    struct queued *e = &queue[queue_end++ % QUEUED];
    e->type = type;
    e->k = k;
    memcpy(e->data, data, bytes);
    n = n * 1664525 + 1013904223; /* not what the program is made from */
    if (queue_end - queue_first == QUEUED || n >> 29 == 0)
        run_events(n >> 8 & (QUEUED / 2 - 1));
}

/* Events run by themselves here. */
bool lc_clk_backlog_lags(void) {
    return false;
}
void lc_clk_backlog_progress(uint64_t time) {
    (void)time;
}

uint32_t lc_clk_interval_now(void) {
    return lc_clk.n_intervals;
}

uint32_t lc_clk_interval_of(const struct lc_clk_thread *k, uint64_t *begin) {
    *begin = lc_clk.backlog ? program_begin : k->l.begin;
    return lc_clk.n_intervals;
}

/* The whole program is one phase. */
void lc_clk_phase_catch_up(struct lc_clk_thread *k) {
    k->l.phase = lc_clk.n_intervals;
}

struct lc_thread *lc_thread_here(void) {
    return latecomer_private_self;
}

uint64_t lc_budget_event_begins(struct lc_thread *t) {
    (void)t;
    return now;
}

void lc_budget_events(struct lc_thread *t, uint64_t ticks, uint32_t n) {
    (void)t;
    (void)ticks;
    (void)n;
}

uint32_t lc_omp_path_open(struct lc_omp_thread *o, enum lc_omp_construct construct, void *frame,
                          const void *code, uint32_t *node) {
    (void)o;
    (void)frame;
    (void)code;
    (void)node;
    last_region = construct;
    return 0;
}

uint32_t lc_omp_path_open_late(struct lc_omp_thread *o, enum lc_omp_construct construct,
                               const void *code, uint64_t ago, uint32_t *node) {
    (void)ago;
    return lc_omp_path_open(o, construct, NULL, code, node);
}

void lc_omp_path_close(uint32_t opened, void *frame, const void *code, uint64_t at) {
    (void)opened;
    (void)frame;
    (void)code;
    (void)at;
}

/* Nodes of the call tree: explicit tasks', one that all others are at. */
static struct lc_state_row row;

static struct lc_omp_node everywhere = {.row = &row},
                          in_tasks[CONSTRUCTS] = {{.node = TASK_NODE, .row = &row},
                                                  {.node = TASK_NODE + 1, .row = &row}};

struct lc_omp_node *lc_omp_node_get(struct lc_omp_thread *o, uint32_t parent,
                                    enum lc_omp_construct construct, const void *code) {
    (void)o;
    (void)parent;
    return construct == LC_OMP_AT_TASK ? &in_tasks[(uintptr_t)code] : &everywhere;
}

struct lc_omp_node *lc_omp_node_known(struct lc_omp_thread *o, uint32_t node) {
    (void)o;
    return node >= TASK_NODE ? &in_tasks[node - TASK_NODE] : &everywhere;
}

bool lc_omp_node_runs_code(const struct lc_omp_node *node) {
    (void)node;
    return true;
}

/* No samples: never asked. */
void lc_samples_split_at(struct lc_thread *t, uint32_t node, uint64_t since, uint64_t until,
                         void (*split)(void *context, uint64_t end, uint32_t node), void *context) {
    (void)t;
    (void)node;
    (void)since;
    (void)until;
    (void)split;
    (void)context;
    fail();
}

/* No polls: never asked. */
uint64_t lc_polls_over(struct lc_thread *t, uint64_t at) {
    (void)t;
    fail();
    return at;
}

struct lc_omp_node *lc_omp_node_idle(struct lc_omp_thread *o) {
    (void)o;
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

bool lc_omp_push_unseen(struct lc_omp_thread *o, enum lc_omp_construct construct, const void *code,
                        uint64_t at) {
    lc_omp_push(o, construct, code, at);
    return true;
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

void lc_omp_put(struct lc_omp_thread *o, struct lc_omp_node *at, uint32_t kind, uint64_t amount) {
    lc_omp_add(o, at, kind, amount);
}

void lc_omp_put_waited(struct lc_omp_thread *o, struct lc_omp_node *at, uint32_t kind,
                       uint64_t ticks, const struct lc_omp_late *late) {
    lc_omp_add(o, at, kind, ticks);
    assert_true(ticks == 0 || (late != NULL && late->when <= now));
}

void lc_omp_waited(struct lc_omp_thread *o, struct lc_omp_node *at, uint32_t kind, uint64_t ticks,
                   const struct lc_omp_late *late) {
    lc_omp_put_waited(o, at, kind, ticks, late);
}
