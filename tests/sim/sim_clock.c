/* The C library's clocks, naps, threads and their locks, in turns. A read of the clock costs the
 * program 1 ns and the tool nothing, as in tests/virtual, unless --tool-cost says so; after many
 * reads in a row the clock jumps, for who reads so often waits. */
#include "sim_samples.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "../virtual/callers.h"
#include "../virtual/time_rules.h"

static uint64_t ns_of(const struct timespec *t) {
    return (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_nsec;
}

static struct timespec of_ns(uint64_t ns) {
    return (struct timespec){(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
}

/* By how much the clock of a node is ahead, at most this; each has its own. */
static int64_t part_of(uint64_t most, int node, uint64_t what) {
    uint64_t lot = (sim->model.seed * 1000 + (uint64_t)node) * 4 + what;
    for (int i = 0; i < 3; i++)
        lot = lot * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((lot >> 16) % (2 * most + 1)) - (int64_t)most;
}

/* So far ahead by a drift that goes up and down. */
static int64_t wobble(int node, int64_t since) {
    enum { LEAST_NS = 2000000, MORE_NS = 8000000 };
    int64_t half = LEAST_NS + (part_of(MORE_NS, node, 2) + MORE_NS) / 2, place = since % (2 * half);
    return (place < half ? place : 2 * half - place) / 1000 * (int64_t)sim->model.wobble_ppb /
           1000000;
}

static uint64_t local(uint64_t at) {
    const struct sim_model *m = &sim->model;
    int node = sim_self()->rank * m->nodes / m->ranks;
    int64_t since = (int64_t)(at - VT_BEFORE_INIT_NS);
    at += (uint64_t)sim->endpoints[sim_self()->rank].step_ns;
    if (node == 0 || (m->offset_ns == 0 && m->drift_ppb == 0 && m->wobble_ppb == 0))
        return at;
    return at + (uint64_t)(part_of(m->offset_ns, node, 0) +
                           since / 1000 * part_of(m->drift_ppb, node, 1) / 1000000 +
                           wobble(node, since));
}

uint64_t sim_local_clock(void) {
    return local(++sim_self()->clock);
}

uint64_t sim_true_clock(void) {
    return sim_is_on() ? sim_self()->clock : 0;
}

/* The task has a processor to itself meanwhile. */
static void work(struct sim_task *task, uint64_t ns) {
    task->clock += ns;
    task->worked += ns;
}

void sim_work_of_kernel(uint64_t ns) {
    work(sim_self(), ns);
}

void sim_is_asked(const void *return_address) {
    if (sim_is_on() && sim->model.tool_ask_ns != 0 && caller((void *)return_address) == TOOL)
        work(sim_self(), sim->model.tool_ask_ns);
}

/* A stamp of the tool says nothing about waiting, nor does a read from another place than its last
 * one: who waits by the clock alone reads it in a loop. */
static uint64_t read_clock(void *return_address, bool stamp) {
    struct sim_task *self = sim_self();
    bool tool = caller(return_address) == TOOL;
    self->missed = 0;
    if (!tool)
        self->clock++;
    else if (stamp)
        work(self, sim->model.tool_read_ns);
    bool again = self->read_from == return_address;
    if (tool && !stamp)
        self->read_from = return_address;
    if (tool && (stamp || !again))
        return local(self->clock);
    int *n = tool ? &self->polls : &self->reads; /* looks of the tool are not the program's */
    if (*n + 1 < SIM_POLLS) {
        ++*n;
    } else {
        self->polls = self->polls > *n ? self->polls : *n;
        sim_poll();
    }
    return sim_is_on() ? local(self->clock) : self->clock;
}

int clock_gettime(clockid_t id, struct timespec *t) {
    sim_attach();
    bool left = sim_left_at != 0 && id == CLOCK_MONOTONIC_RAW;
    if ((!sim_is_on() && !left) || id == CLOCK_PROCESS_CPUTIME_ID)
        return (int)syscall(SYS_clock_gettime, id, t);
    if (id == CLOCK_THREAD_CPUTIME_ID) {
        *t = of_ns(sim_self()->worked);
        return 0;
    }
    if (!sim_is_on()) {
        *t = of_ns(sim_left_at);
        return 0;
    }
    *t = of_ns(read_clock(__builtin_return_address(0), id == CLOCK_MONOTONIC_RAW));
    return 0;
}

int gettimeofday(struct timeval *restrict t, void *restrict zone) {
    (void)zone;
    if (!sim_is_on())
        return (int)syscall(SYS_gettimeofday, t, zone);
    uint64_t ns = read_clock(__builtin_return_address(0), false);
    *t = (struct timeval){(time_t)(ns / 1000000000u), (suseconds_t)(ns % 1000000000u / 1000)};
    return 0;
}

time_t time(time_t *out) {
    struct timeval true_time;
    time_t now;
    if (!sim_is_on())
        now = syscall(SYS_gettimeofday, &true_time, NULL) == 0 ? true_time.tv_sec : -1;
    else
        now = (time_t)(read_clock(__builtin_return_address(0), false) / 1000000000u);
    if (out != NULL)
        *out = now;
    return now;
}

static void pass_until(uint64_t at) {
    struct sim_task *self = sim_self();
    self->polls = self->reads = 0;
    self->waits = false;
    self->naps = true;
    sim_yield(at > self->clock ? at : self->clock);
    self->naps = false;
}

const void *sim_end_of_stack(void) {
    static _Thread_local const char *end;
    pthread_attr_t attributes;
    void *begin;
    size_t bytes;
    if (end == NULL && pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstack(&attributes, &begin, &bytes);
        pthread_attr_destroy(&attributes);
        end = (const char *)begin + bytes;
    }
    return end;
}

uint64_t sim_samples_time(void) {
    return local(sim_self()->clock);
}

static void nap_until(uint64_t at, const struct sim_place *place, bool preempted) {
    sim_samples_out(place, preempted);
    pass_until(at);
    if (sim_is_on())
        sim_samples_in();
}

int nanosleep(const struct timespec *t, struct timespec *left) {
    if (!sim_is_on())
        return (int)syscall(SYS_nanosleep, t, left);
    nap_until(sim_self()->clock + ns_of(t), &SIM_PLACE(), false);
    return 0;
}

int clock_nanosleep(clockid_t id, int flags, const struct timespec *t, struct timespec *left) {
    if (!sim_is_on())
        return syscall(SYS_clock_nanosleep, id, flags, t, left) == 0 ? 0 : errno;
    uint64_t now = sim_self()->clock;
    nap_until(now + ns_of(t) - (flags & TIMER_ABSTIME ? local(now) : 0), &SIM_PLACE(), false);
    return 0;
}

int usleep(useconds_t us) {
    if (!sim_is_on()) {
        struct timespec t = of_ns(us * 1000ull);
        return nanosleep(&t, NULL);
    }
    nap_until(sim_self()->clock + us * 1000ull, &SIM_PLACE(), false);
    return 0;
}

unsigned sleep(unsigned seconds) {
    usleep(seconds * 1000000u);
    return 0;
}

int sched_yield(void) {
    if (!sim_is_on())
        return (int)syscall(SYS_sched_yield);
    if (sim_self()->polls < SIM_POLLS)
        sim_self()->polls = SIM_POLLS - 1;
    sim_poll();
    return 0;
}

/* As it would be had sim-mpirun not bound all tasks to one processor. */
int sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *cpus) {
    sim_attach();
    if (sim == NULL || CPU_COUNT(&sim->cpus) == 0 || bytes < sizeof *cpus) {
        long got = syscall(SYS_sched_getaffinity, pid, bytes, cpus);
        return got < 0 ? -1 : 0;
    }
    memset(cpus, 0, bytes);
    *cpus = sim->cpus;
    return 0;
}

/* What the program asks for as work: time on the processor. */
void sim_work(uint64_t ns);
void sim_work(uint64_t ns) {
    struct sim_place place = SIM_PLACE();
    while (sim_is_on() && ns > 0) {
        uint64_t part = sim_samples_next(ns);
        pass_until(sim_self()->clock + part);
        sim_self()->worked += part;
        ns -= part;
        if (sim_is_on())
            sim_samples_worked(part, &place);
    }
}

void sim_preempted(uint64_t ns) {
    if (sim_is_on())
        nap_until(sim_self()->clock + ns, &SIM_PLACE(), true);
}

/* A page has to be fetched for so long. */
void sim_page_fault(uint64_t ns);
void sim_page_fault(uint64_t ns) {
    struct sim_place place = SIM_PLACE();
    place.in_call = false;
    if (sim_is_on())
        nap_until(sim_self()->clock + ns, &place, false);
}

/* ---- threads ---- */

struct start {
    void *(*run)(void *);
    void *argument;
    struct sim_task *task;
};

struct thread {
    pthread_t id;
    struct sim_task *task; /* NULL: has ended */
    uint64_t ended_at;
    struct thread *next;
};
static struct thread *threads;

static struct thread *find_thread(pthread_t id) {
    struct thread *t = threads;
    while (t != NULL && !pthread_equal(t->id, id))
        t = t->next;
    return t;
}

/* It keeps its turn until the others' destructors have run, those of the tool among them: ours
 * comes to an end in the last round. */
static pthread_key_t ending;

static void thread_ends(void *round) {
    if ((intptr_t)round < PTHREAD_DESTRUCTOR_ITERATIONS) {
        pthread_setspecific(ending, (void *)((intptr_t)round + 1));
        return;
    }
    if (!sim_is_on())
        return;
    for (struct thread *t = threads; t != NULL; t = t->next)
        if (t->task == sim_self()) {
            t->ended_at = t->task->clock;
            t->task = NULL;
        }
    sim_end(sim_self());
}

__attribute__((constructor)) static void make_key(void) {
    if (pthread_key_create(&ending, thread_ends) != 0)
        sim_fail("no thread-specific data left");
}

static void *begin_thread(void *argument) {
    struct start start = *(struct start *)argument;
    free(argument);
    sim_become(start.task);
    pthread_setspecific(ending, (void *)1);
    return start.run(start.argument);
}

int pthread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *argument) {
    if (!sim_is_on())
        return NEXT(pthread_create)(id, attributes, run, argument);
    struct start *start = malloc(sizeof *start);
    struct thread *thread = malloc(sizeof *thread);
    if (start == NULL || thread == NULL)
        sim_fail("no memory for a thread");
    struct sim_task *task = sim_task_new(sim_self()->rank, getpid(), sim_self()->clock);
    *start = (struct start){run, argument, task};
    int error = NEXT(pthread_create)(id, attributes, begin_thread, start);
    if (error != 0) {
        free(start);
        free(thread);
        sim_end(task);
        return error;
    }
    *thread = (struct thread){*id, task, 0, threads};
    threads = thread;
    return 0;
}

static bool has_ended(void *thread) {
    return ((struct thread *)thread)->task == NULL;
}

int pthread_join(pthread_t id, void **result) {
    struct thread *thread = sim_is_on() ? find_thread(id) : NULL;
    if (thread != NULL) {
        sim_wait_until(has_ended, thread);
        if (thread->ended_at > sim_self()->clock)
            sim_self()->clock = thread->ended_at;
        for (struct thread **t = &threads; *t != NULL; t = &(*t)->next)
            if (*t == thread) {
                *t = thread->next;
                break;
            }
        free(thread);
    }
    return NEXT(pthread_join)(id, result);
}

/* ---- locks: only the one that has the turn takes or leaves one, so they are taken at once or the
 * turn is given up ---- */

struct attempt {
    pthread_mutex_t *mutex;
    int error;
};

static bool try(void *data) {
    struct attempt *a = data;
    a->error = pthread_mutex_trylock(a->mutex);
    return a->error != EBUSY;
}

int pthread_mutex_lock(pthread_mutex_t *mutex) {
    if (!sim_is_on())
        return NEXT(pthread_mutex_lock)(mutex);
    struct attempt attempt = {.mutex = mutex};
    if (!try(&attempt))
        sim_wait_until(try, &attempt);
    if (sim->model.tool_lock_ns != 0 && caller(__builtin_return_address(0)) == TOOL)
        work(sim_self(), sim->model.tool_lock_ns);
    return sim_is_on() ? attempt.error : NEXT(pthread_mutex_lock)(mutex);
}

static void wake_others(void) {
    sim_wake_rank(sim_self()->rank, sim_self()->clock);
}

int pthread_mutex_unlock(pthread_mutex_t *mutex) {
    int error = NEXT(pthread_mutex_unlock)(mutex);
    if (sim_is_on())
        wake_others();
    return error;
}

static struct waiter {
    pthread_cond_t *condition;
    bool signalled;
    struct waiter *next;
} * waiters;

static bool is_signalled(void *waiter) {
    return ((struct waiter *)waiter)->signalled;
}

int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex) {
    if (!sim_is_on())
        return NEXT(pthread_cond_wait)(condition, mutex);
    struct waiter me = {condition, false, waiters};
    waiters = &me;
    pthread_mutex_unlock(mutex);
    sim_wait_until(is_signalled, &me);
    return pthread_mutex_lock(mutex);
}

static int signal_waiters(pthread_cond_t *condition, bool all) {
    int n = 0;
    for (struct waiter *w = waiters; w != NULL; w = w->next)
        n += w->condition == condition;
    int chosen = n > 0 && !all ? (int)sim_draw((uint64_t)n) : -1, i = 0;
    for (struct waiter **w = &waiters; *w != NULL;) {
        struct waiter *one = *w;
        if (one->condition == condition && (all || i++ == chosen)) {
            *w = one->next;
            one->signalled = true;
        } else {
            w = &one->next;
        }
    }
    if (n > 0)
        wake_others();
    return 0;
}

int pthread_cond_signal(pthread_cond_t *condition) {
    return sim_is_on() ? signal_waiters(condition, false) : NEXT(pthread_cond_signal)(condition);
}

int pthread_cond_broadcast(pthread_cond_t *condition) {
    return sim_is_on() ? signal_waiters(condition, true) : NEXT(pthread_cond_broadcast)(condition);
}
