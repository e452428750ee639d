/* The runtime: tasks, and what they wait for. */
#include "task_graph.h"

struct group groups[ACTIONS];
struct task *tasks[TASKS];
uint32_t n_groups, n_tasks, n_region; /* first one of this region */
struct place places[THREADS];
struct lock locks[LOCKS];
uint64_t expected[THREADS][LC_MEASURED_KINDS], own_work[THREADS];

void be(uint32_t thread) {
    latecomer_private_self = &threads[thread];
}

struct task *new_task(bool implicit) {
    assert_true(n_tasks < TASKS);
    struct task *t = calloc(1, sizeof *t);
    assert_non_null(t);
    t->implicit = implicit;
    t->last = t->create_node = t->end_node = t->undeferred_end = t->event = LC_NONE;
    tasks[n_tasks++] = t;
    return t;
}

uint32_t step(uint32_t thread, struct task *t, uint32_t work) {
    uint32_t n = node_of(work);
    construct_of[n] = (uint8_t)t->construct;
    t->work += work;
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

void expect_wait(struct task *t, uint32_t kind, uint64_t last) {
    if (last > t->came)
        expected[t->thread][kind] += last - t->came - overlap(t, t->came, last);
}

bool excludes(const struct task *a, const struct task *b) {
    for (uint32_t i = 0; i < a->made_by->n_depend; i++)
        for (uint32_t j = 0; j < b->made_by->n_depend; j++)
            if (a->made_by->address[i] == b->made_by->address[j] &&
                a->made_by->type[i] == OMPT_DEPEND_MUTEXINOUTSET &&
                b->made_by->type[j] == OMPT_DEPEND_MUTEXINOUTSET)
                return true;
    return false;
}

bool before(const struct task *a, const struct task *b) {
    for (uint32_t i = 0; i < a->made_by->n_depend; i++)
        for (uint32_t j = 0; j < b->made_by->n_depend; j++) {
            uint8_t x = a->made_by->type[i], y = b->made_by->type[j];
            bool writes = x == OMPT_DEPEND_OUT || x == OMPT_DEPEND_INOUT;
            if (x == OMPT_DEPEND_OUT_ALL_MEMORY || y == OMPT_DEPEND_OUT_ALL_MEMORY)
                return true;
            if (a->made_by->address[i] == b->made_by->address[j] && (x != y || writes))
                return true;
        }
    return false;
}

static bool is_ready(const struct task *t) {
    if (t->implicit || t->made_by->undeferred || (t->state != CREATED && t->state != SUSPENDED))
        return false;
    if (t->made_by->n_depend == 0 || t->state == SUSPENDED)
        return true;
    for (uint32_t i = n_region, older = 1; i < n_tasks; i++) {
        const struct task *s = tasks[i];
        older &= s != t;
        if (s == t || s->implicit || s->parent != t->parent)
            continue;
        if (older && s->state != ENDED && before(s, t))
            return false;
        if (s->state != CREATED && s->state != ENDED && excludes(s, t))
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

bool in_order; /* tasks run in the order in which they were created */

struct task *pick(uint32_t thread) {
    uint32_t from = in_order ? 0 : below(n_tasks - n_region);
    for (uint32_t i = 0; i < n_tasks - n_region; i++) {
        struct task *t = tasks[n_region + (i + from) % (n_tasks - n_region)];
        if (is_ready(t) && may_run(thread, t))
            return t;
    }
    return NULL;
}

uint32_t running[1 + CONSTRUCTS], at_once[1 + CONSTRUCTS];

static void runs(const struct task *t) {
    if (++running[t->construct] > at_once[t->construct])
        at_once[t->construct] = running[t->construct];
}

static void stops(const struct task *t) {
    running[t->construct]--;
}

static void put_down(struct task *t) {
    stops(t);
    t->down = now;
}

static void take_up(uint32_t thread, struct task *t) {
    runs(t);
    places[thread].task = t;
    if (t->waits)
        t->spans[t->n_spans++] = (struct span){t->down, now};
}

void begin_task(uint32_t thread, struct task *t) {
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
    expected[thread][LC_MEASURED_OMP_STOLEN] += t->created_on != thread;
    t->state = BEGUN;
    t->thread = thread;
    t->under = under;
    put_down(under);
    runs(t);
    places[thread].task = t;
    be(thread);
    lc_omp_task_schedule(&under->data, OMPT_STATUS_SWITCH, &t->data);
}

void resume_task(uint32_t thread, struct task *t) {
    struct task *under = places[thread].task;
    uint32_t before_it = t->last;
    edge(before_it, step(thread, t, 0), OF_BOTH);
    t->state = BEGUN;
    t->thread = thread;
    t->under = under;
    put_down(under);
    runs(t);
    places[thread].task = t;
    be(thread);
    lc_omp_task_schedule(&under->data, OMPT_STATUS_SWITCH, &t->data);
}

void yield_task(uint32_t thread, struct task *t) {
    struct task *under = t->under;
    step(thread, t, 0);
    t->state = SUSPENDED;
    stops(t);
    be(thread);
    lc_omp_task_schedule(&t->data, OMPT_STATUS_YIELD, &under->data);
    take_up(thread, under);
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

void end_task(uint32_t thread, struct task *t) {
    struct task *under = t->under;
    uint32_t body = step(thread, t, 0);
    stops(t);
    expected[thread][LC_MEASURED_OMP_TASK_WORK] += t->work;
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

void fulfil(uint32_t thread, struct task *by) {
    struct task *t = by->awaits_event;
    bool late = t->state == DETACHED;
    t->event = step(thread, by, 0);
    be(thread);
    lc_omp_task_schedule(&t->data, late ? OMPT_STATUS_LATE_FULFILL : OMPT_STATUS_EARLY_FULFILL,
                         NULL);
    if (late)
        complete(t, t->last);
}

void tell_dependences(union ompt_data *data, const struct action *a) {
    struct ompt_dependence list[ADDRESSES];
    for (uint32_t i = 0; i < a->n_depend; i++)
        list[i] = (struct ompt_dependence){.variable.value = 1000 + 8u * a->address[i],
                                           .type = a->type[i]};
    if (a->n_depend > 0)
        lc_omp_dependences(data, list, (int)a->n_depend);
}

void create(uint32_t thread, struct task *parent, const struct action *a) {
    struct task *t = new_task(false);
    t->made_by = a;
    t->next = &actions[a->value];
    t->parent = parent;
    t->group = parent->n_own > 0 ? parent->own[parent->n_own - 1] : parent->group;
    t->phase = parent->phase;
    t->created = now;
    t->created_on = thread;
    t->construct = 1 + (uint32_t)((size_t)(a - actions) % CONSTRUCTS);
    t->create_node = step(thread, parent, 0);
    parent->children++;
    if (t->group != NULL)
        t->group->tasks++;
    expected[thread][LC_MEASURED_OMP_CREATED]++;
    be(thread);
    lc_omp_task_create(&parent->data, NULL, &t->data,
                       OMPT_TASK_EXPLICIT | (a->undeferred ? OMPT_TASK_UNDEFERRED : 0) |
                           (a->untied ? OMPT_TASK_UNTIED : 0),
                       a->n_depend > 0, (const void *)(uintptr_t)(t->construct - 1));
    tell_dependences(&t->data, a);
    if (a->detached)
        parent->awaits_event = t;
    if (a->undeferred)
        begin_task(thread, t);
}
