#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/timer.h"
#include "measure/core/core.h"
#include "measure/gomp/gomp.h"
#include "measure/openmp/omp_edges.h"
#include "measure/openmp/omp_self.h"
#include "measure/openmp/tasks.h"
#include "measure/openmp/team.h"

/* Of libgomp's flags of tasks. */
enum {
    FINAL = 2,
    WITH_DEPEND = 8,
    MAY_BE_PUT_OFF = 1 << 10, /* of taskloops: no `if` clause that is false */
    TASKLOOP_IN_GROUP_NOT = 1 << 11,
    WITH_REDUCTION = 1 << 12,
    DETACHED = 1 << 13
};
enum { CANCEL_TASKGROUP = 8 }; /* of GOMP_cancellation_point: the taskgroup, or the region */
enum { DEPENDENCES = 256 };    /* of one task; more are left out */

/* Stands before the data of the task, and is handed over in its place. */
struct gomp_task {
    uint64_t words[2]; /* of a taskloop: libgomp writes its iterations there; of a detached task its
                          event */
    void *reductions;  /* libgomp reads it there */
    void (*fn)(void *);
    void (*copy)(void *, void *);
    void *data; /* at first the creator's, then that which it was copied to */
    size_t bytes, offset;
    void **depend; /* NULL: none */
    const void *code;
    const struct lc_gomp_thread *creator;
    const struct lc_gomp_runtime *runtime; /* NULL: it is not discarded */
    uint64_t number;                       /* of all that this thread created */
    bool loop, undeferred, final, detached, waits_for_group;
    union ompt_data record;
};

/* ---- detached tasks: which task an event completes, until it has ended and is fulfilled */

struct detached {
    struct detached *next;
    const void *event;
    union ompt_data record;
    bool ended, fulfilled;
};
static struct detached *all_detached;
static pthread_mutex_t detaching = PTHREAD_MUTEX_INITIALIZER; /* of these */

static struct detached **find_detached(const void *event) {
    struct detached **at = &all_detached;
    while (*at != NULL && (*at)->event != event)
        at = &(*at)->next;
    return at;
}

static void forget_detached(struct detached **at) {
    struct detached *is = *at;
    *at = is->next;
    free(is);
}

static void detach(const struct gomp_task *task) {
    struct detached *made = calloc(1, sizeof *made);
    if (made == NULL)
        return;
    made->event = (const void *)task->words[0];
    made->record = task->record;
    pthread_mutex_lock(&detaching);
    made->next = all_detached;
    all_detached = made;
    pthread_mutex_unlock(&detaching);
}

static void detached_ends(struct gomp_task *task, union ompt_data *next) {
    pthread_mutex_lock(&detaching);
    struct detached **at = find_detached((const void *)task->words[0]);
    bool complete = *at == NULL || (*at)->fulfilled;
    lc_omp_task_schedule(&task->record, complete ? OMPT_STATUS_COMPLETE : OMPT_STATUS_DETACH, next);
    if (*at != NULL && complete)
        forget_detached(at);
    else if (*at != NULL)
        (*at)->ended = true;
    pthread_mutex_unlock(&detaching);
}

static void fulfil(void *event, enum lc_gomp_entry entry, const void *code) {
    struct lc_gomp_call room, *call = lc_gomp_call_may_begin(&room);
    void (*real)(void *) = (void (*)(void *))lc_gomp_real(entry, code);
    pthread_mutex_lock(&detaching);
    struct detached **at = find_detached(event);
    struct detached *is = *at;
    if (is != NULL) {
        lc_omp_task_schedule(
            &is->record, is->ended ? OMPT_STATUS_LATE_FULFILL : OMPT_STATUS_EARLY_FULFILL, NULL);
        is->fulfilled = true;
        if (is->ended)
            forget_detached(at);
    }
    pthread_mutex_unlock(&detaching);
    lc_gomp_call_end(call);
    real(event);
}

void lc_gomp_entry_fulfill_event(void *event) {
    fulfil(event, LC_omp_fulfill_event, __builtin_return_address(0));
}

void lc_gomp_entry_fulfill_event_(void *event) {
    fulfil(event, LC_omp_fulfill_event_, __builtin_return_address(0));
}

/* ---- dependences */

