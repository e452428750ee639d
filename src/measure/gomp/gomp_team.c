#include <stdlib.h>
#include <dlfcn.h>
#include <pthread.h>

#include "measure/callpath/budget.h"
#include "measure/core/core.h"
#include "measure/gomp/gomp.h"
#include "measure/hot/locations.h"
#include "measure/openmp/omp_self.h"
#include "measure/openmp/team.h"
#include "measure/openmp/tool.h"
#include "measure/stub/stub.h"

/* The destructor of the key runs again until that of locations has: which is first, is not said. */
enum { LAST_ENDING = 2 };

static const struct lc_stub *stub;
static _Atomic(const struct lc_gomp_runtime *) runtimes;
static pthread_key_t key;
static bool key_made;
static pthread_once_t attached = PTHREAD_ONCE_INIT;
static __thread struct lc_gomp_thread *this_thread;
static struct lc_gomp_thread gone; /* of threads that have ended */

static void thread_ends(void *value) {
    struct lc_gomp_thread *thread = value;
    if (thread->endings++ < LAST_ENDING && pthread_setspecific(key, thread) == 0)
        return;
    this_thread = &gone;
    free(thread);
}

/* A worker's share has ended, if it has: told now. */
static void tell_end(struct lc_gomp_thread *thread) {
    if (!thread->pending)
        return;
    thread->pending = false;
    lc_omp_implicit_task(OMPT_END, NULL, &thread->base.data, 0, 1, OMPT_TASK_IMPLICIT);
    thread->base = (struct lc_gomp_share){0};
}

/* A worker of libgomp ends, whose place another one will take: its location stays. */
static bool keeps(void) {
    if (this_thread == NULL || this_thread == &gone || !this_thread->worker)
        return false;
    tell_end(this_thread);
    return true;
}

static void start(struct lc_stub *of) {
    stub = of;
    key_made = pthread_key_create(&key, thread_ends) == 0;
    if (key_made)
        of->openmp_wrappers = lc_gomp_wrappers;
}

const struct lc_part lc_gomp_part = {.start = start, .keeps = keeps};

void *lc_gomp_real(enum lc_gomp_entry entry, const void *code) {
    void *real = stub->openmp_reals[entry];
    return lc_likely(real != NULL) ? real : stub->openmp_real(entry, code);
}

static void attach(void) {
    lc_omp_start_native("libgomp");
}

static LC_COLD struct lc_gomp_thread *make(void) {
    struct lc_gomp_thread *made = key_made ? calloc(1, sizeof *made) : NULL;
    if (made == NULL || pthread_setspecific(key, made) != 0) {
        free(made);
        return NULL;
    }
    pthread_once(&attached, attach);
    lc_omp_measured_by_call = true;
    made->share = &made->base;
    made->running = &made->base.data;
    this_thread = made;
    return made;
}

struct lc_gomp_thread *lc_gomp_self(void) {
    if (lc_likely(this_thread != NULL))
        return this_thread != &gone ? this_thread : NULL;
    return make();
}

struct lc_gomp_thread *lc_gomp_self_known(void) {
    struct lc_gomp_thread *known = lc_gomp_self();
    if (known != NULL && !known->worker && known->share == &known->base &&
        known->base.data.ptr == NULL)
        lc_omp_implicit_task(OMPT_BEGIN, NULL, &known->base.data, 1, 0, OMPT_TASK_INITIAL);
    return known;
}

/* Of the library that has this function, which stays loaded; the list only grows. */
static LC_COLD const struct lc_gomp_runtime *find_runtime(void *real) {
    Dl_info where;
    struct lc_gomp_runtime *made = calloc(1, sizeof *made);
    void *library = dladdr(real, &where) != 0 && where.dli_fname != NULL
                        ? dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD)
                        : NULL;
    if (made == NULL || library == NULL) {
        free(made);
        return NULL;
    }
    made->real = real;
    made->num_threads = (int (*)(void))dlsym(library, "omp_get_num_threads");
    made->thread_num = (int (*)(void))dlsym(library, "omp_get_thread_num");
    made->max_threads = (int (*)(void))dlsym(library, "omp_get_max_threads");
    made->is_cancelled = (bool (*)(int))dlsym(library, "GOMP_cancellation_point");
    if (made->num_threads == NULL || made->thread_num == NULL || made->max_threads == NULL) {
        free(made);
        return NULL;
    }
    made->next = atomic_load_explicit(&runtimes, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&runtimes, &made->next, made,
                                                  memory_order_release, memory_order_relaxed))
        ;
    return made;
}

