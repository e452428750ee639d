/* Segment, tasks, turns, events. */
#include "sim.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct sim_segment *sim;
static _Thread_local struct sim_task *self;

_Noreturn void sim_fail(const char *format, ...) {
    char line[1024];
    int n = snprintf(line, sizeof line, "sim: rank %d: ", self != NULL ? self->rank : -1);
    va_list args;
    va_start(args, format);
    n += vsnprintf(line + n, sizeof line - (size_t)n - 1, format, args);
    va_end(args);
    n = n > (int)sizeof line - 2 ? (int)sizeof line - 2 : n;
    line[n++] = '\n';
    if (write(STDERR_FILENO, line, (size_t)n) < 0)
        abort();
    if (sim != NULL && sim->aborted == 0)
        sim->aborted = 1 + SIM_FAILED;
    _exit(SIM_FAILED);
}

static void map(int fd) {
    void *memory = mmap(SIM_ADDRESS, SIM_BYTES, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_FIXED_NOREPLACE | MAP_NORESERVE, fd, 0);
    if (memory != SIM_ADDRESS)
        sim_fail("the shared segment cannot be mapped");
    sim = memory;
}

static uint64_t mixed(uint64_t value) {
    value += 0x9e3779b97f4a7c15u;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
}

void sim_segment_make(int fd, const struct sim_model *model) {
    if (ftruncate(fd, (off_t)SIM_BYTES) != 0)
        sim_fail("the shared segment cannot be made");
    map(fd);
    sim->model = *model;
    sim->launcher = getpid();
    sim->holder = -1;
    sim->next_context = 16;
    sim->random = mixed(model->seed);
    sim->next = (char *)sim + ((sizeof *sim + 4095) & ~(size_t)4095);
    sim->end = (char *)sim + SIM_BYTES;
    for (int i = 0; i < model->ranks; i++) {
        sim->endpoints[i].last = &sim->endpoints[i].first;
        sim->endpoints[i].last_posted = &sim->endpoints[i].first_posted;
    }
}

uint64_t sim_draw(uint64_t below) {
    sim->random = sim->random * 6364136223846793005u + 1442695040888963407u;
    return below > 0 ? mixed(sim->random) % below : 0;
}

/* Memory by powers of two; what was freed is used again first. The class stands before it. */
void *sim_alloc(size_t bytes) {
    int class = 6;
    while (((size_t)1 << class) < bytes + 16)
        class ++;
    char *memory = sim->free[class];
    if (memory != NULL) {
        memcpy(&sim->free[class], memory + 16, sizeof(void *));
    } else {
        memory = sim->next;
        if ((size_t)(sim->end - memory) < (size_t)1 << class)
            sim_fail("the shared segment is full");
        sim->next += (size_t)1 << class;
    }
    *(int *)(void *)memory = class;
    return memset(memory + 16, 0, bytes);
}

void sim_free(void *pointer) {
    if (pointer == NULL)
        return;
    char *memory = (char *)pointer - 16;
    int class = *(int *)(void *)memory;
    memcpy(memory + 16, &sim->free[class], sizeof(void *));
    sim->free[class] = memory;
}

static bool before(const struct sim_event *a, const struct sim_event *b) {
    if (a->at != b->at)
        return a->at < b->at;
    return a->lot != b->lot ? a->lot < b->lot : a->number < b->number;
}

/* Those of one channel at the same time keep their order; those of different ones are drawn. */
void sim_event_add(uint64_t at, uint64_t channel, enum sim_event_kind kind, void *what) {
    if (sim->n_events == SIM_MOST_EVENTS)
        sim_fail("too many events");
    struct sim_event event = {at, mixed(sim->model.seed ^ mixed(channel ^ mixed(at))),
                              sim->n_all_events++, kind, what};
    int i = sim->n_events++;
    for (; i > 0 && before(&event, &sim->events[(i - 1) / 2]); i = (i - 1) / 2)
        sim->events[i] = sim->events[(i - 1) / 2];
    sim->events[i] = event;
}