/* NULL that is written is omp_all_memory (GCC 13 and newer). */
static struct ompt_dependence dependence(void *address, int type) {
    bool writes = type == OMPT_DEPEND_OUT || type == OMPT_DEPEND_INOUT;
    return (struct ompt_dependence){{.ptr = address},
                                    address == NULL && writes ? OMPT_DEPEND_OUT_ALL_MEMORY : type};
}

static size_t add(struct ompt_dependence *list, size_t n, void **from, size_t count, int type) {
    for (size_t i = 0; i < count && n < DEPENDENCES; i++)
        list[n++] = dependence(from[i], type);
    return n;
}

/* What omp_depend_t holds. */
static size_t add_objects(struct ompt_dependence *list, size_t n, void **from, size_t count) {
    static const int types[] = {0,
                                OMPT_DEPEND_IN,
                                OMPT_DEPEND_OUT,
                                OMPT_DEPEND_INOUT,
                                OMPT_DEPEND_MUTEXINOUTSET,
                                OMPT_DEPEND_INOUTSET};
    for (size_t i = 0; i < count && n < DEPENDENCES; i++) {
        void **object = from[i];
        size_t type = (size_t)object[1];
        if (type > 0 && type < sizeof types / sizeof *types)
            list[n++] = dependence(object[0], types[type]);
    }
    return n;
}

/* A list as GCC makes it: how many; how many of them are `out`; addresses. Or 0; how many; `out`;
 * `mutexinoutset`; `in`; addresses, and objects at the end. */
static int read_dependences(void **given, struct ompt_dependence *list) {
    size_t all = (size_t)given[0], out = (size_t)given[1], n = 0;
    if (all != 0) {
        n = add(list, n, given + 2, out, OMPT_DEPEND_OUT);
        return (int)add(list, n, given + 2 + out, all - out, OMPT_DEPEND_IN);
    }
    all = (size_t)given[1];
    out = (size_t)given[2];
    size_t exclusive = (size_t)given[3], in = (size_t)given[4];
    void **at = given + 5;
    n = add(list, n, at, out, OMPT_DEPEND_OUT);
    n = add(list, n, at += out, exclusive, OMPT_DEPEND_MUTEXINOUTSET);
    n = add(list, n, at += exclusive, in, OMPT_DEPEND_IN);
    return (int)add_objects(list, n, at + in, all - out - exclusive - in);
}

static void tell_dependences(union ompt_data *record, void **given) {
    struct ompt_dependence list[DEPENDENCES];
    int n = read_dependences(given, list);
    if (n > 0)
        lc_omp_dependences(record, list, n);
}

/* ---- creation and execution */

/* A taskloop in a taskgroup of its own: it waits from the creation of its last task on, which is
 * known when the thread executes a task, or is back. */
struct lc_gomp_taskloop {
    uint64_t since; /* ticks */
    const void *code;
};

static void wait_for_loop(struct lc_gomp_thread *self) {
    const struct lc_gomp_taskloop *loop = self->loop;
    self->loop = NULL;
    if (loop != NULL)
        lc_omp_taskgroup_waits(loop->since, loop->code);
}

/* libgomp discards tasks of a cancelled taskgroup that have not begun, but not those whose data
 * were copied by a function, since that may have constructed something: with ours it is for us. */
static bool is_discarded(const struct gomp_task *task) {
    return task->runtime != NULL && task->runtime->is_cancelled != NULL &&
           task->runtime->is_cancelled(CANCEL_TASKGROUP);
}

static void run_body(const struct gomp_task *task, struct lc_gomp_call *call) {
    lc_gomp_call_goes(call);
    task->fn(task->data);
    lc_gomp_call_returns(call);
}

static void execute(struct gomp_task *task, struct lc_gomp_call *call) {
    struct lc_gomp_thread *self = lc_gomp_self();
    if (task->loop)
        memcpy(task->data, task->words, sizeof task->words);
    bool at_once = task->undeferred ||
                   (self == task->creator && self != NULL && self->creating == task->number);
    bool discarded = !at_once && !task->detached && is_discarded(task);
    if (self == NULL || task->record.ptr == NULL) {
        if (!discarded)
            run_body(task, call);
        return;
    }
    union ompt_data *before = self->running;
    bool was_final = self->final;
    wait_for_loop(self);
    if (at_once) /* in place of being put off */
        ((struct lc_omp_task *)task->record.ptr)->undeferred = true;
    lc_omp_task_schedule(before, OMPT_STATUS_SWITCH, &task->record);
    self->running = &task->record;
    self->final = task->final;
    if (!discarded)
        run_body(task, call);
    self->running = before;
    self->final = was_final;
    if (task->detached)
        detached_ends(task, before);
    else
        lc_omp_task_schedule(&task->record, discarded ? OMPT_STATUS_CANCEL : OMPT_STATUS_COMPLETE,
                             before);
}

