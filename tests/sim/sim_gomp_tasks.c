/* Tasks of the simulated libgomp: whoever waits executes what it may, the seed draws. */
#include <stdlib.h>
#include <string.h>

#include "sim_gomp.h"

/* Of GOMP_task's and GOMP_taskloop's flags. */
enum {
    FINAL = 2,
    DEPEND = 8,
    PRIORITY = 16,
    UP = 256,
    GRAINSIZE = 512,
    IF = 1024,
    NOGROUP = 2048,
    DETACH = 8192
};
enum { IN = 1, OUT, INOUT, MUTEXINOUTSET, INOUTSET }; /* as omp_depend_t holds them */
enum { AT_ONCE = 8 }; /* one task of so many is not put off, where there are no priorities */

int omp_get_max_task_priority(void);
int omp_get_max_task_priority(void) {
    const char *text = getenv("OMP_MAX_TASK_PRIORITY");
    return text != NULL ? atoi(text) : 0;
}

void gomp_wake(void) {
    sim_wake_rank(sim_self()->rank, gomp_now());
}

struct gomp_task *gomp_task_new(struct gomp_task *parent, struct gomp_team *team) {
    struct gomp_task *task = calloc(1, sizeof *task);
    if (task == NULL)
        sim_fail("no memory for a task");
    task->parent = parent;
    task->team = team;
    return task;
}

static bool excludes(const struct gomp_task *a, const struct gomp_task *b) {
    for (int i = 0; i < a->n_depend; i++)
        for (int j = 0; j < b->n_depend; j++)
            if (a->depend[i].address == b->depend[j].address &&
                a->depend[i].type == MUTEXINOUTSET && b->depend[j].type == MUTEXINOUTSET)
                return true;
    return false;
}

/* Must b wait for its older sibling a? */
static bool before(const struct gomp_task *a, const struct gomp_task *b) {
    for (int i = 0; i < a->n_depend; i++)
        for (int j = 0; j < b->n_depend; j++) {
            int x = a->depend[i].type, y = b->depend[j].type;
            if (a->depend[i].address == NULL || b->depend[j].address == NULL) /* omp_all_memory */
                return true;
            if (a->depend[i].address == b->depend[j].address && (x != y || x == OUT || x == INOUT))
                return true;
        }
    return false;
}

/* Those of the same team that are older come behind it in the list. */
static bool is_ready(const struct gomp_task *t) {
    if (t->n_depend == 0)
        return true;
    for (const struct gomp_task *s = t->next; s != NULL; s = s->next)
        if (s->parent == t->parent && s->state != GOMP_ENDED && before(s, t))
            return false;
    for (const struct gomp_task *s = t->team->tasks; s != NULL; s = s->next)
        if (s->parent == t->parent && s != t && s->state != GOMP_CREATED &&
            s->state != GOMP_ENDED && excludes(s, t))
            return false;
    return true;
}

static bool fits(const struct gomp_task *t, struct gomp_choice choice) {
    return t->state == GOMP_CREATED && t->fn != NULL &&
           (choice.parent == NULL || t->parent == choice.parent) &&
           (choice.group == NULL || t->home == choice.group) && is_ready(t);
}

static struct gomp_task *choose(struct gomp_choice choice) {
    struct gomp_task *found = NULL;
    uint64_t n = 0;
    for (struct gomp_task *t = choice.team != NULL ? choice.team->tasks : NULL; t != NULL;
         t = t->next) {
        if (!fits(t, choice) || (found != NULL && t->priority < found->priority))
            continue;
        n = found != NULL && t->priority > found->priority ? 0 : n;
        if (sim_draw(++n) == 0)
            found = t;
    }
    return found;
}

static void complete(struct gomp_task *task) {
    task->state = GOMP_ENDED;
    task->ended = gomp_now();
    gomp_join(&task->parent->children_all, task->end);
    if (task->ended > task->parent->last_child)
        task->parent->last_child = task->ended;
    task->parent->children--;
    if (task->home != NULL) {
        gomp_join(&task->home->all, task->end);
        task->home->last = task->ended;
        task->home->tasks--;
    }
    if (task->team != NULL) {
        gomp_join(&task->team->barrier->all, task->end);
        task->team->barrier->last_task = task->ended;
        task->team->tasks_left--;
    }
    gomp_wake();
}

