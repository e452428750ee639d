/* What must have been measured of a program on the simulated libgomp, by clocks of its own. When
 * the program ends it is written to the file that SIM_GOMP_TRUTH names:
 *   paths    longest chain of useful time, over threads and per task; most useful time of a thread
 *   thread   of each: life, time from its first fork to its begin, useful time, idle at the end,
 *            in the runtime outside of regions, and waiting in the order of enum gomp_wait; ns */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim_gomp.h"

static struct gomp_thread *threads, **last_thread = &threads;
static struct gomp_thread *ended_workers; /* the last one first */
static int n_threads;
static __thread struct gomp_thread *self;
static uint64_t task_path;

static pthread_key_t ending;

static void thread_ends(void *thread);

__attribute__((constructor)) static void make_key(void) {
    if (pthread_key_create(&ending, thread_ends) != 0)
        sim_fail("no thread-specific data left");
}

uint64_t gomp_now(void) {
    return sim_self()->clock;
}

struct gomp_thread *gomp_self(void) {
    if (self != NULL)
        return self;
    self = calloc(1, sizeof *self);
    struct gomp_task *task = self != NULL ? gomp_task_new(NULL, NULL) : NULL;
    if (task == NULL)
        sim_fail("no memory for a thread of OpenMP");
    self->index = n_threads++;
    self->task = task;
    self->chunk = -1;
    self->born = self->seen = gomp_now();
    pthread_setspecific(ending, self);
    *last_thread = self;
    last_thread = &self->next;
    sim_self()->calls_mpi = true; /* it is the program */
    return self;
}

struct gomp_thread *gomp_new_worker(bool of_inner_team) {
    struct gomp_thread *taken = ended_workers;
    if (taken != NULL) {
        ended_workers = taken->next_ended;
        self = taken;
        pthread_setspecific(ending, self);
        sim_self()->calls_mpi = true;
    }
    gomp_self()->of_inner_team = of_inner_team;
    return self;
}

static void worked(struct gomp_thread *t, uint64_t now) {
    uint64_t ns = now - t->seen;
    t->seen = now;
    t->useful += ns;
    t->own += ns;
    t->task->clock += ns;
    t->task->work += ns;
}

static void thread_ends(void *thread) {
    struct gomp_thread *t = thread;
    if (sim_self() == NULL)
        return;
    if (t->of_inner_team) {
        t->next_ended = ended_workers;
        ended_workers = t;
        return;
    }
    worked(t, gomp_now());
    t->ended = t->seen;
}

struct gomp_thread *gomp_in(void) {
    struct gomp_thread *t = gomp_self();
    worked(t, gomp_now());
    t->entered = t->seen;
    return t;
}

void gomp_out(void) {
    struct gomp_thread *t = gomp_self();
    t->seen = gomp_now();
    t->outside += t->team == NULL ? t->seen - t->entered : 0;
}

struct gomp_point gomp_here(const struct gomp_thread *t) {
    return (struct gomp_point){t->useful, t->task->clock};
}

static void raise_to(uint64_t *a, uint64_t b) {
    *a = *a > b ? *a : b;
}

void gomp_join(struct gomp_point *all, struct gomp_point one) {
    raise_to(&all->useful, one.useful);
    raise_to(&all->task, one.task);
}

void gomp_after(struct gomp_thread *t, struct gomp_point point) {
    raise_to(&t->useful, point.useful);
    raise_to(&t->task->clock, point.task);
}

struct gomp_waiting gomp_comes(void) {
    return (struct gomp_waiting){.came = gomp_now()};
}

void gomp_waited(struct gomp_thread *t, const struct gomp_waiting *w, enum gomp_wait kind,
                 uint64_t last) {
    if (last <= w->came)
        return;
    t->waited[kind] += last - w->came;
    for (int i = 0; i < w->n; i++) {
        uint64_t end = w->spans[i].end < last ? w->spans[i].end : last;
        t->waited[kind] -= end > w->spans[i].begin ? end - w->spans[i].begin : 0;
    }
}

void gomp_task_over(const struct gomp_task *task) {
    raise_to(&task_path, task->clock);
}

void gomp_takes_time(void) {
    static int64_t most = -1;
    if (most < 0)
        most = getenv("SIM_GOMP_COST") != NULL ? atol(getenv("SIM_GOMP_COST")) : 0;
    if (most == 0)
        return;
    sim_self()->clock += sim_draw((uint64_t)most + 1);
    sim_turn();
}

__attribute__((destructor)) static void tell(void) {
    const char *path = getenv("SIM_GOMP_TRUTH");
    FILE *out = path != NULL && self != NULL && sim_self() != NULL ? fopen(path, "w") : NULL;
    if (out == NULL)
        return;
    worked(self, gomp_now());
    uint64_t useful = 0, longest = 0;
    for (const struct gomp_thread *t = threads; t != NULL; t = t->next) {
        raise_to(&useful, t->useful);
        raise_to(&longest, t->own);
        raise_to(&task_path, t->task->clock);
    }
    fprintf(out, "paths %llu %llu %llu\n", (ull)useful, (ull)task_path, (ull)longest);
    for (const struct gomp_thread *t = threads; t != NULL; t = t->next) {
        uint64_t end = t->ended != 0 ? t->ended : self->seen,
                 rest = t->idle != 0 ? end - t->idle : 0;
        fprintf(out, "thread %d %llu %llu %llu %llu %llu", t->index, (ull)(end - t->born),
                (ull)t->early, (ull)t->own, (ull)rest, (ull)t->outside);
        for (int i = 0; i < GOMP_WAITS; i++)
            fprintf(out, " %llu", (ull)t->waited[i]);
        fputc('\n', out);
    }
    fclose(out);
}