static void run_task(void *argument) {
    struct lc_gomp_call room, *call = lc_gomp_call_may_begin(&room);
    execute(argument, call);
    lc_gomp_call_end(call);
}

/* The thread comes back from the runtime, and goes into it: events by themselves. */
static void leave(struct lc_omp_thread *o) {
    uint64_t now = lc_ticks();
    lc_omp_leave(o, now);
    lc_omp_done(o, now);
}

static void enter(struct lc_omp_thread *o) {
    uint64_t now = lc_ticks();
    lc_omp_enter(o, now);
    lc_omp_done(o, now);
}

/* On the thread that creates the task, if it is created: libgomp calls this to copy its data. */
static void create_task(struct gomp_task *task) {
    struct lc_gomp_thread *self = lc_gomp_self();
    if (self == NULL)
        return;
    int flags = OMPT_TASK_EXPLICIT | (task->undeferred ? OMPT_TASK_UNDEFERRED : 0);
    struct lc_omp_thread *o = lc_omp_self();
    if (o == NULL)
        return;
    leave(o);
    lc_omp_task_create(self->running, NULL, &task->record, flags, task->depend != NULL, task->code);
    if (task->depend != NULL && task->record.ptr != NULL)
        tell_dependences(&task->record, task->depend);
    if (task->detached && task->record.ptr != NULL)
        detach(task);
    if (!task->waits_for_group)
        return;
    uint64_t now = lc_ticks();
    lc_omp_enter(o, now);
    if (self->loop != NULL)
        self->loop->since = now;
    else /* tasks are executed at once */
        lc_omp_wait_begin(o, false, now);
    lc_omp_done(o, now);
}

static void copy_task(void *to, void *from) {
    struct lc_gomp_call room, *call = lc_gomp_call_may_begin(&room);
    struct gomp_task *task = to, *given = from;
    *task = *given;
    task->data = (char *)to + given->offset;
    if (given->detached && given->data != NULL) /* where libgomp would have written it */
        memcpy(given->data, given->words, sizeof given->words[0]);
    lc_gomp_call_goes(call); /* without us it would be copied, too */
    if (given->copy != NULL)
        given->copy(task->data, given->data);
    else if (given->bytes > 0 && given->data != NULL)
        memcpy(task->data, given->data, given->bytes);
    lc_gomp_call_returns(call);
    create_task(task);
    lc_gomp_call_end(call);
}

/* How much libgomp is to allocate, at which alignment. */
static long room_of(struct gomp_task *task, long *align) {
    if (*align < (long)_Alignof(struct gomp_task))
        *align = (long)_Alignof(struct gomp_task);
    size_t a = (size_t)*align;
    task->offset = (sizeof *task + a - 1) / a * a;
    return (long)(task->offset + task->bytes);
}

/* What the program asks for, from `code`. Older compilers hand over fewer arguments; `flags` tell
 * which of them mean something. */
static void task_from(const void *code, void (*fn)(void *), void *data,
                      void (*copy)(void *, void *), long bytes, long align, bool now,
                      unsigned flags, void **depend, int priority, void *event) {
    struct lc_gomp_call room, *call = lc_gomp_call_may_begin(&room);
    void (*real)(void (*)(void *), void *, void (*)(void *, void *), long, long, bool, unsigned,
                 void **, int, void *) =
        (void (*)(void (*)(void *), void *, void (*)(void *, void *), long, long, bool, unsigned,
                  void **, int, void *))lc_gomp_real(LC_GOMP_task, code);
    struct lc_gomp_thread *self = lc_gomp_self_known();
    struct lc_omp_thread *o = self != NULL ? lc_omp_self() : NULL;
    if (o == NULL) {
        lc_gomp_call_end(call);
        real(fn, data, copy, bytes, align, now, flags, depend, priority, event);
        return;
    }
    struct gomp_task task = {.fn = fn,
                             .copy = copy,
                             .data = data,
                             .bytes = (size_t)bytes,
                             .depend = (flags & WITH_DEPEND) != 0 ? depend : NULL,
                             .code = code,
                             .creator = self,
                             .runtime = copy == NULL ? lc_gomp_runtime_of((void *)real) : NULL,
                             .number = ++self->created,
                             .undeferred = !now,
                             .final = (flags & FINAL) != 0 || self->final,
                             .detached = (flags & DETACHED) != 0};
    uint64_t creating = self->creating;
    bytes = room_of(&task, &align);
    self->creating = task.number;
    if (task.depend != NULL) /* it may have to wait for others first */
        enter(o);
    lc_gomp_call_goes(call);
    real(run_task, &task, copy_task, bytes, align, now, flags, depend, priority, event);
    lc_gomp_call_returns(call);
    self->creating = creating;
    if (task.depend != NULL) /* cancelled: it was not created */
        leave(o);
    lc_gomp_call_end(call);
}