/* The thread executes it, in place of its own. */
static void run(struct gomp_task *task) {
    struct gomp_thread *t = gomp_self();
    struct gomp_task *own = t->task;
    task->state = GOMP_BEGUN;
    t->task = task;
    task->clock = 0;
    gomp_after(t, task->created);
    for (const struct gomp_task *s = task->team != NULL ? task->team->tasks : NULL; s != NULL;
         s = s->next)
        if (s != task && s->parent == task->parent && s->state == GOMP_ENDED &&
            (before(s, task) || excludes(s, task)))
            gomp_after(t, s->end);
    gomp_out();
    bool cancelled = task->home != NULL && task->home->cancelled;
    if (!cancelled || task->constructed)
        task->fn(task->data);
    gomp_in();
    gomp_join(&task->end, gomp_here(t));
    gomp_task_over(task);
    t->task = own;
    task->state = GOMP_BODY_ENDED;
    if (!task->detached || task->fulfilled)
        complete(task);
}

struct until {
    struct gomp_choice choice;
    bool (*done)(void *);
    void *data;
};

static bool something_to_do(void *until) {
    struct until *u = until;
    return u->done(u->data) || choose(u->choice) != NULL;
}

void gomp_work_until(struct gomp_choice choice, bool (*done)(void *), void *data,
                     struct gomp_waiting *w) {
    struct until until = {choice, done, data};
    while (!done(data)) {
        struct gomp_task *task = choose(choice);
        if (task == NULL) {
            sim_wait_until(something_to_do, &until);
            continue;
        }
        if (w->n == GOMP_SPANS)
            sim_fail("too many tasks in one wait");
        uint64_t begin = gomp_now();
        run(task);
        w->spans[w->n].begin = begin;
        w->spans[w->n++].end = gomp_now();
    }
}

/* ---- dependences, as GCC hands them over */

static void depends(struct gomp_task *task, void *address, int type) {
    if (task->n_depend == GOMP_DEPENDENCES)
        sim_fail("too many dependences");
    task->depend[task->n_depend].address = address;
    task->depend[task->n_depend++].type = type;
}

static void read_depend(struct gomp_task *task, void **list) {
    size_t all = (size_t)list[0], out = (size_t)list[1], i = 0;
    if (all != 0) {
        for (; i < all; i++)
            depends(task, list[2 + i], i < out ? OUT : IN);
        return;
    }
    all = (size_t)list[1];
    out = (size_t)list[2];
    size_t exclusive = out + (size_t)list[3], in = exclusive + (size_t)list[4];
    for (; i < all; i++) {
        void **at = list[5 + i];
        if (i < in)
            depends(task, at, i < out ? OUT : i < exclusive ? MUTEXINOUTSET : IN);
        else
            depends(task, at[0], (int)(size_t)at[1]);
    }
}

static bool may_begin(void *task) {
    return is_ready(task);
}

/* ---- entries */

struct made {
    void (*fn)(void *), (*copy)(void *, void *);
    void *data;
    long bytes, align;
};

static void *copy_data(const struct made *made) {
    size_t align = made->align > 16 ? (size_t)made->align : 16;
    void *to = aligned_alloc(align, ((size_t)made->bytes + align) / align * align);
    if (to == NULL)
        sim_fail("no memory for a task's data");
    if (made->copy != NULL)
        made->copy(to, made->data);
    else if (made->bytes > 0)
        memcpy(to, made->data, (size_t)made->bytes);
    return to;
}

static struct gomp_task *create(struct gomp_thread *t, struct gomp_task *task) {
    task->explicit_one = true;
    task->group = task->home = t->task->group;
    task->created = gomp_here(t);
    task->parent->children++;
    if (task->home != NULL)
        task->home->tasks++;
    if (task->team != NULL) {
        task->team->tasks_left++;
        task->next = task->team->tasks;
        task->team->tasks = task;
    }
    return task;
}