static struct sim_event event_take(void) {
    struct sim_event first = sim->events[0], last = sim->events[--sim->n_events];
    int i = 0;
    for (int child; (child = 2 * i + 1) < sim->n_events; i = child) {
        if (child + 1 < sim->n_events && before(&sim->events[child + 1], &sim->events[child]))
            child++;
        if (!before(&sim->events[child], &last))
            break;
        sim->events[i] = sim->events[child];
    }
    sim->events[i] = last;
    return first;
}

/* Of two tasks (1 + index; 0: none) the one that may run first. */
static uint16_t first_of(uint16_t a, uint16_t b) {
    if (a == 0 || b == 0)
        return a != 0 ? a : b;
    const struct sim_task *x = &sim->tasks[a - 1], *y = &sim->tasks[b - 1];
    if (x->ready_at != y->ready_at)
        return x->ready_at < y->ready_at ? a : b;
    return x->lot <= y->lot ? a : b;
}

/* Whenever the task begins or ceases to wait, or another time is set. Trees in which each place
 * has the earlier one of the two below it: of all tasks that wait, of those that do not look in
 * vain. */
static void note_ready(const struct sim_task *task) {
    int index = (int)(task - sim->tasks);
    bool waits = task->state == SIM_WAITS && task->ready_at != SIM_NEVER;
    for (int which = 0; which < 2; which++) {
        uint16_t *tree = sim->earliest[which], its = (uint16_t)(index + 1);
        int at = SIM_MOST_TASKS + index;
        tree[at] = waits && (which == 0 || !task->looks) ? its : 0;
        while (at > 1) {
            uint16_t first = first_of(tree[at & ~1], tree[at | 1]);
            at /= 2;
            if (tree[at] == first && first != its)
                break;
            tree[at] = first;
        }
    }
}

void sim_set_ready(struct sim_task *task, uint64_t at) {
    task->ready_at = at;
    note_ready(task);
}

/* Among the tasks that wait, with or without those that look in vain; NULL: none can go on. */
static struct sim_task *earliest(bool lookers) {
    uint16_t first = sim->earliest[lookers ? 0 : 1][1];
    return first != 0 ? &sim->tasks[first - 1] : NULL;
}

struct sim_task *sim_task_of(int rank) {
    int first = sim->first_of_rank[rank];
    return first != 0 ? &sim->tasks[first - 1] : NULL;
}

struct sim_task *sim_task_after(const struct sim_task *task) {
    return task->next_of_rank != 0 ? &sim->tasks[task->next_of_rank - 1] : NULL;
}

static void set_free(struct sim_task *task) {
    int *at = &sim->first_of_rank[task->rank], its = (int)(task - sim->tasks) + 1;
    if (task->state == SIM_FREE)
        return;
    task->state = SIM_FREE;
    note_ready(task);
    while (*at != its)
        at = &sim->tasks[*at - 1].next_of_rank;
    *at = task->next_of_rank;
}

/* false: it has waited for a second. */
static bool futex(uint32_t *word, int op, uint32_t value) {
    const struct timespec second = {.tv_sec = 1};
    return syscall(SYS_futex, word, op, value, op == FUTEX_WAIT ? &second : NULL, NULL, 0) >= 0 ||
           errno != ETIMEDOUT;
}

static bool anybody_waits(void) {
    for (int i = 0; i < sim->n_tasks; i++)
        if (sim->tasks[i].state == SIM_WAITS)
            return true;
    return false;
}

/* The parent of a rank's program, which is not scheduled for a while. */
static bool stalls(struct sim_task *task) {
    for (int i = 0; i < sim->model.n_faults; i++) {
        struct sim_fault *f = &sim->model.faults[i];
        if (f->kind == SIM_STALL && f->rank == task->rank && task->parent == 0 && task->begun &&
            !task->calls_mpi && ++f->seen == f->at) {
            sim_set_ready(task, task->ready_at + (uint64_t)f->value);
            task->outside = false; /* whatever happens meanwhile */
            return true;
        }
    }
    return false;
}

enum { MOST_OUTSIDE = 10000 };

