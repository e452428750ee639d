#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "measure/hot/locations.h"
#include "measure/hot/polls.h"
#include "base/err.h"
#include "base/timer.h"
#include "measure/clocks/clocks_hooks.h"
#include "measure/core/core.h"
#include "measure/hot/hot.h"
#include "measure/callpath/entry.h"
#include "measure/callpath/budget.h"
#include "measure/samples/sampler.h"
#include "measure/core/thread.h"
#include "measure/trace/trace_area.h"
#include "measure/unwind/modules.h"

/* Calls that the program makes inside its callbacks: MPI is in a call of this thread already, and
 * runs the program's operator, attribute function, error handler or function of a generalized
 * request. They are counted on their own path (the frames of MPI are left out of it) and forwarded;
 * their time and their bytes belong to the call that MPI is in, so that nothing is booked twice.
 * Not MPI_Abort: it may be called in the handler of a signal that came while our lock was held. */

/* MPI's own calls of its functions, those of its plugins included, are not the program's. */
static bool made_by_program(uint64_t ra, uint32_t fn) {
    pthread_mutex_lock(&lc_core.lock);
    const struct lc_module *m = lc_module_find(ra - 1);
    bool mpi = m != NULL && m->kind == LC_MODULE_MPI;
    pthread_mutex_unlock(&lc_core.lock);
    return !mpi || lc_bindings_forwards(ra, lc_fn_names[fn]);
}

/* a call of this thread, which is inside an MPI call, by the program? Counted then. */
static LC_COLD void lc_callback_call(struct lc_thread *t, uint32_t fn, uint64_t ra,
                                     uint64_t frame) {
    uint32_t mode = atomic_load_explicit(&t->mode, memory_order_relaxed);
    if ((mode & (LC_MODE_LIVE | LC_MODE_ON)) != (LC_MODE_LIVE | LC_MODE_ON) || lc_core.forked ||
        fn >= LC_FN_COUNT || fn == LC_FN_Abort || t->in_callback || !made_by_program(ra, fn))
        return;
    if (t->callback_entry == NULL && (t->callback_entry = lc_plain_entry()) == NULL)
        return;
    bool cold = t->cold;
    t->in_callback = true; /* an entry that cannot be kept is made in callback_entry */
    struct lc_entry *entry = lc_entry_find(t, fn, ra, frame);
    if (!entry->pass && entry->path != NULL) {
        lc_row_add(lc_row(t, entry->path, 0), 0, 0, 0);
        atomic_fetch_add_explicit(&lc_core.n_in_callbacks, 1, memory_order_relaxed);
    }
    t->in_callback = false;
    t->cold = cold;
}

/* A program may make any number of threads, each of which ends soon. So when APART of them have
 * been locations of their own, those that end leave their location, with all that it remembers, to
 * the next new thread: what it takes in memory is bounded by how many threads live at once. */
enum { APART = 256 };

static pthread_key_t exit_key;
static bool exit_key_made;
static struct lc_thread *kept;      /* with lc_core.lock: their threads have ended */
static struct lc_thread *resting;   /* with lc_core.lock: for any new thread */
static struct lc_thread unmeasured; /* of threads that are not measured: mode 0 */

/* Its location waits for a thread that takes its place. */
static void keep(struct lc_thread *t) {
    lc_parts_thread_leaves(t);
    latecomer_private_self = &unmeasured;
    pthread_mutex_lock(&lc_core.lock);
    t->next_kept = kept;
    kept = t;
    pthread_mutex_unlock(&lc_core.lock);
}

bool lc_thread_take_over(void) {
    if (lc_self != NULL || lc_core.forked)
        return false;
    pthread_mutex_lock(&lc_core.lock);
    struct lc_thread *t = kept;
    if (t != NULL)
        kept = t->next_kept;
    pthread_mutex_unlock(&lc_core.lock);
    if (t == NULL)
        return false;
    t->state->tid = (int32_t)syscall(SYS_gettid);
    lc_entries_other_stack(t);
    lc_parts_thread_takes_over(t);
    pthread_setspecific(exit_key, t);
    latecomer_private_self = t;
    return true;
}

/* A trace has a stream for each thread, and contexts of Python belong to one. */
static bool will_rest(const struct lc_thread *t) {
    pthread_mutex_lock(&lc_core.lock);
    bool many = lc_core.n_threads > APART;
    pthread_mutex_unlock(&lc_core.lock);
    return many && t->trace == NULL && t->python == NULL;
}