void lc_gomp_entry_task(void (*fn)(void *), void *data, void (*copy)(void *, void *), long bytes,
                        long align, bool now, unsigned flags, void **depend, int priority,
                        void *event) {
    task_from(__builtin_return_address(0), fn, data, copy, bytes, align, now, flags, depend,
              priority, event);
}

static void nothing(void *unused) {
    (void)unused;
}

/* An empty task, as libgomp itself makes of it. */
void lc_gomp_entry_taskwait_depend_nowait(void **depend) {
    static char unused;
    task_from(__builtin_return_address(0), nothing, &unused, NULL, 0, 1, true, WITH_DEPEND, depend,
              0, NULL);
}

typedef void taskloop_fn(void (*)(void *), void *, void (*)(void *, void *), long, long, unsigned,
                         unsigned long, int, uint64_t, uint64_t, uint64_t);

static void taskloop(taskloop_fn *real, struct gomp_task *task, long align, unsigned flags,
                     unsigned long tasks, int priority, const uint64_t *range) {
    struct lc_gomp_call room, *call = lc_gomp_call_may_begin(&room);
    struct lc_gomp_thread *self = lc_gomp_self_known();
    struct lc_omp_thread *o = self != NULL ? lc_omp_self() : NULL;
    if (o == NULL) {
        lc_gomp_call_end(call);
        real(task->fn, task->data, task->copy, (long)task->bytes, align, flags, tasks, priority,
             range[0], range[1], range[2]);
        return;
    }
    union ompt_data *region = self->share->region, *running = self->running;
    struct lc_gomp_taskloop *outer = self->loop, loop = {.code = task->code};
    task->loop = true;
    task->runtime = task->copy == NULL ? lc_gomp_runtime_of((void *)real) : NULL;
    task->undeferred =
        (flags & MAY_BE_PUT_OFF) == 0 || !lc_gomp_in_team(self->share) || self->final;
    task->final = (flags & FINAL) != 0 || self->final;
    task->waits_for_group = (flags & TASKLOOP_IN_GROUP_NOT) == 0;
    if ((flags & WITH_REDUCTION) != 0)
        task->reductions = ((void **)task->data)[2];
    long bytes = room_of(task, &align);
    lc_omp_work(OMPT_WORK_TASKLOOP, OMPT_BEGIN, region, running, 0, task->code);
    if (task->waits_for_group) {
        lc_omp_sync_region(OMPT_SYNC_TASKGROUP, OMPT_BEGIN, region, NULL, task->code);
        loop.since = lc_ticks();
        lc_omp_enter(o, loop.since);
        self->loop = &loop;
    }
    lc_gomp_call_goes(call);
    real(run_task, task, copy_task, bytes, align, flags, tasks, priority, range[0], range[1],
         range[2]);
    lc_gomp_call_returns(call);
    if (task->waits_for_group) {
        wait_for_loop(self);
        self->loop = outer;
        lc_omp_sync_region_wait(OMPT_SYNC_TASKGROUP, OMPT_END, region, NULL, task->code);
        lc_omp_sync_region(OMPT_SYNC_TASKGROUP, OMPT_END, region, NULL, task->code);
    }
    lc_omp_work(OMPT_WORK_TASKLOOP, OMPT_END, region, running, 0, task->code);
    lc_gomp_call_end(call);
}

void lc_gomp_entry_taskloop(void (*fn)(void *), void *data, void (*copy)(void *, void *),
                            long bytes, long align, unsigned flags, unsigned long tasks,
                            int priority, long start, long end, long step) {
    const void *code = __builtin_return_address(0);
    struct gomp_task task = {
        .fn = fn, .data = data, .copy = copy, .bytes = (size_t)bytes, .code = code};
    const uint64_t range[] = {(uint64_t)start, (uint64_t)end, (uint64_t)step};
    taskloop((taskloop_fn *)lc_gomp_real(LC_GOMP_taskloop, code), &task, align, flags, tasks,
             priority, range);
}