/* Who has the turn gives it to the next one: runs events up to then. */
static void pass_on(void) {
    struct sim_task *next;
    if (sim->aborted != 0) { /* the launcher ends all */
        sim->holder = -1;
        return;
    }
    for (;;) {
        next = earliest(true);
        if (next != NULL && (sim->n_events == 0 || next->ready_at < sim->events[0].at)) {
            if (!stalls(next))
                break;
            continue;
        }
        if (sim->n_events == 0)
            break;
        struct sim_event event = event_take();
        sim_event_run(&event);
    }
    sim->switches++;
    if (next == NULL) {
        sim->stuck = anybody_waits(); /* what is waited for outside is done by tasks, too */
        sim->holder = -1;
        return;
    }
    /* Parents look after their children from time to time, also if these wait for each other. */
    sim->n_outside = next->calls_mpi ? 0 : sim->n_outside + 1;
    if (sim->n_outside > MOST_OUTSIDE) {
        sim->stuck = true;
        sim->holder = -1;
        return;
    }
    if (next->ready_at > next->clock)
        next->clock = next->ready_at;
    next->state = SIM_RUNS;
    note_ready(next);
    next->outside = false;
    sim->holder = (int)(next - sim->tasks);
    __atomic_store_n(&next->turn, 1, __ATOMIC_RELEASE); /* with the load in take_turn */
    if (next != self)
        futex(&next->turn, FUTEX_WAKE, 1);
}

void sim_wait_for_end(void) {
    for (;;)
        syscall(SYS_ppoll, NULL, 0, NULL, NULL, 0); /* pause() takes turns */
}

/* The simulation has been ended. Programs wait for their end; what else there is, as the guard of a
 * measurement, goes on in real time. */
static void go_on_outside(const struct sim_task *task) {
    if (task->calls_mpi)
        sim_wait_for_end();
    self = NULL;
}

static void take_turn(struct sim_task *task) {
    bool launched = true;
    while (__atomic_load_n(&task->turn, __ATOMIC_ACQUIRE) == 0) {
        if (sim->aborted != 0 || !launched) {
            go_on_outside(task);
            return;
        }
        if (!futex(&task->turn, FUTEX_WAIT, 0))
            launched = syscall(SYS_kill, sim->launcher, 0) == 0;
    }
    task->turn = 0;
    task->begun = true;
}

void sim_release(int status) {
    if (sim->aborted == 0)
        sim->aborted = 1 + status;
    for (int i = 0; i < sim->n_tasks; i++)
        if (sim->tasks[i].state != SIM_FREE)
            futex(&sim->tasks[i].turn, FUTEX_WAKE, 1);
}

void sim_start(void) {
    pass_on();
}

struct sim_task *sim_task_new(int rank, pid_t pid, uint64_t clock) {
    int i = 0, thread = 0;
    while (i < sim->n_tasks && sim->tasks[i].state != SIM_FREE)
        i++;
    for (const struct sim_task *t = sim_task_of(rank); t != NULL; t = sim_task_after(t))
        thread++;
    if (i == SIM_MOST_TASKS)
        sim_fail("too many threads");
    if (i == sim->n_tasks)
        sim->n_tasks++;
    sim->tasks[i] = (struct sim_task){.state = SIM_WAITS,
                                      .rank = rank,
                                      .thread = thread,
                                      .next_of_rank = sim->first_of_rank[rank],
                                      .pid = pid,
                                      .clock = clock,
                                      .ready_at = clock,
                                      .lot = sim_draw(UINT64_MAX),
                                      .where = "its start"};
    sim->first_of_rank[rank] = i + 1;
    note_ready(&sim->tasks[i]);
    return &sim->tasks[i];
}

void sim_become(struct sim_task *task) {
    self = task;
    take_turn(task);
}

/* What this task has done may be what those that look for something wait for. */
static void show(uint64_t at) {
    for (int word = 0; word < SIM_MOST_TASKS / 64; word++)
        for (uint64_t bits = sim->lookers[word]; bits != 0; bits &= bits - 1) {
            struct sim_task *t = &sim->tasks[word * 64 + __builtin_ctzll(bits)];
            if (t->state == SIM_WAITS && t->looks && t->ready_at > at)
                sim_set_ready(t, at > t->clock ? at : t->clock);
        }
}

