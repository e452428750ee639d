/* Worksharing constructs and locks of the simulated libgomp. Loops count up by one chunk at a time:
 * the threads that ask first in virtual time get the next one. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "sim_gomp.h"

enum { POSTED = 4096, DIMENSIONS = 4 };

struct gomp_share {
    unsigned number; /* of all of its team */
    struct gomp_share *next;
    long start, at, end, step, chunk; /* at: of sections */
    bool is_static, taken;
    long chunks, passed; /* given out; of an ordered loop: whose turn is over */
    struct gomp_point pass;
    uint64_t passed_at;
    unsigned counts; /* of an ordered loop with dependences */
    int n_posted;
    struct {
        long iteration[DIMENSIONS];
        struct gomp_point point;
        uint64_t when;
    } posted[POSTED];
};

static struct gomp_share *share_in(struct gomp_team *team, unsigned number) {
    for (struct gomp_share *s = team->shares; s != NULL; s = s->next)
        if (s->number == number)
            return s;
    struct gomp_share *made = calloc(1, sizeof *made);
    if (made == NULL)
        sim_fail("no memory for a loop");
    made->number = number;
    made->step = 0;
    made->next = team->shares;
    return team->shares = made;
}

/* The next one of the thread's team; outside of all teams one of its own. */
static struct gomp_share *next_share(struct gomp_thread *t) {
    static unsigned alone;
    t->rounds = 0;
    t->chunk = -1;
    if (t->team == NULL) {
        struct gomp_team none = {0};
        return t->share = share_in(&none, ++alone);
    }
    return t->share = share_in(t->team, ++t->work);
}

/* ---- loops */

static void set_range(struct gomp_share *s, long start, long end, long step, long chunk) {
    if (s->step != 0)
        return;
    s->start = start;
    s->end = end;
    s->step = step;
    s->chunk = chunk > 0 ? chunk : 1;
}

/* With a static schedule chunk i is thread i's, modulo their number. */
static bool next_chunk(struct gomp_thread *t, long *first, long *last) {
    struct gomp_share *s = t->share;
    long n = t->team != NULL ? t->team->n : 1;
    long number = s->is_static ? t->number % n + n * t->rounds++ : s->chunks++;
    long at = s->start + number * s->chunk * s->step, to = at + s->chunk * s->step;
    if (s->step > 0 ? at >= s->end : at <= s->end)
        return false;
    *first = at;
    *last = (s->step > 0 ? to > s->end : to < s->end) ? s->end : to;
    t->chunk = number;
    return true;
}

static bool start_loop(long start, long end, long step, long chunk, bool is_static, long *first,
                       long *last) {
    struct gomp_thread *t = gomp_in();
    next_share(t);
    t->share->is_static = is_static;
    set_range(t->share, start, end, step, chunk);
    bool got = next_chunk(t, first, last);
    gomp_out();
    return got;
}

static bool go_on(long *first, long *last) {
    struct gomp_thread *t = gomp_in();
    bool got = next_chunk(t, first, last);
    gomp_out();
    return got;
}

/* NOLINTBEGIN(bugprone-macro-parentheses) */
#define LOOP(name, next, is_static)                                                                \
    bool name(long start, long end, long step, long chunk, long *first, long *last);               \
    bool name(long start, long end, long step, long chunk, long *first, long *last) {              \
        return start_loop(start, end, step, chunk, is_static, first, last);                        \
    }                                                                                              \
    bool next(long *first, long *last);                                                            \
    bool next(long *first, long *last) {                                                           \
        return go_on(first, last);                                                                 \
    }

LOOP(GOMP_loop_static_start, GOMP_loop_static_next, true)
LOOP(GOMP_loop_dynamic_start, GOMP_loop_dynamic_next, false)
LOOP(GOMP_loop_guided_start, GOMP_loop_guided_next, false)
LOOP(GOMP_loop_nonmonotonic_dynamic_start, GOMP_loop_nonmonotonic_dynamic_next, false)
LOOP(GOMP_loop_nonmonotonic_guided_start, GOMP_loop_nonmonotonic_guided_next, false)

struct range {
    long start, end, step, chunk;
};

static struct gomp_share *prepare_loop(struct gomp_team *team, void *range) {
    const struct range *r = range;
    set_range(share_in(team, 1), r->start, r->end, r->step, r->chunk);
    return team->shares;
}

#define PARALLEL_LOOP(name)                                                                        \
    void name(void (*fn)(void *), void *data, unsigned n, long start, long end, long step,         \
              long chunk, unsigned flags);                                                         \
    void name(void (*fn)(void *), void *data, unsigned n, long start, long end, long step,         \
              long chunk, unsigned flags) {                                                        \
        (void)flags;                                                                               \
        gomp_region(fn, data, n, prepare_loop, &(struct range){start, end, step, chunk});          \
    }

