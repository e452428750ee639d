#include <stdlib.h>

#include "measure/core/core.h"
#include "measure/gomp/gomp.h"
#include "measure/hot/locations.h"
#include "measure/openmp/mutexes.h"
#include "measure/openmp/team.h"

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

static void as_master(struct lc_gomp_fork *fork) {
    struct lc_gomp_thread *self = fork->by;
    fork->share.outer = self->share;
    share_begins(self, &fork->share, fork, 0);
    fork->made.fn(fork->made.data);
    share_waits(self, fork);
}

void lc_gomp_tell_end(struct lc_gomp_thread *self) {
    if (!self->pending)
        return;
    self->pending = false;
    lc_omp_implicit_task(OMPT_END, NULL, &self->base.data, 0, 1, OMPT_TASK_IMPLICIT);
    self->base = (struct lc_gomp_share){0};
}

static void as_worker(struct lc_gomp_fork *fork) {
    struct lc_gomp_thread *self = lc_gomp_self();
    if (self == NULL) {
        fork->made.fn(fork->made.data);
        return;
    }
    unsigned number = (unsigned)fork->runtime->thread_num();
    lc_gomp_tell_end(self);
    if (!self->worker && !lc_thread_take_over())
        lc_omp_thread_begin(OMPT_THREAD_WORKER, NULL);
    self->worker = true;
    self->base = (struct lc_gomp_share){.region = &fork->region};
    share_begins(self, &self->base, fork, number);
    fork->made.fn(fork->made.data);
    share_waits(self, fork);
    self->base.region = NULL; /* the master may leave its frame */
    self->pending = true;
}

void lc_gomp_run_share(void *argument) {
    struct lc_gomp_fork *fork = argument;
    if (fork->by == NULL)
        fork->made.fn(fork->made.data);
    else if (fork->runtime->thread_num() == 0)
        as_master(fork);
    else
        as_worker(fork);
}

void lc_gomp_fork_end(struct lc_gomp_fork *fork) {
    struct lc_gomp_thread *self = fork->by;
    if (self == NULL)
        return;
    struct lc_gomp_share *share = &fork->share;
    const void *code = fork->made.code;
    lc_omp_sync_region(OMPT_SYNC_IMPLICIT, OMPT_END, &fork->region, NULL, code);
    lc_omp_implicit_task(OMPT_END, NULL, &share->data, share->team, 0, OMPT_TASK_IMPLICIT);
    self->share = share->outer;
    self->running = share->interrupted;
    self->final = share->was_final;
    if (fork->turns) /* of another region that comes to lie here */
        lc_omp_lock_init(OMPT_MUTEX_ORDERED, 0, 0, (uint64_t)(uintptr_t)&fork->region, code);
    lc_omp_parallel_end(&fork->region, self->running, 0, code);
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
    fork->share.outer = self->share;
    share_begins(self, &fork->share, fork, 0);
}

struct lc_gomp_fork *lc_gomp_join_begin(void) {
    struct lc_gomp_thread *self = lc_gomp_self();
    struct lc_gomp_fork *fork = self != NULL ? self->forks : NULL;
    if (fork == NULL || self->share != &fork->share)
        return NULL;
    self->forks = fork->outer;
    share_waits(self, fork);
    return fork;
}

void lc_gomp_join_end(struct lc_gomp_fork *fork) {
    if (fork == NULL)
        return;
    lc_gomp_fork_end(fork);
    free(fork);
}