const struct lc_gomp_runtime *lc_gomp_runtime_of(void *real) {
    /* acquire: partner is above */
    const struct lc_gomp_runtime *at = atomic_load_explicit(&runtimes, memory_order_acquire);
    while (at != NULL && at->real != real)
        at = at->next;
    return at != NULL ? at : find_runtime(real);
}

void lc_gomp_fork_begin(struct lc_gomp_fork *fork, const struct lc_gomp_construct *made) {
    *fork = (struct lc_gomp_fork){.made = *made, .by = lc_gomp_self_known()};
    struct lc_gomp_thread *self = fork->by;
    fork->runtime = self != NULL ? lc_gomp_runtime_of(made->real) : NULL;
    if (fork->runtime == NULL) {
        fork->by = NULL;
        return;
    }
    const struct ompt_frame frame = {.enter_frame = {.ptr = made->frame}};
    unsigned threads = made->threads != 0 ? made->threads : (unsigned)fork->runtime->max_threads();
    fork->one = threads == 1 && !lc_gomp_in_team(self->share) ? lc_self : NULL;
    struct lc_state_row *row = NULL;
    if (fork->one != NULL)
        fork->cost_ticks = fork->one->counts.openmp_ticks;
    if (fork->one != NULL && lc_budget_is_plain(fork->one, made->code, &row)) {
        fork->plain = true;
        fork->share.outer = self->share;
        fork->share.was_final = self->final;
        self->share = &fork->share;
        self->final = false;
        if (row != NULL)
            lc_omp_plain_counts(row);
        else
            fork->opened = lc_omp_plain_begin(made->frame, made->code);
        return;
    }
    fork->share.region = &fork->region;
    lc_omp_parallel_begin(self->running, &frame, &fork->region, threads, 0, made->code);
}

static void share_begins(struct lc_gomp_thread *self, struct lc_gomp_share *share,
                         struct lc_gomp_fork *fork, unsigned number) {
    share->team = (unsigned)fork->runtime->num_threads();
    share->interrupted = self->running;
    share->was_final = self->final;
    self->final = false;
    self->share = share;
    self->running = &share->data;
    lc_omp_implicit_task(OMPT_BEGIN, &fork->region, &share->data, share->team, number,
                         OMPT_TASK_IMPLICIT);
    if (fork->made.work != 0)
        lc_gomp_work_begin(fork->made.work, fork->made.code);
}

/* It has come to the barrier that ends the region; it may execute tasks there. */
static void share_waits(struct lc_gomp_thread *self, const struct lc_gomp_fork *fork) {
    lc_gomp_work_end();
    lc_omp_sync_region(OMPT_SYNC_IMPLICIT, OMPT_BEGIN, self->share->region, NULL, fork->made.code);
}

static void run_body(const struct lc_gomp_fork *fork, struct lc_gomp_call *call) {
    lc_gomp_call_goes(call);
    fork->made.fn(fork->made.data);
    lc_gomp_call_returns(call);
}

static void as_master(struct lc_gomp_fork *fork, struct lc_gomp_call *call) {
    struct lc_gomp_thread *self = fork->by;
    fork->share.outer = self->share;
    share_begins(self, &fork->share, fork, 0);
    run_body(fork, call);
    share_waits(self, fork);
}