PARALLEL_LOOP(GOMP_parallel_loop_dynamic)
PARALLEL_LOOP(GOMP_parallel_loop_guided)
PARALLEL_LOOP(GOMP_parallel_loop_nonmonotonic_dynamic)
PARALLEL_LOOP(GOMP_parallel_loop_nonmonotonic_guided)
/* NOLINTEND(bugprone-macro-parentheses) */

void GOMP_parallel_loop_maybe_nonmonotonic_runtime(void (*fn)(void *), void *data, unsigned n,
                                                   long start, long end, long step, unsigned flags);
void GOMP_parallel_loop_maybe_nonmonotonic_runtime(void (*fn)(void *), void *data, unsigned n,
                                                   long start, long end, long step,
                                                   unsigned flags) {
    (void)flags;
    gomp_region(fn, data, n, prepare_loop, &(struct range){start, end, step, 1});
}

bool GOMP_loop_maybe_nonmonotonic_runtime_start(long start, long end, long step, long *first,
                                                long *last);
bool GOMP_loop_maybe_nonmonotonic_runtime_start(long start, long end, long step, long *first,
                                                long *last) {
    return start_loop(start, end, step, 1, false, first, last);
}

bool GOMP_loop_maybe_nonmonotonic_runtime_next(long *first, long *last);
bool GOMP_loop_maybe_nonmonotonic_runtime_next(long *first, long *last) {
    return go_on(first, last);
}

void GOMP_loop_end(void);
void GOMP_loop_end(void) {
    gomp_barrier(false);
}

bool GOMP_loop_end_cancel(void);
bool GOMP_loop_end_cancel(void) {
    return gomp_barrier(true);
}

void GOMP_loop_end_nowait(void);
void GOMP_loop_end_nowait(void) {
}

/* ---- ordered loops */

static bool has_turn(void *thread) {
    const struct gomp_thread *t = thread;
    return t->share->passed == t->chunk;
}

static void wait_for_turn(struct gomp_thread *t) {
    struct gomp_waiting w = gomp_comes();
    sim_wait_until(has_turn, t);
    gomp_after(t, t->share->pass);
    gomp_waited(t, &w, GOMP_AT_CRITICAL, t->share->passed_at);
}

void gomp_ordered_passes(struct gomp_thread *t) {
    if (t->chunk < 0)
        return;
    if (!has_turn(t))
        wait_for_turn(t);
    t->share->pass = gomp_here(t);
    t->share->passed_at = gomp_now();
    t->share->passed++;
    t->chunk = -1;
    gomp_wake();
}

void GOMP_ordered_start(void);
void GOMP_ordered_start(void) {
    struct gomp_thread *t = gomp_in();
    if (t->chunk >= 0 && !has_turn(t))
        wait_for_turn(t);
    else if (t->chunk >= 0)
        gomp_after(t, t->share->pass);
    gomp_out();
}

void GOMP_ordered_end(void);
void GOMP_ordered_end(void) {
}

static bool next_ordered(long *first, long *last) {
    struct gomp_thread *t = gomp_in();
    gomp_ordered_passes(t);
    bool got = next_chunk(t, first, last);
    gomp_out();
    return got;
}

#define ORDERED(kind, is_static)                                                                   \
    bool GOMP_loop_ordered_##kind##_start(long start, long end, long step, long chunk,             \
                                          long *first, long *last);                                \
    bool GOMP_loop_ordered_##kind##_start(long start, long end, long step, long chunk,             \
                                          long *first, long *last) {                               \
        return start_loop(start, end, step, chunk, is_static, first, last);                        \
    }                                                                                              \
    bool GOMP_loop_ordered_##kind##_next(long *first, long *last);                                 \
    bool GOMP_loop_ordered_##kind##_next(long *first, long *last) {                                \
        return next_ordered(first, last);                                                          \
    }

ORDERED(static, true)
ORDERED(dynamic, false)

/* ---- ordered loops with dependences */

static bool start_doacross(unsigned counts, long *numbers, long chunk, bool is_static, long *first,
                           long *last) {
    if (counts > DIMENSIONS)
        sim_fail("an ordered loop of %u dimensions", counts);
    bool got = start_loop(0, numbers[0], 1, chunk, is_static, first, last);
    gomp_self()->share->counts = counts;
    return got;
}

bool GOMP_loop_doacross_static_start(unsigned counts, long *numbers, long chunk, long *first,
                                     long *last);
