/* Teams of the simulated libgomp: threads, regions, barriers, and what programs ask of it. */
#include <omp.h>
#include <pthread.h>
#include <stdlib.h>

#include "sim_gomp.h"

struct worker {
    struct worker *next;
    struct gomp_team *team; /* that it has to join; NULL: none */
    int number;
    bool of_inner_team; /* as in libgomp such threads are made for it, and end with it */
};
static struct worker *workers;
static int usual;           /* threads; 0: as the environment says */
static int most_levels = 1; /* of active regions */
static __thread int team_of_league, league = 1;

static bool is_called(void *worker) {
    return ((struct worker *)worker)->team != NULL;
}

static bool is_over(void *barrier) {
    return ((struct gomp_barrier *)barrier)->over;
}

static struct gomp_barrier *barrier_new(void) {
    struct gomp_barrier *made = calloc(1, sizeof *made);
    if (made == NULL)
        sim_fail("no memory for a barrier");
    return made;
}

struct in_barrier {
    struct gomp_team *team;
    struct gomp_barrier *barrier;
    bool may_be_cancelled;
};

/* Whoever sees it first says so. */
static bool may_go(void *data) {
    struct in_barrier *in = data;
    if (!in->barrier->over && in->barrier->arrived == in->team->n && in->team->tasks_left == 0) {
        in->barrier->over = true;
        in->team->barrier = barrier_new();
        gomp_wake();
    }
    return in->barrier->over || (in->may_be_cancelled && in->team->cancelled);
}

/* It comes, and waits: until all have, and tasks are done. */
static bool wait_in(struct gomp_thread *t, bool may_be_cancelled) {
    struct in_barrier in = {t->team, t->team->barrier, may_be_cancelled};
    struct gomp_waiting w = gomp_comes();
    in.barrier->arrived++;
    in.barrier->last = gomp_now();
    gomp_join(&in.barrier->all, gomp_here(t));
    gomp_wake();
    gomp_work_until((struct gomp_choice){t->team, NULL, NULL}, may_go, &in, &w);
    if (!is_over(in.barrier)) {
        in.barrier->arrived--;
        return true;
    }
    gomp_waited(t, &w, GOMP_AT_BARRIER, in.barrier->last);
    if (in.barrier->last_task < in.barrier->last)
        in.barrier->last_task = in.barrier->last;
    t->idle = in.barrier->last_task;
    gomp_takes_time();
    gomp_after(t, in.barrier->all);
    return false;
}

bool gomp_barrier(bool may_be_cancelled) {
    struct gomp_thread *t = gomp_in();
    bool cancelled = t->team != NULL && t->team->n > 0 && wait_in(t, may_be_cancelled);
    t->idle = 0;
    gomp_out();
    return cancelled;
}

/* What the thread does in a team is a task, which begins at the fork. */
static struct gomp_task *begin_share(struct gomp_thread *t, struct gomp_team *team, int number) {
    struct gomp_task *task = gomp_task_new(NULL, team);
    t->team = team;
    t->number = number;
    t->work = team->given != NULL;
    t->share = team->given;
    t->rounds = 0;
    t->chunk = -1;
    t->task = task;
    gomp_after(t, team->fork);
    return task;
}

static void run_share(struct gomp_thread *t) {
    gomp_out();
    t->team->fn(t->team->data);
    gomp_in();
    wait_in(t, false);
    gomp_task_over(t->task);
}

static void *work(void *of) {
    struct worker *worker = of;
    struct gomp_thread *t = NULL;
    for (;;) {
        sim_wait_until(is_called, worker);
        if (sim_self() == NULL)
            return NULL;
        struct gomp_team *team = worker->team;
        gomp_takes_time();
        if (t == NULL)
            t = gomp_new_worker(worker->of_inner_team);
        if (t->idle == 0)
            t->early = t->born - team->forked;
        else if (team->forked > t->idle)
            t->waited[GOMP_IDLE] += team->forked - t->idle;
        else /* it goes on as one that has ended since the fork */
            t->early += t->idle - team->forked;
        begin_share(t, team, worker->number);
        run_share(t);
        t->team = NULL;
        worker->team = NULL;
        team->left--;
        gomp_wake();
        if (worker->of_inner_team)
            return NULL;
    }
}

static int levels(const struct gomp_team *team) {
    int n = 0;
    for (; team != NULL; team = team->outer)
        n += team->n > 1;
    return n;
}

static void call_worker(struct gomp_team *team, int number) {
    bool inner = levels(team->outer) > 0;
    struct worker *w = inner ? NULL : workers;
    while (w != NULL && w->team != NULL)
        w = w->next;
    bool is_new = w == NULL;
    if (is_new && (w = calloc(1, sizeof *w)) == NULL)
        sim_fail("no memory for a thread of OpenMP");
    w->team = team;
    w->number = number;
    w->of_inner_team = inner;
    if (!is_new)
        return;
    if (!inner) {
        w->next = workers;
        workers = w;
    }
    pthread_t id;
    if (pthread_create(&id, NULL, work, w) != 0)
        sim_fail("no thread for OpenMP");
}

