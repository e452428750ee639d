/* For a program that runs under ThreadSanitizer with the tool: tells the sanitizer what OpenMP
 * orders (fork, barriers, creation and end of tasks, dependences, locks), which it cannot see, for
 * the runtime is not instrumented. LLVM's own annotations (libarcher) are a tool for OpenMP
 * themselves, of which a runtime takes but one; these stand between it and liblatecomer.
 *
 * An order is told to run after the callback that it begins with, and before the one that it ends
 * with: whatever the tool does more between threads has to be ordered by the tool. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

#include "measure/openmp/tasks.h"
#include "measure/openmp/omp_thread.h"
#include "measure/openmp/ompt.h"

void __tsan_acquire(void *address) __attribute__((weak));
void __tsan_release(void *address) __attribute__((weak));

static void before(const void *address) {
    if (address != NULL && __tsan_acquire != NULL)
        __tsan_acquire((void *)(uintptr_t)address);
}

static void after(const void *address) {
    if (address != NULL && __tsan_release != NULL)
        __tsan_release((void *)(uintptr_t)address);
}

static ompt_any_fn tool[64]; /* its callbacks */

/* What the records of one task are a key for. */
static const void *barrier_of(const struct lc_omp_region *region, uint32_t number) {
    return region != NULL ? &region->barriers[number & 1] : NULL;
}

static void parallel_begin(union ompt_data *task, const struct ompt_frame *frame,
                           union ompt_data *region, unsigned wanted, int flags, const void *code) {
    ((void (*)(union ompt_data *, const struct ompt_frame *, union ompt_data *, unsigned, int,
               const void *))tool[OMPT_PARALLEL_BEGIN])(task, frame, region, wanted, flags, code);
    after(region->ptr);
}

/* The runtime's own records serve again, with the word that is the tool's. */
static void parallel_end(union ompt_data *region, union ompt_data *task, int flags,
                         const void *code) {
    ((void (*)(union ompt_data *, union ompt_data *, int, const void *))tool[OMPT_PARALLEL_END])(
        region, task, flags, code);
    after(region);
}

static void implicit_task(int endpoint, union ompt_data *region, union ompt_data *task,
                          unsigned team, unsigned number, int flags) {
    if (endpoint == OMPT_BEGIN && region != NULL) {
        before(region);
        before(region->ptr);
    }
    ((void (*)(int, union ompt_data *, union ompt_data *, unsigned, unsigned,
               int))tool[OMPT_IMPLICIT_TASK])(endpoint, region, task, team, number, flags);
}

static void sync_region(int kind, int endpoint, union ompt_data *region, union ompt_data *data,
                        const void *code) {
    void (*const to)(int, int, union ompt_data *, union ompt_data *, const void *) = (void (*)(
        int, int, union ompt_data *, union ompt_data *, const void *))tool[OMPT_SYNC_REGION];
    const struct lc_omp_task *task = data != NULL ? data->ptr : NULL;
    bool tasks = kind == OMPT_SYNC_TASKWAIT || kind == OMPT_SYNC_TASKGROUP;
    const void *barrier = task == NULL || tasks || kind == OMPT_SYNC_REDUCTION
                              ? NULL
                              : barrier_of(task->region, task->barrier - (endpoint == OMPT_END));
    if (endpoint == OMPT_END && task != NULL) {
        before(barrier);
        before(kind == OMPT_SYNC_TASKWAIT ? &task->children : NULL);
        before(kind == OMPT_SYNC_TASKGROUP ? task->group : NULL);
    }
    to(kind, endpoint, region, data, code);
    if (endpoint == OMPT_BEGIN)
        after(barrier);
}

static void sync_region_wait(int kind, int endpoint, union ompt_data *region, union ompt_data *data,
                             const void *code) {
    const struct lc_omp_task *task = data != NULL ? data->ptr : NULL;
    if (endpoint == OMPT_END && task != NULL && kind == OMPT_SYNC_TASKGROUP)
        before(task->group);
    ((void (*)(int, int, union ompt_data *, union ompt_data *,
               const void *))tool[OMPT_SYNC_REGION_WAIT])(kind, endpoint, region, data, code);
}

static void task_create(union ompt_data *creator, const struct ompt_frame *frame,
                        union ompt_data *data, int flags, int has_dependences, const void *code) {
    before(data);
    ((void (*)(union ompt_data *, const struct ompt_frame *, union ompt_data *, int, int,
               const void *))tool[OMPT_TASK_CREATE])(creator, frame, data, flags, has_dependences,
                                                     code);
    after(data->ptr);
}