bool GOMP_loop_doacross_static_start(unsigned counts, long *numbers, long chunk, long *first,
                                     long *last) {
    return start_doacross(counts, numbers, chunk, true, first, last);
}

bool GOMP_loop_doacross_dynamic_start(unsigned counts, long *numbers, long chunk, long *first,
                                      long *last);
bool GOMP_loop_doacross_dynamic_start(unsigned counts, long *numbers, long chunk, long *first,
                                      long *last) {
    return start_doacross(counts, numbers, chunk, false, first, last);
}

void GOMP_doacross_post(long *iteration);
void GOMP_doacross_post(long *iteration) {
    struct gomp_thread *t = gomp_in();
    struct gomp_share *s = t->share;
    if (s->n_posted == POSTED)
        sim_fail("too many iterations");
    memcpy(s->posted[s->n_posted].iteration, iteration, s->counts * sizeof(long));
    s->posted[s->n_posted].point = gomp_here(t);
    s->posted[s->n_posted++].when = gomp_now();
    gomp_wake();
    gomp_out();
}

struct awaited {
    struct gomp_share *share;
    long iteration[DIMENSIONS];
    int found;
};

static bool is_posted(void *awaited) {
    struct awaited *a = awaited;
    for (a->found = 0; a->found < a->share->n_posted; a->found++)
        if (memcmp(a->share->posted[a->found].iteration, a->iteration,
                   a->share->counts * sizeof(long)) == 0)
            return true;
    return false;
}

void GOMP_doacross_wait(long first, ...);
void GOMP_doacross_wait(long first, ...) {
    struct gomp_thread *t = gomp_in();
    struct awaited a = {.share = t->share, .iteration = {first}};
    va_list more;
    va_start(more, first);
    for (unsigned i = 1; i < a.share->counts; i++)
        a.iteration[i] = va_arg(more, long);
    va_end(more);
    struct gomp_waiting w = gomp_comes();
    sim_wait_until(is_posted, &a);
    gomp_after(t, a.share->posted[a.found].point);
    gomp_waited(t, &w, GOMP_AT_CRITICAL, a.share->posted[a.found].when);
    gomp_out();
}

/* ---- sections and single */

static unsigned next_section(struct gomp_thread *t) {
    struct gomp_share *s = t->share;
    return s->at < s->end ? (unsigned)++s->at : 0;
}

unsigned GOMP_sections_start(unsigned count);
unsigned GOMP_sections_start(unsigned count) {
    struct gomp_thread *t = gomp_in();
    next_share(t)->end = count;
    unsigned number = next_section(t);
    gomp_out();
    return number;
}

unsigned GOMP_sections_next(void);
unsigned GOMP_sections_next(void) {
    struct gomp_thread *t = gomp_in();
    unsigned number = next_section(t);
    gomp_out();
    return number;
}

static struct gomp_share *prepare_sections(struct gomp_team *team, void *count) {
    share_in(team, 1)->end = *(unsigned *)count;
    return team->shares;
}

void GOMP_parallel_sections(void (*fn)(void *), void *data, unsigned n, unsigned count,
                            unsigned flags);
void GOMP_parallel_sections(void (*fn)(void *), void *data, unsigned n, unsigned count,
                            unsigned flags) {
    (void)flags;
    gomp_region(fn, data, n, prepare_sections, &count);
}

void GOMP_sections_end(void);
void GOMP_sections_end(void) {
    gomp_barrier(false);
}

bool GOMP_sections_end_cancel(void);
bool GOMP_sections_end_cancel(void) {
    return gomp_barrier(true);
}

void GOMP_sections_end_nowait(void);
void GOMP_sections_end_nowait(void) {
}

static bool is_first(struct gomp_thread *t) {
    struct gomp_share *s = next_share(t);
    bool first = !s->taken;
    s->taken = true;
    return first;
}

bool GOMP_single_start(void);
bool GOMP_single_start(void) {
    bool first = is_first(gomp_in());
    gomp_out();
    return first;
}

void *GOMP_single_copy_start(void);
void *GOMP_single_copy_start(void) {
    struct gomp_thread *t = gomp_in();
    bool first = is_first(t);
    gomp_out();
    if (first)
        return NULL;
    gomp_barrier(false);
    return t->team->copied;
}

void GOMP_single_copy_end(void *data);
void GOMP_single_copy_end(void *data) {
    gomp_self()->team->copied = data;
    gomp_barrier(false);
}

/* ---- locks: the seed draws who is next */

struct lock {
    struct lock *next;
    const void *address;
    struct gomp_thread *holder;
    int depth;
    struct gomp_point last;
    uint64_t when;
};