void lc_gomp_entry_taskloop_ull(void (*fn)(void *), void *data, void (*copy)(void *, void *),
                                long bytes, long align, unsigned flags, unsigned long tasks,
                                int priority, ull start, ull end, ull step) {
    const void *code = __builtin_return_address(0);
    struct gomp_task task = {
        .fn = fn, .data = data, .copy = copy, .bytes = (size_t)bytes, .code = code};
    const uint64_t range[] = {start, end, step};
    taskloop((taskloop_fn *)lc_gomp_real(LC_GOMP_taskloop_ull, code), &task, align, flags, tasks,
             priority, range);
}

/* ---- waiting for tasks */

void lc_gomp_entry_taskwait(void) {
    const void *code = __builtin_return_address(0);
    struct lc_gomp_call room, *call = lc_gomp_call_may_begin(&room);
    void (*real)(void) = (void (*)(void))lc_gomp_real(LC_GOMP_taskwait, code);
    struct lc_gomp_thread *self = lc_gomp_self_known();
    if (self == NULL) {
        lc_gomp_call_end(call);
        real();
        return;
    }
    lc_omp_sync_region(OMPT_SYNC_TASKWAIT, OMPT_BEGIN, self->share->region, NULL, code);
    lc_gomp_call_goes(call);
    real();
    lc_gomp_call_returns(call);
    lc_omp_sync_region(OMPT_SYNC_TASKWAIT, OMPT_END, self->share->region, NULL, code);
    lc_gomp_call_end(call);
}

void lc_gomp_entry_taskwait_depend(void **depend) {
    const void *code = __builtin_return_address(0);
    struct lc_gomp_call room, *call = lc_gomp_call_may_begin(&room);
    void (*real)(void **) = (void (*)(void **))lc_gomp_real(LC_GOMP_taskwait_depend, code);
    struct lc_gomp_thread *self = lc_gomp_self_known();
    if (self == NULL) {
        lc_gomp_call_end(call);
        real(depend);
        return;
    }
    union ompt_data construct = {0};
    lc_omp_task_create(self->running, NULL, &construct,
                       OMPT_TASK_EXPLICIT | OMPT_TASK_TASKWAIT | OMPT_TASK_UNDEFERRED, 1, code);
    tell_dependences(&construct, depend);
    lc_gomp_call_goes(call);
    real(depend);
    lc_gomp_call_returns(call);
    lc_omp_task_schedule(NULL, OMPT_STATUS_TASKWAIT_COMPLETE, NULL);
    lc_gomp_call_end(call);
}

void lc_gomp_entry_taskgroup_start(void) {
    const void *code = __builtin_return_address(0);
    struct lc_gomp_call room, *call = lc_gomp_call_may_begin(&room);
    void (*real)(void) = (void (*)(void))lc_gomp_real(LC_GOMP_taskgroup_start, code);
    struct lc_gomp_thread *self = lc_gomp_self_known();
    if (self != NULL)
        lc_omp_sync_region(OMPT_SYNC_TASKGROUP, OMPT_BEGIN, self->share->region, NULL, code);
    lc_gomp_call_end(call);
    real();
}

void lc_gomp_entry_taskgroup_end(void) {
    const void *code = __builtin_return_address(0);
    struct lc_gomp_call room, *call = lc_gomp_call_may_begin(&room);
    void (*real)(void) = (void (*)(void))lc_gomp_real(LC_GOMP_taskgroup_end, code);
    struct lc_gomp_thread *self = lc_gomp_self_known();
    if (self == NULL) {
        lc_gomp_call_end(call);
        real();
        return;
    }
    lc_omp_sync_region_wait(OMPT_SYNC_TASKGROUP, OMPT_BEGIN, self->share->region, NULL, code);
    lc_gomp_call_goes(call);
    real();
    lc_gomp_call_returns(call);
    lc_omp_sync_region_wait(OMPT_SYNC_TASKGROUP, OMPT_END, self->share->region, NULL, code);
    lc_omp_sync_region(OMPT_SYNC_TASKGROUP, OMPT_END, self->share->region, NULL, code);
    lc_gomp_call_end(call);
}