/* The calling thread, which is none yet, goes on as one that has ended; NULL: there is none. */
static struct lc_thread *go_on(void) {
    pthread_mutex_lock(&lc_core.lock);
    struct lc_thread *t = resting;
    if (t != NULL)
        resting = t->next_kept;
    pthread_mutex_unlock(&lc_core.lock);
    if (t == NULL)
        return NULL;
    uint64_t now = lc_ticks();
    t->rests = false;
    t->depth = t->n_regions = t->n_named = t->ctx = 0;
    atomic_store_explicit(&t->named_region, 0, memory_order_relaxed);
    t->in_callback = t->cold = false;
    t->last = t->start_entry;
    t->last_ticks = now;
    t->state->tid = (int32_t)syscall(SYS_gettid);
    t->state->idle_ticks += now - t->state->end_ticks;
    t->state->end_ticks = 0;
    lc_entries_other_stack(t);
    return t;
}

static void thread_gone(void *value) {
    struct lc_thread *t = value;
    if (!lc_core.forked)
        lc_polls_before(t, lc_ticks());
    if (!lc_core.forked && lc_parts_keep()) {
        keep(t);
        return;
    }
    latecomer_private_self = &unmeasured;
    if (lc_core.forked)
        return;
    struct lc_call call = {.thread = t, .entry = t->last, .begin = lc_ticks()};
    call.begin = call.begin > t->last_ticks ? call.begin : t->last_ticks; /* struct lc_call: own */
    call.mode = atomic_load_explicit(&t->mode, memory_order_relaxed);
    t->rests = will_rest(t);
    lc_parts_thread_end(&call);
    pthread_mutex_lock(&lc_core.lock);
    t->state->end_ticks = call.begin;
    if (t->rests) {
        atomic_store_explicit(&t->state->call_begin, 0, memory_order_relaxed);
        t->next_kept = resting;
        resting = t;
        pthread_mutex_unlock(&lc_core.lock);
        return;
    }
    atomic_fetch_add_explicit(&lc_core.n_lost, t->spill_row->count, memory_order_relaxed);
    t->counts.counted += lc_budget_counted(t);
    lc_path_counts_add(&lc_core.counts, &t->counts);
    struct lc_thread **at = &lc_core.threads;
    while (*at != NULL && *at != t)
        at = &(*at)->next;
    if (*at != NULL)
        *at = t->next;
    pthread_mutex_unlock(&lc_core.lock);
    lc_parts_thread_free(t);
    free(t->scratch_requests);
    free(t->scratch_statuses);
    if (t->clocks == NULL && t->trace == NULL) /* else these may still look at it */
        free(t);
}

static void forked_child(void) {
    /* The memory is the parent's: nothing of this process belongs there. */
    struct lc_thread *t = lc_self;
    lc_core.forked = true;
    lc_core.mode = 0;
    if (t != NULL && t != &unmeasured)
        lc_parts_fork(t);
    latecomer_private_self = &unmeasured;
}

enum lc_err lc_threads_init(void) {
    if (pthread_key_create(&exit_key, thread_gone) != 0 ||
        pthread_atfork(NULL, NULL, forked_child) != 0)
        return lc_fail(LC_ERR_SYSTEM, "no thread-specific data left");
    exit_key_made = true;
    return LC_OK;
}

static struct lc_state_thread *location_take(uint32_t *index) {
    struct lc_state_table *table = &lc_core.state->threads;
    uint32_t n = atomic_load_explicit(&table->count, memory_order_relaxed);
    if (n == table->capacity)
        return NULL;
    *index = n;
    struct lc_state_thread *s = (struct lc_state_thread *)(lc_core.base + table->offset) + n;
    s->index = n;
    s->tid = (int32_t)syscall(SYS_gettid);
    s->begin_ticks = lc_ticks();
    atomic_store_explicit(&table->count, n + 1, memory_order_release);
    return s;
}

/* A location of its own; NULL: no memory, or no room in the state. */
static struct lc_thread *thread_make(void) {
    struct lc_thread *t = aligned_alloc(64, (sizeof *t + 63) & ~(size_t)63);
    if (t == NULL)
        return NULL;
    memset(t, 0, sizeof *t);
    t->expected = t;
    if (lc_parts_thread_make(t) != LC_OK)
        goto fail_parts;
    for (int i = 0; i < LC_TYPE_SLOTS; i++)
        t->type_slots[i].size_bytes = -1;
    pthread_mutex_lock(&lc_core.lock);
    t->state = location_take(&t->index);
    if (t->state != NULL) {
        t->next = lc_core.threads;
        lc_core.threads = t;
        lc_core.n_threads++;
        atomic_store_explicit(&t->mode, lc_core.mode, memory_order_relaxed);
    }
    pthread_mutex_unlock(&lc_core.lock);
    if (t->state == NULL)
        goto fail_state;
    t->next_request = (uint64_t)t->index << 40;
    t->last_ticks = t->state->begin_ticks;
    return t;

fail_state:
    lc_parts_thread_free(t);
fail_parts:
    free(t);
    return NULL;
}