static struct lock *lock_of(const void *address) {
    static struct lock *all;
    struct lock *l = all;
    while (l != NULL && l->address != address)
        l = l->next;
    if (l != NULL)
        return l;
    l = calloc(1, sizeof *l);
    if (l == NULL)
        sim_fail("no memory for a lock");
    l->address = address;
    l->next = all;
    return all = l;
}

static bool is_free(void *lock) {
    return ((struct lock *)lock)->holder == NULL;
}

static void take(const void *address, enum gomp_wait kind) {
    struct gomp_thread *t = gomp_in();
    struct lock *l = lock_of(address);
    if (l->holder == t) { /* nested */
        l->depth++;
        gomp_out();
        return;
    }
    struct gomp_waiting w = gomp_comes();
    sim_wait_until(is_free, l);
    l->holder = t;
    l->depth = 1;
    gomp_takes_time();
    gomp_after(t, l->last);
    gomp_waited(t, &w, kind, l->when);
    gomp_out();
}

static int try(const void *address) {
    struct gomp_thread *t = gomp_in();
    struct lock *l = lock_of(address);
    if (l->holder == NULL || l->holder == t) {
        if (l->holder == NULL)
            gomp_after(t, l->last);
        l->depth = l->holder == t ? l->depth + 1 : 1;
        l->holder = t;
    }
    int depth = l->holder == t ? l->depth : 0;
    gomp_out();
    return depth;
}

static void give(const void *address) {
    struct gomp_thread *t = gomp_in();
    struct lock *l = lock_of(address);
    if (--l->depth == 0) {
        l->holder = NULL;
        l->last = gomp_here(t);
        l->when = gomp_now();
        gomp_wake();
    }
    gomp_out();
}

static const char unnamed, atomics;

#define LOCK(start, end, parameter, address, kind)                                                 \
    void start(parameter);                                                                         \
    void start(parameter) {                                                                        \
        take(address, kind);                                                                       \
    }                                                                                              \
    void end(parameter);                                                                           \
    void end(parameter) {                                                                          \
        give(address);                                                                             \
    }

LOCK(GOMP_critical_start, GOMP_critical_end, void, &unnamed, GOMP_AT_CRITICAL)
LOCK(GOMP_critical_name_start, GOMP_critical_name_end, void **name, name, GOMP_AT_CRITICAL)
LOCK(GOMP_atomic_start, GOMP_atomic_end, void, &atomics, GOMP_AT_CRITICAL)
LOCK(omp_set_lock, omp_unset_lock, void *lock, lock, GOMP_AT_LOCK)
LOCK(omp_set_nest_lock, omp_unset_nest_lock, void *lock, lock, GOMP_AT_LOCK)

int omp_test_lock(void *lock);
int omp_test_lock(void *lock) {
    return lock_of(lock)->holder == NULL && try(lock) > 0;
}

int omp_test_nest_lock(void *lock);
int omp_test_nest_lock(void *lock) {
    return try(lock);
}

void omp_init_lock(void *lock);
void omp_init_lock(void *lock) {
    *lock_of(lock) = (struct lock){.next = lock_of(lock)->next, .address = lock};
}

void omp_init_nest_lock(void *lock);
void omp_init_nest_lock(void *lock) {
    omp_init_lock(lock);
}

void omp_destroy_lock(void *lock);
void omp_destroy_lock(void *lock) {
    (void)lock;
}

void omp_destroy_nest_lock(void *lock);
void omp_destroy_nest_lock(void *lock) {
    (void)lock;
}

/* ---- cancellation */

enum { PARALLEL = 1, LOOP_ = 2, SECTIONS = 4, TASKGROUP = 8 };

static bool is_cancelled(const struct gomp_thread *t, int which) {
    if (which == TASKGROUP && t->task->home != NULL && t->task->home->cancelled)
        return true;
    return t->team != NULL && t->team->cancelled;
}

bool GOMP_cancellation_point(int which);
bool GOMP_cancellation_point(int which) {
    const struct gomp_thread *t = gomp_in();
    bool cancelled = is_cancelled(t, which);
    gomp_out();
    return cancelled;
}

/* Loops and sections are left by whoever sees it: nobody waits in them. */
bool GOMP_cancel(int which, bool is);
bool GOMP_cancel(int which, bool is) {
    struct gomp_thread *t = gomp_in();
    if (is && which == TASKGROUP && t->task->home != NULL)
        t->task->home->cancelled = true;
    if (is && which == PARALLEL && t->team != NULL)
        t->team->cancelled = true;
    bool cancelled = is_cancelled(t, which) || (is && (which & (LOOP_ | SECTIONS)) != 0);
    gomp_wake();
    gomp_out();
    return cancelled;
}
