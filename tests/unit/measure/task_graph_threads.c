/* The runtime: barriers, taskwaits, and the threads in turns: whoever can do something first. */
#include "task_graph.h"

#include "measure/openmp/team.h"

union ompt_data region;
uint32_t team, arrived, arrive_nodes[THREADS];
static bool is_over; /* those who are inside may leave */
uint32_t inside;
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

/* Is the child of `t` one that its `taskwait depend` waits for? */
static bool is_awaited(const struct task *s, const struct task *t, const struct action *a) {
    const struct task construct = {.made_by = a};
    return !s->implicit && s->parent == t && (before(s, &construct) || excludes(s, &construct));
}

static void begin_tasks_wait(uint32_t thread, struct task *t, const struct action *a) {
    enum action_kind kind = a->kind;
    step(thread, t, 0);
    begin_wait(t);
    be(thread);
    if (kind == TASKWAIT_DEPEND) {
        union ompt_data data = {0};
        lc_omp_task_create(&t->data, NULL, &data,
                           OMPT_TASK_EXPLICIT | OMPT_TASK_TASKWAIT | OMPT_TASK_UNDEFERRED,
                           a->n_depend > 0, NULL);
        tell_dependences(&data, a);
    } else if (kind == TASKWAIT)
        lc_omp_sync_region(OMPT_SYNC_TASKWAIT, OMPT_BEGIN, &region, &t->data, NULL);
    else
        lc_omp_sync_region_wait(OMPT_SYNC_TASKGROUP, OMPT_BEGIN, &region, &t->data, NULL);
}

static void end_tasks_wait(uint32_t thread, struct task *t, const struct action *a) {
    enum action_kind kind = a->kind;
    uint32_t n = step(thread, t, 0);
    uint64_t last = 0;
    struct group *group = kind == GROUP_END ? t->own[t->n_own - 1] : NULL;
    for (uint32_t i = n_region; i < n_tasks; i++) {
        const struct task *s = tasks[i];
        if (s->implicit || (group != NULL ? s->group != group : s->parent != t) ||
            (kind == TASKWAIT_DEPEND && !is_awaited(s, t, a)))
            continue;
        edge(s->end_node, n, OF_BOTH);
        last = s->ended > last ? s->ended : last;
    }
    expect_wait(t, LC_MEASURED_OMP_TASKWAIT, last);
    t->waits = false;
    be(thread);
    if (kind == TASKWAIT_DEPEND) {
        lc_omp_task_schedule(NULL, OMPT_STATUS_TASKWAIT_COMPLETE, NULL);
        return;
    }
    if (kind == TASKWAIT) {
        lc_omp_sync_region(OMPT_SYNC_TASKWAIT, OMPT_END, &region, &t->data, NULL);
        return;
    }
    lc_omp_sync_region_wait(OMPT_SYNC_TASKGROUP, OMPT_END, &region, &t->data, NULL);
    lc_omp_sync_region(OMPT_SYNC_TASKGROUP, OMPT_END, &region, &t->data, NULL);
    t->n_own--;
}

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
static struct span regions[3]; /* of the program: fork to join */
uint32_t n_regions;

/* Time between forks and joins that a thread was idle for. */
static uint64_t in_regions_since(uint64_t idle) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n_regions; i++)
        sum += regions[i].begin >= idle ? regions[i].end - regions[i].begin : 0;
    return sum;
}

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
    if (thread != 0 && p->idle != 0 && forked > p->idle) {
        expected[thread][LC_MEASURED_OMP_IDLE] += forked - p->idle;
        expected[thread][LC_MEASURED_OMP_LIMITED] += in_regions_since(p->idle);
    }
}

/* May a waiting task go on? */
static bool is_free(const struct task *t) {
    switch (t->next[-1].kind) {
    case TASKWAIT:
        return t->children == 0;
    case TASKWAIT_DEPEND:
        for (uint32_t i = n_region; i < n_tasks; i++)
            if (is_awaited(tasks[i], t, &t->next[-1]) && tasks[i]->state != ENDED)
                return false;
        return true;
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
    struct task *other = is_free(t) ? NULL : pick(thread);
    if (other != NULL && other->state == SUSPENDED)
        resume_task(thread, other);
    else if (other != NULL)
        begin_task(thread, other);
    else if (t->next[-1].kind == BARRIER)
        leave_barrier(thread, t);
    else
        end_tasks_wait(thread, t, &t->next[-1]);
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
    case YIELD:
        yield_task(thread, t);
        break;
    case TASKWAIT:
    case TASKWAIT_DEPEND:
    case GROUP_END:
        begin_tasks_wait(thread, t, a);
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

void run_region(struct task *initial, const uint32_t *bodies) {
    be(0);
    lc_omp_parallel_begin(&initial->data, NULL, &region, team, 0, NULL);
    fork_node = step(0, initial, 0);
    forked = now;
    n_region = n_tasks;
    for (uint32_t i = 0; i < team; i++) {
        struct task *t = new_task(true);
        t->thread = i;
        t->next = &actions[bodies != NULL ? bodies[i] : plan((struct plan){.implicit = true})];
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
    regions[n_regions++] = (struct span){forked, now};
}

void serial_work(struct task *initial) {
    uint32_t work = 1 + below(50);
    step(0, initial, work);
    now += work;
}