/* NULL: this thread cannot be measured */
static LC_COLD struct lc_thread *thread_attach(void) {
    if (lc_core.state == NULL || !exit_key_made || lc_core.forked ||
        (lc_core.mode & LC_MODE_LIVE) == 0)
        return NULL;
    struct lc_thread *t = go_on();
    if (t == NULL && (t = thread_make()) == NULL) {
        latecomer_private_self = &unmeasured;
        atomic_fetch_add_explicit(&lc_core.n_lost, 1, memory_order_relaxed);
        return NULL;
    }
    pthread_setspecific(exit_key, t);
    latecomer_private_self = t;
    struct lc_call call = {.thread = t, .entry = t->start_entry, .begin = t->last_ticks};
    call.mode = lc_core.mode;
    lc_parts_thread_new(&call);
    return t;
}

struct lc_thread *lc_thread_here(void) {
    struct lc_thread *t = lc_self;
    if (t == NULL)
        t = thread_attach();
    return t == &unmeasured ? NULL : t;
}

/* the time since the last event was our own work: not booked */
static void thread_exclude(struct lc_thread *t) {
    t->last = t->off_entry;
    t->last_ticks = lc_ticks();
}

uint64_t lc_threads_lost(void) {
    uint64_t lost = atomic_load_explicit(&lc_core.n_lost, memory_order_relaxed);
    for (const struct lc_thread *t = lc_core.threads; t != NULL; t = t->next)
        lost += t->spill_row->count;
    return lost;
}

/* What another thread asked this one to forget. */
static void forget(struct lc_thread *t, uint32_t what) {
    atomic_fetch_and_explicit(&t->mode, ~(uint32_t)LC_MODE_FLUSH, memory_order_relaxed);
    if (what & LC_MODE_FLUSH_PATHS)
        lc_thread_paths_flush(t);
    if (what & LC_MODE_FLUSH_TYPES)
        for (int i = 0; i < LC_TYPE_SLOTS; i++)
            t->type_slots[i].size_bytes = -1;
    if (what & LC_MODE_FLUSH_COMMS)
        memset(t->comm_slots, 0, sizeof t->comm_slots);
    if (what & LC_MODE_RESUMED)
        thread_exclude(t);
}

/* longjmp, or an exception, has left the wrapper that was in progress, if the stack is used by
 * others now: by a frame outside of it, or where its return address was. */
__attribute__((no_sanitize("address", "thread"))) static bool was_left(const struct lc_thread *t,
                                                                       uint64_t frame) {
    enum { NEAR = 65536 }; /* further away it may be another stack, which is gone */
    bool overwritten = t->outer_frame - frame < NEAR &&
                       lc_address_of(((const uint64_t *)t->outer_frame)[1]) != t->outer_ra;
    return frame >= t->outer_frame || overwritten;
}

LC_COLD bool lc_enter_cold(struct lc_call *call, uint64_t ra, uint64_t frame) {
    struct lc_thread *t = lc_self;
    if (t == NULL && (t = thread_attach()) == NULL)
        return false;
    if (t->depth != 0) {
        if (t == &unmeasured || !was_left(t, frame)) { /* inside an MPI call */
            if (t != &unmeasured)
                lc_callback_call(t, call->fn, ra, frame);
            return false;
        }
        t->depth = 0;
    }
    uint32_t mode = atomic_load_explicit(&t->mode, memory_order_relaxed);
    if ((mode & LC_MODE_LIVE) == 0 || lc_core.forked)
        return false;
    call->thread = t;
    call->mode = mode & ~(uint32_t)LC_MODE_FLUSH;
    call->begin = lc_ticks();
    lc_polls_before(t, call->begin);
    if (mode & LC_MODE_FLUSH)
        forget(t, mode);
    if (call->begin < t->last_ticks && t->last == t->off_entry) /* it was off until just now */
        call->begin = t->last_ticks;
    t->depth = 1;
    t->outer_frame = frame;
    t->outer_ra = ra;
    if (mode & LC_MODE_ON) {
        call->entry = lc_entry_find(t, call->fn, ra, frame);
    } else {
        call->entry = t->off_entry;
        t->last = t->off_entry;
    }
    if (call->entry->pass) {
        t->depth = 0;
        t->cold = false;
        return false;
    }
    if (mode & LC_MODE_CHECK)
        lc_entry_check(t, call->entry, frame);
    lc_book_gap(call);
    if (lc_samples_new(t) || lc_samples_long_gap(t, call->begin))
        lc_samples_gap(call);
    lc_entry_made(call);
    if (mode & LC_MODE_WINDOW)
        lc_trace_window_seen(call);
    return true;
}

LC_COLD void lc_entry_made(struct lc_call *call) {
    struct lc_thread *t = call->thread;
    uint64_t begin = call->begin;
    t->cold = false;
    lc_sites_take(t, call->entry, 0); /* from now on a use shows in gap_ticks */
    lc_skip_own_work(call);
    if (t->came_back)
        t->counts.remade_ticks += call->begin - begin;
    t->came_back = false;
    lc_budget_rare(call, call->begin - begin);
}