static void dependences(union ompt_data *data, const struct ompt_dependence *list, int n) {
    ((void (*)(union ompt_data *, const struct ompt_dependence *, int))tool[OMPT_DEPENDENCES])(
        data, list, n);
    after(data != NULL ? data->ptr : NULL);
}

/* All that the task depends on. */
static void before_sets(const struct lc_omp_task *task) {
    for (uint32_t i = 0; task != NULL && i < task->after.n; i++)
        before(task->after.first[i]);
    for (const struct lc_omp_link *link = task != NULL ? task->after.more : NULL; link != NULL;
         link = link->next)
        before(link->set);
}

static void task_schedule(union ompt_data *prior, int status, union ompt_data *next) {
    enum { MOST = 64 };
    const void *over[MOST];
    size_t n = 0;
    const struct lc_omp_task *from = prior != NULL ? prior->ptr : NULL,
                             *to = next != NULL ? next->ptr : NULL;
    const struct lc_omp_task *awaits =
        from != NULL && status == OMPT_STATUS_TASKWAIT_COMPLETE ? from->awaits : NULL;
    before(prior);
    before(next);
    before(from); /* detached: by who fulfils the event */
    before(to);
    before_sets(to);
    before_sets(awaits);
    if (from != NULL && from->explicit_one && status != OMPT_STATUS_SWITCH &&
        status != OMPT_STATUS_YIELD) {
        over[n++] = from->parent != NULL ? &from->parent->children : NULL;
        over[n++] = from->group;
        over[n++] = barrier_of(from->region, from->barrier);
        for (uint32_t i = 0; i < from->into.n; i++)
            over[n++] = from->into.first[i];
        for (const struct lc_omp_link *link = from->into.more; link != NULL && n < MOST;
             link = link->next)
            over[n++] = link->set;
    }
    ((void (*)(union ompt_data *, int, union ompt_data *))tool[OMPT_TASK_SCHEDULE])(prior, status,
                                                                                    next);
    after(prior);
    after(from);
    for (size_t i = 0; i < n; i++)
        after(over[i]);
}

/* A lock orders its holders; what is done after the release is not ordered by it. */
static void mutex_acquired(int kind, uint64_t wait, const void *code) {
    before((void *)(uintptr_t)wait);
    ((void (*)(int, uint64_t, const void *))tool[OMPT_MUTEX_ACQUIRED])(kind, wait, code);
    after((void *)(uintptr_t)wait);
}

static ompt_lookup_fn lookup;

static int set_callback(int event, ompt_any_fn callback) {
    static const ompt_any_fn between[64] = {[OMPT_PARALLEL_BEGIN] = (ompt_any_fn)parallel_begin,
                                            [OMPT_PARALLEL_END] = (ompt_any_fn)parallel_end,
                                            [OMPT_IMPLICIT_TASK] = (ompt_any_fn)implicit_task,
                                            [OMPT_SYNC_REGION] = (ompt_any_fn)sync_region,
                                            [OMPT_SYNC_REGION_WAIT] = (ompt_any_fn)sync_region_wait,
                                            [OMPT_TASK_CREATE] = (ompt_any_fn)task_create,
                                            [OMPT_DEPENDENCES] = (ompt_any_fn)dependences,
                                            [OMPT_TASK_SCHEDULE] = (ompt_any_fn)task_schedule,
                                            [OMPT_MUTEX_ACQUIRED] = (ompt_any_fn)mutex_acquired};
    tool[event] = callback;
    return ((ompt_set_callback_fn)lookup("ompt_set_callback"))(
        event, between[event] != NULL ? between[event] : callback);
}

static ompt_any_fn look_up(const char *name) {
    for (const char *a = name, *b = "ompt_set_callback"; *a == *b; a++, b++)
        if (*a == '\0')
            return (ompt_any_fn)set_callback;
    return lookup(name);
}

static struct ompt_start_result *latecomer;

static int initialize(ompt_lookup_fn runtime, int device, union ompt_data *data) {
    lookup = runtime;
    return latecomer->initialize(look_up, device, data);
}

void *ompt_start_tool(unsigned version, const char *runtime) {
    static struct ompt_start_result result;
    void *(*next)(unsigned, const char *) =
        (void *(*)(unsigned, const char *))dlsym(RTLD_NEXT, "ompt_start_tool");
    latecomer = next != NULL ? next(version, runtime) : NULL;
    if (latecomer == NULL)
        return NULL;
    result = *latecomer;
    result.initialize = initialize;
    return &result;
}