/* The creator goes on behind it. */
static void run_at_once(struct gomp_thread *t, struct gomp_task *task) {
    run(task);
    gomp_after(t, task->end);
}

void GOMP_task(void (*fn)(void *), void *data, void (*copy)(void *, void *), long bytes, long align,
               bool may_wait, unsigned flags, void **depend, int priority, void **event);
void GOMP_task(void (*fn)(void *), void *data, void (*copy)(void *, void *), long bytes, long align,
               bool may_wait, unsigned flags, void **depend, int priority, void **event) {
    struct gomp_thread *t = gomp_in();
    struct made made = {fn, copy, data, bytes, align};
    struct gomp_task *task = gomp_task_new(t->task, t->team);
    int highest = omp_get_max_task_priority();
    if ((flags & PRIORITY) != 0)
        task->priority = priority < highest ? priority : highest;
    bool cancelled = (t->team != NULL && t->team->cancelled) ||
                     (t->task->group != NULL && t->task->group->cancelled);
    if (cancelled) {
        gomp_out();
        return;
    }
    bool at_once = !may_wait || t->team == NULL || t->task->final;
    if (!at_once && (flags & (DEPEND | DETACH)) == 0 && highest == 0)
        at_once = sim_draw(AT_ONCE) == 0;
    if ((flags & DEPEND) != 0 && t->team != NULL)
        read_depend(task, depend);
    task->final = (flags & FINAL) != 0 || t->task->final;
    task->detached = (flags & DETACH) != 0;
    if (task->detached) /* where the program reads its event, and where the task's copy does */
        *event = task;
    create(t, task);
    if (at_once && task->n_depend > 0) {
        struct gomp_waiting w = gomp_comes();
        gomp_work_until((struct gomp_choice){t->team, t->task, NULL}, may_begin, task, &w);
    }
    if (task->detached)
        memcpy(data, &task, sizeof task);
    task->data = copy_data(&made);
    task->constructed = copy != NULL || at_once;
    task->fn = fn;
    if (at_once)
        run_at_once(t, task);
    else
        gomp_wake();
    gomp_out();
}

void omp_fulfill_event(struct gomp_task *task);
void omp_fulfill_event(struct gomp_task *task) {
    struct gomp_thread *t = gomp_in();
    task->fulfilled = true;
    gomp_join(&task->end, gomp_here(t));
    if (task->state == GOMP_BODY_ENDED)
        complete(task);
    gomp_out();
}

static bool no_children(void *task) {
    return ((struct gomp_task *)task)->children == 0;
}

void GOMP_taskwait(void);
void GOMP_taskwait(void) {
    struct gomp_thread *t = gomp_in();
    struct gomp_waiting w = gomp_comes();
    gomp_work_until((struct gomp_choice){t->team, t->task, NULL}, no_children, t->task, &w);
    gomp_takes_time();
    gomp_after(t, t->task->children_all);
    gomp_waited(t, &w, GOMP_AT_TASKS, t->task->last_child);
    gomp_out();
}

void GOMP_taskwait_depend(void **depend);
void GOMP_taskwait_depend(void **depend) {
    struct gomp_thread *t = gomp_in();
    struct gomp_waiting w = gomp_comes();
    struct gomp_task *construct = gomp_task_new(t->task, t->team);
    uint64_t last = 0;
    if (t->team != NULL) {
        read_depend(construct, depend);
        construct->next = t->team->tasks;
        gomp_work_until((struct gomp_choice){t->team, t->task, NULL}, may_begin, construct, &w);
        for (const struct gomp_task *s = t->team->tasks; s != NULL; s = s->next)
            if (s->parent == t->task && s->state == GOMP_ENDED &&
                (before(s, construct) || excludes(s, construct))) {
                gomp_after(t, s->end);
                last = s->ended > last ? s->ended : last;
            }
    }
    gomp_takes_time();
    gomp_waited(t, &w, GOMP_AT_TASKS, last);
    gomp_out();
}

static void nothing(void *unused) {
    (void)unused;
}

