
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/lookup.h"
#include "base/mem.h"
#include "format/trace_choice.h"
#include "measure/core/core.h"
#include "measure/callpath/entry.h"
#include "measure/callpath/loops.h"
#include "measure/core/state_write.h"
#include "measure/core/thread.h"
#include "measure/trace/trace_area.h"
#include "measure/trace/trace_hooks.h"

enum { MOST_LEFT_OUT = 1 << 14 }; /* channels and gaps that are kept until they are written */

static struct lc_trace_choice choice;
static uint32_t region;            /* of the phase; LC_NONE: not asked for yet */
static const struct lc_loop *loop; /* that opened the window; NULL: none is open, or a phase did */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of what follows; before defs_lock */
static struct window {
    bool is_open;
    uint32_t number;                     /* of the last stretch that began */
    uint64_t opened_ticks, closed_ticks; /* of the last one, and of the last one that closed */
} now;
static struct lc_def_left_out *left_out;
static size_t n_left_out, cap_left_out;
static struct lc_lookup left_out_at;

/* ---- what is left out */

static bool is_same(const struct lc_def_left_out *a, const struct lc_def_left_out *b) {
    return a->comm == b->comm && a->peer == b->peer && a->tag == b->tag && a->half == b->half &&
           a->gap == b->gap;
}

static void write_left_out(void) {
    if (n_left_out > 0)
        lc_trace_define(LC_DEF_LEFT_OUT, NULL, 0, left_out, n_left_out * sizeof *left_out);
    n_left_out = 0;
    lc_lookup_free(&left_out_at);
}

static void count(const struct lc_def_left_out *one) {
    uint64_t hash = lc_hash_key((uint64_t)one->comm << 32 | one->tag) ^
                    lc_hash_key((uint64_t)one->peer << 32 | one->gap << 2 | one->half);
    uint32_t at = LC_LOOKUP(&left_out_at, hash, i, is_same(&left_out[i], one));
    if (at != LC_NONE) {
        left_out[at].count += one->count;
        return;
    }
    if (n_left_out == MOST_LEFT_OUT)
        write_left_out();
    if (lc_grow(&left_out, &cap_left_out, n_left_out + 1, sizeof *left_out) != LC_OK ||
        lc_lookup_add(&left_out_at, hash, (uint32_t)n_left_out) != LC_OK) {
        lc_tracing.area->defs.lost_records++;
        return;
    }
    left_out[n_left_out++] = *one;
}

void lc_trace_count_outside(struct lc_call *call, struct lc_comm *comm,
                            struct lc_def_left_out one) {
    one.comm = lc_trace_comm_id(call, comm);
    pthread_mutex_lock(&lock);
    count(&one);
    pthread_mutex_unlock(&lock);
}

void lc_trace_window_finish(void) {
    if (!lc_tracing.counts)
        return;
    pthread_mutex_lock(&lock);
    write_left_out();
    pthread_mutex_unlock(&lock);
}

/* ---- windows in the stream of a thread */

/* The node of the time outside of windows, below the outermost function; LC_NONE: none is known. */
static uint32_t not_traced(const struct lc_entry *entry) {
    if (entry == NULL || entry->n_items == 0 || entry->items[0].node == LC_NONE)
        return LC_NONE;
    pthread_mutex_lock(&lc_core.lock);
    uint32_t name = lc_state_add_name(LC_NOT_TRACED);
    uint32_t node = name != LC_NONE
                        ? lc_state_child(entry->items[0].node, LC_RAW_REGION, name, 0, 0, 0)
                        : LC_NONE;
    pthread_mutex_unlock(&lc_core.lock);
    return node;
}

static void put_timed(struct lc_trace_stream *s, enum lc_rec_kind kind, uint64_t ticks) {
    lc_trace_put1(s, lc_rec_word(kind, ticks - s->base_ticks));
}

/* The time until `until` was outside of windows. Threads of OpenMP's runtime are nowhere then. */
static void put_gap(struct lc_trace_stream *s, const struct lc_entry *entry, uint64_t until) {
    uint64_t since = s->closed_ticks != 0 ? s->closed_ticks : s->base_ticks + s->begin_ticks;
    uint32_t node = s->worker == 0 && since < until ? not_traced(entry) : LC_NONE;
    if (node == LC_NONE)
        return;
    lc_trace_put2(s, lc_rec_word(LC_REC_REGION_IN, since - s->base_ticks),
                  node | (uint64_t)1 << 32);
    put_timed(s, LC_REC_REGION_OUT, until);
}

void lc_trace_window_seen(struct lc_call *call) {
    struct lc_thread *t = call->thread;
    struct lc_trace_stream *s = t->trace;
    pthread_mutex_lock(&lock);
    const struct window w = now;
    pthread_mutex_unlock(&lock);
    uint32_t number = w.is_open ? w.number : 0;
    if (!(call->mode & LC_MODE_ON)) { /* later, when it is measured again */
        atomic_fetch_or_explicit(&t->mode, LC_MODE_WINDOW, memory_order_relaxed);
        return;
    }
    if (s == NULL || s->window == number)
        return;
    if (s->window != 0) {
        put_timed(s, LC_REC_OFF, w.closed_ticks);
        s->closed_ticks = w.closed_ticks;
    }
    if (number != 0) {
        if (lc_tracing.windows)
            put_gap(s, call->entry, w.opened_ticks);
        lc_trace_put2(s, lc_rec_word(LC_REC_WINDOW, w.opened_ticks - s->base_ticks), number);
    }
    s->window = number;
    lc_trace_renew_if_full(s);
}