static void as_worker(struct lc_gomp_fork *fork, struct lc_gomp_call *call) {
    struct lc_gomp_thread *self = lc_gomp_self();
    if (self == NULL) {
        run_body(fork, call);
        return;
    }
    unsigned number = (unsigned)fork->runtime->thread_num();
    tell_end(self);
    if (!self->worker && !lc_thread_take_over())
        lc_omp_thread_begin(OMPT_THREAD_WORKER, NULL);
    self->worker = true;
    self->base = (struct lc_gomp_share){.region = &fork->region};
    share_begins(self, &self->base, fork, number);
    run_body(fork, call);
    share_waits(self, fork);
    self->base.region = NULL; /* the master may leave its frame */
    self->pending = true;
}

void lc_gomp_run_share(void *argument) {
    struct lc_gomp_fork *fork = argument;
    if (fork->by == NULL || fork->plain) {
        fork->made.fn(fork->made.data);
        return;
    }
    struct lc_gomp_call room, *call = lc_gomp_call_may_begin(&room);
    if (fork->runtime->thread_num() == 0)
        as_master(fork, call);
    else
        as_worker(fork, call);
    lc_gomp_call_end(call);
}

/* A region of one thread is over: what one of several such costs is known, but for what deciding on
 * it takes, which only those do. */
static void tell_cost(const struct lc_gomp_fork *fork, struct lc_gomp_call *call) {
    struct lc_thread *t = fork->one;
    if (t == NULL)
        return;
    lc_gomp_call_goes(call);
    uint64_t ticks = t->counts.openmp_ticks - fork->cost_ticks;
    if (lc_unlikely(call != NULL))
        ticks += lc_gomp_call_so_far(call);
    if (ticks > 0)
        lc_budget_team(t, fork->made.code, ticks);
    lc_gomp_call_returns(call);
}

void lc_gomp_fork_end(struct lc_gomp_fork *fork, struct lc_gomp_call *call) {
    struct lc_gomp_thread *self = fork->by;
    if (self == NULL)
        return;
    struct lc_gomp_share *share = &fork->share;
    const void *code = fork->made.code;
    if (fork->plain) {
        self->share = share->outer;
        self->final = share->was_final;
        lc_omp_plain_end(fork->opened, fork->made.frame, code);
        if (fork->opened != 0)
            tell_cost(fork, call);
        return;
    }
    lc_omp_sync_region(OMPT_SYNC_IMPLICIT, OMPT_END, &fork->region, NULL, code);
    lc_omp_implicit_task(OMPT_END, NULL, &share->data, share->team, 0, OMPT_TASK_IMPLICIT);
    self->share = share->outer;
    self->running = share->interrupted;
    self->final = share->was_final;
    if (fork->turns) /* of another region that comes to lie here */
        lc_omp_lock_init(OMPT_MUTEX_ORDERED, 0, 0, (uint64_t)(uintptr_t)&fork->region, code);
    lc_omp_parallel_end(&fork->region, self->running, 0, code);
    tell_cost(fork, call);
}

struct lc_gomp_fork *lc_gomp_fork_new(const struct lc_gomp_construct *made) {
    struct lc_gomp_fork *fork = malloc(sizeof *fork);
    if (fork == NULL)
        return NULL;
    lc_gomp_fork_begin(fork, made);
    if (fork->by != NULL)
        return fork;
    free(fork);
    return NULL;
}

void lc_gomp_fork_started(struct lc_gomp_fork *fork) {
    struct lc_gomp_thread *self = fork->by;
    fork->outer = self->forks;
    self->forks = fork;
    if (fork->plain)
        return;
    fork->share.outer = self->share;
    share_begins(self, &fork->share, fork, 0);
}

struct lc_gomp_fork *lc_gomp_join_begin(void) {
    struct lc_gomp_thread *self = lc_gomp_self();
    struct lc_gomp_fork *fork = self != NULL ? self->forks : NULL;
    if (fork == NULL || self->share != &fork->share)
        return NULL;
    self->forks = fork->outer;
    if (!fork->plain)
        share_waits(self, fork);
    return fork;
}

void lc_gomp_join_end(struct lc_gomp_fork *fork, struct lc_gomp_call *call) {
    if (fork == NULL)
        return;
    lc_gomp_fork_end(fork, call);
    free(fork);
}