void GOMP_taskwait_depend_nowait(void **depend);
void GOMP_taskwait_depend_nowait(void **depend) {
    GOMP_task(nothing, NULL, NULL, 0, 1, true, DEPEND, depend, 0, NULL);
}

static void open_group(struct gomp_thread *t) {
    struct gomp_group *group = calloc(1, sizeof *group);
    if (group == NULL)
        sim_fail("no memory for a taskgroup");
    group->outer = t->task->group;
    t->task->group = group;
}

static bool group_ended(void *group) {
    return ((struct gomp_group *)group)->tasks == 0;
}

static void close_group(struct gomp_thread *t) {
    struct gomp_group *group = t->task->group;
    struct gomp_waiting w = gomp_comes();
    gomp_work_until((struct gomp_choice){t->team, NULL, group}, group_ended, group, &w);
    gomp_takes_time();
    gomp_after(t, group->all);
    gomp_waited(t, &w, GOMP_AT_TASKS, group->last);
    t->task->group = group->outer;
}

void GOMP_taskgroup_start(void);
void GOMP_taskgroup_start(void) {
    open_group(gomp_in());
    gomp_out();
}

void GOMP_taskgroup_end(void);
void GOMP_taskgroup_end(void) {
    close_group(gomp_in());
    gomp_out();
}

void GOMP_taskyield(void);
void GOMP_taskyield(void) {
}

/* Tasks add to the original, one at a time; the copies that the program adds up are zeros. */
void GOMP_taskgroup_reduction_register(uintptr_t *data);
void GOMP_taskgroup_reduction_register(uintptr_t *data) {
    size_t n = gomp_self()->team != NULL ? (size_t)gomp_self()->team->n : 1;
    for (; data != NULL; data = (uintptr_t *)data[4]) {
        void *copies = aligned_alloc(64, (data[1] * n + 63) / 64 * 64);
        if (copies == NULL)
            sim_fail("no memory for reductions");
        memset(copies, 0, data[1] * n);
        data[2] = (uintptr_t)copies;
        data[6] = data[2] + data[1] * n;
    }
}

void GOMP_taskgroup_reduction_unregister(uintptr_t *data);
void GOMP_taskgroup_reduction_unregister(uintptr_t *data) {
    free((void *)data[2]);
}

void GOMP_task_reduction_remap(size_t n, size_t originals, void **addresses);
void GOMP_task_reduction_remap(size_t n, size_t originals, void **addresses) {
    for (size_t i = 0; i < originals; i++)
        addresses[n + i] = addresses[i];
}

/* Counted up only, as the programs have them. */
void GOMP_taskloop(void (*fn)(void *), void *data, void (*copy)(void *, void *), long bytes,
                   long align, unsigned flags, unsigned long tasks, int priority, long start,
                   long end, long step);
void GOMP_taskloop(void (*fn)(void *), void *data, void (*copy)(void *, void *), long bytes,
                   long align, unsigned flags, unsigned long tasks, int priority, long start,
                   long end, long step) {
    (void)priority;
    struct gomp_thread *t = gomp_in();
    struct made made = {fn, copy, data, bytes, align};
    long n = end > start ? (end - start + step - 1) / step : 0, each = 1;
    if ((flags & NOGROUP) == 0)
        open_group(t);
    if ((flags & GRAINSIZE) != 0)
        each = (long)tasks;
    else if (n > 0) {
        long most = tasks != 0 ? (long)tasks : t->team != NULL ? t->team->n : 1;
        each = (n + most - 1) / most;
    }
    for (long from = 0; from < n; from += each) {
        struct gomp_task *task = create(t, gomp_task_new(t->task, t->team));
        long range[2] = {start + from * step, start + (from + each < n ? from + each : n) * step};
        task->final = (flags & FINAL) != 0 || t->task->final;
        task->data = copy_data(&made);
        task->constructed = copy != NULL;
        memcpy(task->data, range, sizeof range);
        task->fn = fn;
        if (t->team == NULL || task->final || (flags & IF) == 0)
            run_at_once(t, task);
        else
            gomp_wake();
    }
    if ((flags & NOGROUP) == 0)
        close_group(t);
    gomp_out();
}
