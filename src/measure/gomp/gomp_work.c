#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>

#include "measure/core/core.h"
#include "measure/gomp/gomp.h"
#include "measure/openmp/tasks.h"
#include "measure/openmp/team.h"

enum { DIMENSIONS = 64 }; /* of ordered loops with dependences; C's compilers nest no deeper */

/* NULL: it is in no region. */
static struct lc_gomp_share *share_of(struct lc_gomp_thread *self) {
    return self != NULL && self->share->region != NULL ? self->share : NULL;
}

static void work_ends(struct lc_gomp_thread *self, struct lc_gomp_share *share) {
    if (share->turn) /* without a last call of GOMP_loop_ordered_.._next: cancelled */
        lc_gomp_turn_passes(NULL);
    if (share->work != 0)
        lc_omp_work(share->work, OMPT_END, share->region, self->running, 0, NULL);
    share->work = 0;
}

void lc_gomp_work_begin(int work, const void *code) {
    struct lc_gomp_thread *self = lc_gomp_self();
    struct lc_gomp_share *share = share_of(self);
    if (share == NULL)
        return;
    work_ends(self, share); /* `single nowait`, whose end nobody tells */
    share->work = work;
    lc_omp_work(work, OMPT_BEGIN, share->region, self->running, 0, code);
}

void lc_gomp_work_end(void) {
    struct lc_gomp_thread *self = lc_gomp_self();
    struct lc_gomp_share *share = share_of(self);
    if (share != NULL)
        work_ends(self, share);
}

/* Which barriers are explicit, GCC's code does not tell. */
void lc_gomp_barrier_begin(const void *code) {
    struct lc_gomp_thread *self = lc_gomp_self();
    struct lc_gomp_share *share = share_of(self);
    if (share == NULL)
        return;
    work_ends(self, share);
    lc_omp_sync_region(OMPT_SYNC_IMPLICIT, OMPT_BEGIN, share->region, NULL, code);
}

void lc_gomp_barrier_end(const void *code) {
    struct lc_gomp_share *share = share_of(lc_gomp_self());
    if (share != NULL)
        lc_omp_sync_region(OMPT_SYNC_IMPLICIT, OMPT_END, share->region, NULL, code);
}

/* Those who do not execute a `single copyprivate` wait in here for the one who does. */
void *lc_gomp_entry_single_copy_start(void) {
    const void *code = __builtin_return_address(0);
    struct lc_gomp_call room, *call = lc_gomp_call_may_begin(&room);
    void *(*real)(void) = (void *(*)(void))lc_gomp_real(LC_GOMP_single_copy_start, code);
    struct lc_gomp_share *share = share_of(lc_gomp_self());
    if (share == NULL) {
        lc_gomp_call_end(call);
        return real();
    }
    lc_gomp_work_end();
    lc_omp_barrier_perhaps(code);
    lc_gomp_call_goes(call);
    void *data = real();
    lc_gomp_call_returns(call);
    lc_omp_barrier_was_there(data != NULL);
    if (data == NULL)
        lc_gomp_work_begin(OMPT_WORK_SINGLE, code);
    lc_gomp_call_end(call);
    return data;
}

void lc_gomp_apart_begin(struct lc_gomp_share *apart) {
    struct lc_gomp_thread *self = lc_gomp_self_known();
    *apart = (struct lc_gomp_share){0};
    if (self == NULL)
        return;
    apart->outer = self->share;
    self->share = apart;
}

void lc_gomp_apart_end(const struct lc_gomp_share *apart) {
    struct lc_gomp_thread *self = lc_gomp_self();
    if (self != NULL && self->share == apart)
        self->share = apart->outer;
}

/* ---- ordered loops: libgomp lets the next thread in when this one takes its next iterations */

static uint64_t turns_of(const struct lc_gomp_share *share) {
    char *fork = (char *)share->region - offsetof(struct lc_gomp_fork, region);
    _Atomic bool *used = &((struct lc_gomp_fork *)fork)->turns;
    if (!atomic_load_explicit(used, memory_order_relaxed))
        atomic_store_explicit(used, true, memory_order_relaxed);
    return (uint64_t)(uintptr_t)share->region;
}

void lc_gomp_entry_ordered_start(void) {
    const void *code = __builtin_return_address(0);
    struct lc_gomp_call room, *call = lc_gomp_call_may_begin(&room);
    void (*real)(void) = (void (*)(void))lc_gomp_real(LC_GOMP_ordered_start, code);
    struct lc_gomp_share *share = share_of(lc_gomp_self());
    if (share == NULL || share->turn) {
        lc_gomp_call_end(call);
        real();
        return;
    }
    lc_omp_mutex_acquire(OMPT_MUTEX_ORDERED, 0, 0, turns_of(share), code);
    lc_gomp_call_goes(call);
    real();
    lc_gomp_call_returns(call);
    lc_omp_mutex_acquired(OMPT_MUTEX_ORDERED, turns_of(share), code);
    share->turn = true;
    lc_gomp_call_end(call);
}