void sim_end(struct sim_task *task) {
    bool mine = task == self;
    set_free(task);
    sim_wake_rank(task->rank, sim->tasks[sim->holder].clock);
    if (!mine)
        return;
    show(self->clock);
    self = NULL;
    pass_on();
}

struct sim_task *sim_self(void) {
    return self;
}

static void yield(uint64_t ready_at) {
    self->state = SIM_WAITS;
    self->ready_at = ready_at;
    self->lot = sim_draw(UINT64_MAX);
    note_ready(self);
    pass_on();
    take_turn(self);
}

void sim_yield(uint64_t ready_at) {
    show(self->clock);
    yield(ready_at);
}

/* Others that look for something do not wait for it. */
static void yield_looking(uint64_t ready_at) {
    int index = (int)(self - sim->tasks);
    uint64_t *word = &sim->lookers[index / 64], bit = 1ull << index % 64;
    self->looks = true;
    *word |= bit;
    yield(ready_at);
    *word &= ~bit;
    if (self != NULL)
        self->looks = false;
}

/* vain: it has done nothing since its last turn that others could look for. */
static void turn(bool vain) {
    const struct sim_task *other = earliest(true);
    if ((other == NULL || other->ready_at > self->clock) &&
        (sim->n_events == 0 || sim->events[0].at > self->clock))
        return;
    if (!vain)
        show(self->clock);
    if (vain && self->missed >= SIM_POLLS)
        yield_looking(self->clock);
    else
        yield(self->clock);
}

void sim_turn(void) {
    turn(false);
}

void (*sim_deliver)(void);

void sim_wait_until(bool (*done)(void *), void *data) {
    self->polls = self->reads = 0;
    self->waits = false;
    while (!done(data) && self != NULL)
        sim_yield(SIM_NEVER);
    if (sim_deliver != NULL && self != NULL)
        sim_deliver();
}

void sim_wake(struct sim_task *task, uint64_t at) {
    if (task->state == SIM_WAITS && !task->outside && task->ready_at > at)
        sim_set_ready(task, at > task->clock ? at : task->clock);
}

void sim_wake_rank(int rank, uint64_t at) {
    for (struct sim_task *t = sim_task_of(rank); t != NULL; t = sim_task_after(t))
        if (t->ready_at == SIM_NEVER || t->looks)
            sim_wake(t, at);
}

void sim_wake_outside(int rank, uint64_t at) {
    for (struct sim_task *t = sim_task_of(rank); t != NULL; t = sim_task_after(t))
        if (t->state == SIM_WAITS && t->outside && t->ready_at > at)
            sim_set_ready(t, at > t->clock ? at : t->clock);
}

/* Its tasks are gone. Who waits for something of its rank looks again. */
static void process_ends(pid_t pid, uint64_t at) {
    for (int i = 0; i < sim->n_tasks; i++) {
        struct sim_task *t = &sim->tasks[i];
        if (t->pid != pid || t->state == SIM_FREE)
            continue;
        if (t->parent != 0 && (sim->n_dying == 0 || sim->dying[sim->n_dying - 1].pid != pid) &&
            sim->n_dying < SIM_MOST_TASKS)
            sim->dying[sim->n_dying++] = (struct sim_dying){pid, t->parent};
        set_free(t);
        sim_wake_outside(t->rank, at);
        sim_wake_rank(t->rank, at);
    }
}

void sim_kill(const struct sim_fault *fault, uint64_t at) {
    for (struct sim_task *t = sim_task_of(fault->rank); t != NULL; t = sim_task_after(t))
        if (t->calls_mpi) {
            pid_t pid = t->pid;
            syscall(SYS_kill, pid, SIGKILL); /* if it is this process, the launcher goes on */
            process_ends(pid, at);
            return;
        }
}

void sim_gone(pid_t pid) {
    process_ends(pid, self->clock);
}

/* Who looks in vain so often waits: for another task or a message, or for time to pass. It passes
 * in steps that grow while nothing happens, and never beyond the next event, before which nothing
 * changes. The steps stay short because one of those that look may find something and write to
 * memory, unseen; and what has just happened it may look for only after its next step. */