static bool all_left(void *team) {
    return ((struct gomp_team *)team)->left == 0;
}

void gomp_region(void (*fn)(void *), void *data, unsigned n, gomp_prepare *prepare, void *for_it) {
    struct gomp_thread *t = gomp_in(), outside = *t;
    struct gomp_team *team = calloc(1, sizeof *team);
    if (team == NULL)
        sim_fail("no memory for a team");
    *team = (struct gomp_team){.outer = t->team,
                               .master = t,
                               .n = n != 0 ? (int)n : omp_get_max_threads(),
                               .level = t->team != NULL ? t->team->level + 1 : 1,
                               .fn = fn,
                               .data = data,
                               .barrier = barrier_new(),
                               .forked = gomp_now(),
                               .fork = gomp_here(t)};
    if (levels(t->team) >= most_levels)
        team->n = 1;
    if (prepare != NULL)
        team->given = prepare(team, for_it);
    team->left = team->n - 1;
    for (int i = 1; i < team->n; i++)
        call_worker(team, i);
    gomp_wake();
    gomp_takes_time();
    struct gomp_task *share = begin_share(t, team, 0);
    run_share(t);
    sim_wait_until(all_left, team);
    t->team = outside.team;
    t->number = outside.number;
    t->work = outside.work;
    t->share = outside.share;
    t->chunk = outside.chunk;
    t->task = outside.task;
    t->idle = 0;
    if (share->clock > t->task->clock)
        t->task->clock = share->clock;
    t->entered = gomp_now(); /* all before was in a region */
    gomp_out();
}

void GOMP_parallel(void (*fn)(void *), void *data, unsigned n, unsigned flags);
void GOMP_parallel(void (*fn)(void *), void *data, unsigned n, unsigned flags) {
    (void)flags;
    gomp_region(fn, data, n, NULL, NULL);
}

unsigned GOMP_parallel_reductions(void (*fn)(void *), void *data, unsigned n, unsigned flags);
unsigned GOMP_parallel_reductions(void (*fn)(void *), void *data, unsigned n, unsigned flags) {
    (void)flags;
    gomp_region(fn, data, n, NULL, NULL);
    return n;
}

void GOMP_barrier(void);
void GOMP_barrier(void) {
    gomp_barrier(false);
}

bool GOMP_barrier_cancel(void);
bool GOMP_barrier_cancel(void) {
    return gomp_barrier(true);
}

/* ---- on the host, teams come one after the other */

void GOMP_teams_reg(void (*fn)(void *), void *data, unsigned teams, unsigned threads,
                    unsigned flags);
void GOMP_teams_reg(void (*fn)(void *), void *data, unsigned teams, unsigned threads,
                    unsigned flags) {
    (void)threads;
    (void)flags;
    league = teams != 0 ? (int)teams : 3;
    for (team_of_league = 0; team_of_league < league; team_of_league++)
        fn(data);
    team_of_league = 0;
    league = 1;
}

void GOMP_target_ext(int device, void (*fn)(void *), size_t n, void **addresses, size_t *sizes,
                     unsigned short *kinds, unsigned flags, void **depend, void **arguments);
void GOMP_target_ext(int device, void (*fn)(void *), size_t n, void **addresses, size_t *sizes,
                     unsigned short *kinds, unsigned flags, void **depend, void **arguments) {
    (void)device, (void)n, (void)sizes, (void)kinds, (void)flags, (void)depend, (void)arguments;
    struct gomp_thread *t = gomp_in();
    struct gomp_team *team = t->team;
    t->team = NULL;
    gomp_out();
    fn(addresses);
    gomp_in();
    t->team = team;
    gomp_out();
}

/* ---- what programs ask */

int omp_get_num_threads(void) {
    sim_is_asked(__builtin_return_address(0));
    const struct gomp_thread *t = gomp_self();
    return t->team != NULL ? t->team->n : 1;
}

int omp_get_thread_num(void) {
    sim_is_asked(__builtin_return_address(0));
    const struct gomp_thread *t = gomp_self();
    return t->team != NULL ? t->number : 0;
}

int omp_get_max_threads(void) {
    sim_is_asked(__builtin_return_address(0));
    const char *text = getenv("OMP_NUM_THREADS");
    return usual > 0 ? usual : text != NULL && atoi(text) > 0 ? atoi(text) : 2;
}

void omp_set_num_threads(int n) {
    usual = n;
}

void omp_set_max_active_levels(int n) {
    most_levels = n;
}

int omp_get_num_teams(void) {
    return league;
}

int omp_get_team_num(void) {
    return team_of_league;
}

int omp_in_parallel(void) {
    return levels(gomp_self()->team) > 0;
}