bool lc_gomp_turn_passes(const void *code) {
    struct lc_gomp_share *share = share_of(lc_gomp_self());
    if (share == NULL)
        return false;
    if (!share->turn) {
        lc_omp_mutex_acquire(OMPT_MUTEX_ORDERED, 0, 0, turns_of(share), code);
        return true;
    }
    share->turn = false;
    lc_omp_mutex_released(OMPT_MUTEX_ORDERED, turns_of(share), code);
    return false;
}

void lc_gomp_turn_passed(const void *code) {
    struct lc_gomp_share *share = share_of(lc_gomp_self());
    lc_omp_mutex_acquired(OMPT_MUTEX_ORDERED, turns_of(share), code);
    lc_omp_mutex_released(OMPT_MUTEX_ORDERED, turns_of(share), code);
}

/* ---- ordered loops with dependences */

void lc_gomp_doacross_begin(unsigned counts, const void *code) {
    struct lc_gomp_thread *self = lc_gomp_self();
    if (self != NULL)
        self->share->counts = counts;
    lc_gomp_work_begin(OMPT_WORK_LOOP, code);
}

static void tell_iteration(const struct lc_gomp_share *share, const uint64_t *numbers, int type) {
    struct ompt_dependence list[DIMENSIONS];
    if (share->counts > DIMENSIONS)
        return;
    for (unsigned i = 0; i < share->counts; i++)
        list[i] = (struct ompt_dependence){{.value = numbers[i]}, type};
    lc_omp_dependences(NULL, list, (int)share->counts);
}

void lc_gomp_doacross_posts(const uint64_t *iteration) {
    const struct lc_gomp_share *share = share_of(lc_gomp_self());
    if (share != NULL)
        tell_iteration(share, iteration, OMPT_DEPEND_SOURCE);
}

#define EIGHT(a, i)                                                                                \
    (a)[i], (a)[(i) + 1], (a)[(i) + 2], (a)[(i) + 3], (a)[(i) + 4], (a)[(i) + 5], (a)[(i) + 6],    \
        (a)[(i) + 7]

/* The runtime takes as many numbers as the loop has dimensions: more do no harm. */
static void wait_for_iteration(uint64_t *numbers, enum lc_gomp_entry entry, const void *code) {
    struct lc_gomp_call room, *call = lc_gomp_call_may_begin(&room);
    void (*real)(uint64_t, ...) = (void (*)(uint64_t, ...))lc_gomp_real(entry, code);
    const struct lc_gomp_share *share = share_of(lc_gomp_self());
    if (share != NULL)
        lc_omp_sink(true, code);
    lc_gomp_call_goes(call);
    real(EIGHT(numbers, 0), EIGHT(numbers, 8), EIGHT(numbers, 16), EIGHT(numbers, 24),
         EIGHT(numbers, 32), EIGHT(numbers, 40), EIGHT(numbers, 48), EIGHT(numbers, 56));
    lc_gomp_call_returns(call);
    if (share != NULL) {
        tell_iteration(share, numbers, OMPT_DEPEND_SINK);
        lc_omp_sink(false, code);
    }
    lc_gomp_call_end(call);
}

/* Those that were not given lie where the caller has other things: on its stack. */
static void take_numbers(uint64_t *numbers, va_list more) {
    const struct lc_gomp_thread *self = lc_gomp_self();
    unsigned counts = self != NULL ? self->share->counts : DIMENSIONS;
    for (unsigned i = 1; i < counts && i < DIMENSIONS; i++)
        numbers[i] = va_arg(more, uint64_t);
}

void lc_gomp_entry_doacross_wait(long first, ...) {
    const void *code = __builtin_return_address(0);
    uint64_t numbers[DIMENSIONS] = {(uint64_t)first};
    va_list more;
    va_start(more, first);
    take_numbers(numbers, more);
    va_end(more);
    wait_for_iteration(numbers, LC_GOMP_doacross_wait, code);
}

void lc_gomp_entry_doacross_ull_wait(ull first, ...) {
    const void *code = __builtin_return_address(0);
    uint64_t numbers[DIMENSIONS] = {first};
    va_list more;
    va_start(more, first);
    take_numbers(numbers, more);
    va_end(more);
    wait_for_iteration(numbers, LC_GOMP_doacross_ull_wait, code);
}

const char lc_gomp_unnamed = 0, lc_gomp_atomic = 0;

void lc_gomp_lock_init(int kind, uint64_t wait, const void *code) {
    if (lc_gomp_self() != NULL)
        lc_omp_lock_init(kind, 0, 0, wait, code);
}

void lc_gomp_acquire(int kind, uint64_t wait, const void *code) {
    if (lc_gomp_self_known() != NULL)
        lc_omp_mutex_acquire(kind, 0, 0, wait, code);
}

void lc_gomp_acquired(int kind, uint64_t wait, const void *code) {
    if (lc_gomp_self_known() != NULL)
        lc_omp_mutex_acquired(kind, wait, code);
}

void lc_gomp_released(int kind, uint64_t wait, const void *code) {
    if (lc_gomp_self() != NULL)
        lc_omp_mutex_released(kind, wait, code);
}