enum { MOST_DOUBLINGS = 10, POLLS_AGAIN = 10 };

void sim_poll(void) {
    self->clock++;
    self->polls = self->polls > self->missed ? self->polls : self->missed;
    if (self->waits && self->polls < SIM_POLLS - POLLS_AGAIN) /* it found one of several */
        self->polls = SIM_POLLS - POLLS_AGAIN;
    self->polls++;
    self->missed = 0;
    if (self->polls < SIM_POLLS) {
        turn(self->polls > 1);
        return;
    }
    if (self->polls == SIM_POLLS)
        show(self->clock);
    self->waits = true;
    int doublings = self->polls - SIM_POLLS;
    uint64_t step = 1000u << (doublings < MOST_DOUBLINGS ? doublings : MOST_DOUBLINGS);
    uint64_t at = self->clock + step;
    const struct sim_task *other = earliest(false);
    if (other != NULL && other->ready_at < at)
        at = other->ready_at;
    if (sim->n_events > 0 && sim->events[0].at < at)
        at = sim->events[0].at;
    uint64_t whole = self->clock + step;
    yield_looking(at > self->clock ? at : self->clock);
    if (self != NULL && self->clock < whole)
        self->polls = SIM_POLLS;
}

static int fault_now(void) {
    for (int i = 0; i < sim->model.n_faults; i++) {
        struct sim_fault *f = &sim->model.faults[i];
        if (f->rank != self->rank || f->kind >= SIM_STALL || f->moment || ++f->seen != f->at)
            continue;
        if (f->kind == SIM_KILL)
            syscall(SYS_kill, getpid(), SIGKILL);
        if (f->kind == SIM_STEP)
            sim->endpoints[f->rank].step_ns += f->value;
        else
            return f->kind == SIM_ABORT ? SIM_ABORTS : (int)f->value;
    }
    return 0;
}

int sim_enter(const char *where) {
    snprintf(self->where, sizeof self->where, "%s", where);
    self->calls_mpi = true;
    self->missed = self->polls; /* unless it finds something */
    self->polls = self->reads = 0;
    self->clock += sim_draw(sim->model.call_ns + 1);
    turn(self->missed > 0);
    sim_progress();
    if (sim_deliver != NULL)
        sim_deliver();
    return sim->model.n_faults > 0 ? fault_now() : 0;
}

/* The launcher: a process that had the turn has ended without giving it up. */
void sim_reap(pid_t pid) {
    int holder = sim->holder;
    bool had = holder >= 0 && sim->tasks[holder].pid == pid;
    process_ends(pid, had ? sim->tasks[holder].clock : 0);
    if (had)
        pass_on();
}

/* A rank that fails has the last turn: the launcher ends all. */
static int exit_status;

static void remember_status(int status, void *unused) {
    (void)unused;
    exit_status = status;
}

/* Every process of a simulation: it is the task that is waiting for this process, or for one of
 * this rank (the launcher has made one for each). */
__attribute__((constructor)) void sim_attach(void) {
    static bool done;
    if (done)
        return;
    done = true;
    const char *path = getenv("SIM_SEGMENT"), *rank = getenv("PMI_RANK");
    int fd;
    if (path == NULL || rank == NULL)
        return;
    fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return; /* the launcher has ended */
    map(fd);
    close(fd);
    on_exit(remember_status, NULL);
    for (int i = 0; i < sim->n_tasks; i++)
        if (sim->tasks[i].state != SIM_FREE && sim->tasks[i].pid == getpid()) {
            self = &sim->tasks[i];
            if (!self->begun) /* else it has called exec */
                take_turn(self);
            return;
        }
}

uint64_t sim_left_at;

__attribute__((destructor)) static void detach(void) {
    if (sim == NULL || self == NULL)
        return;
    fflush(NULL); /* while it is our turn */
    bool fails = exit_status != 0 && self->parent == 0;
    process_ends(getpid(), self->clock);
    show(self->clock);
    sim_left_at = self->clock;
    self = NULL;
    if (!fails)
        pass_on();
}