struct lc_trace_stream *lc_trace_window_late(struct lc_call *call) {
    struct lc_trace_stream *s = call->thread->trace;
    if (s == NULL || !(call->mode & LC_MODE_ON))
        return NULL;
    put_gap(s, call->entry, call->begin);
    s->closed_ticks = call->end;
    lc_trace_put2(s, lc_rec_word(LC_REC_CALL, call->begin - s->base_ticks),
                  call->entry->path->node);
    call->mode |= LC_MODE_RECORD;
    return s;
}

bool lc_trace_window_ends(const struct lc_trace_stream *s) {
    return !lc_tracing.windows || s->window != 0;
}

/* ---- opening and closing; only the first thread changes `now`, so it reads it without the lock */

static void tell(struct lc_call *call, uint32_t clear, uint32_t set) {
    struct lc_thread *t = call->thread;
    lc_mode_change(clear, set | LC_MODE_WINDOW);
    atomic_fetch_and_explicit(&t->mode, ~(uint32_t)LC_MODE_WINDOW, memory_order_relaxed);
    lc_trace_window_seen(call);
    call->mode = (call->mode & ~clear) | set;
}

static void open_window(struct lc_call *call) {
    pthread_mutex_lock(&lock);
    write_left_out();
    now.is_open = true;
    now.number++;
    now.opened_ticks = call->begin;
    atomic_store_explicit(&lc_tracing.window, now.number, memory_order_relaxed);
    atomic_store_explicit(&lc_tracing.stretch, now.number, memory_order_relaxed);
    pthread_mutex_unlock(&lock);
    tell(call, 0, LC_MODE_RECORD);
}

static void close_window(struct lc_call *call) {
    pthread_mutex_lock(&lock);
    now.is_open = false;
    now.closed_ticks = call->begin;
    pthread_mutex_unlock(&lock);
    loop = NULL;
    tell(call, LC_MODE_RECORD, 0);
}

static void stop(struct lc_call *call) {
    struct lc_trace_stream *s = call->thread->trace;
    atomic_store_explicit(&lc_tracing.counts, true, memory_order_relaxed);
    pthread_mutex_lock(&lock);
    if (now.is_open)
        now.closed_ticks = call->begin;
    pthread_mutex_unlock(&lock);
    if (s != NULL)
        put_timed(s, LC_REC_OFF, call->begin);
}

/* In a gap between windows none begins, but the number is another one all the same. Other threads
 * get to know it at their next event. */
static void go_on(struct lc_call *call) {
    struct lc_thread *t = call->thread;
    struct lc_trace_stream *s = t->trace;
    pthread_mutex_lock(&lock);
    bool recorded = now.is_open;
    now.number++;
    now.opened_ticks = call->begin;
    atomic_store_explicit(&lc_tracing.stretch, now.number, memory_order_relaxed);
    pthread_mutex_unlock(&lock);
    if (recorded) {
        lc_mode_change(0, LC_MODE_WINDOW);
        atomic_fetch_and_explicit(&t->mode, ~(uint32_t)LC_MODE_WINDOW, memory_order_relaxed);
    }
    if (s == NULL)
        return;
    if (recorded) {
        lc_trace_put2(s, lc_rec_word(LC_REC_WINDOW, call->begin - s->base_ticks), now.number);
        s->window = now.number;
    } else {
        put_timed(s, LC_REC_ON, call->begin);
    }
}

void lc_trace_control(struct lc_call *call, bool on) {
    if (on)
        go_on(call);
    else
        stop(call);
}

void lc_trace_window_first(struct lc_call *call) {
    struct lc_trace_stream *s = call->thread->trace;
    if (lc_tracing.windows) {
        lc_trace_window_seen(call);
    } else if (s != NULL) {
        s->window = lc_tracing.stretch;
        if (lc_tracing.counts && s->window != 0)
            lc_trace_put2(s, lc_rec_word(LC_REC_WINDOW, call->begin - s->base_ticks), s->window);
    }
}

void lc_trace_window_region_begin(struct lc_call *call) {
    struct lc_thread *t = call->thread;
    if (choice.what != LC_RECORD_PHASE || t->index != 0 || t->n_named > 0 || now.is_open)
        return;
    if (region == LC_NONE)
        region = lc_region_by_name(choice.phase);
    if (region != LC_NONE && (uint32_t)call->entry->fn_ctx == lc_region_fn(region, false))
        open_window(call);
}

void lc_trace_window_region_end(struct lc_call *call, const struct lc_region_open *open) {
    if (choice.what == LC_RECORD_PHASE && call->thread->index == 0 && now.is_open &&
        open->name == region && call->thread->n_named == 0)
        close_window(call);
}

/* A window that another loop opened is over where that one is found to be inside of this one. */
static void visited(const struct lc_loop *of, struct lc_call *call) {
    if (now.is_open && (of == loop ? of->count == choice.until + 1 : !lc_loop_goes_on(loop)))
        close_window(call);
    if (!now.is_open && of->count == choice.from && lc_loop_goes_on(of) && !lc_loop_is_inside(of)) {
        loop = of;
        open_window(call);
    }
}

void lc_trace_window_init(void) {
    const char *text = lc_option("LATECOMER_TRACE");
    if (!lc_trace_choose(text, &choice) || choice.what <= LC_RECORD_EVERYTHING) {
        now.is_open = true;
        now.number = lc_tracing.stretch = lc_core.start_stopped ? 0 : 1;
        lc_tracing.counts = lc_core.start_stopped;
        return;
    }
    lc_tracing.windows = lc_tracing.counts = true;
    lc_core.mode &= ~(uint32_t)LC_MODE_RECORD;
    region = LC_NONE;
    if (choice.what == LC_RECORD_ITERATIONS) {
        lc_loops_due[0] = choice.from;
        lc_loops_due[1] = choice.until + 1;
        lc_loops_visited = visited;
    }
}
