/* Begin and end of every call and region, ends of threads, intervals: where the clocks grow. */
#include <string.h>
#include "base/timer.h"

#include "measure/clocks/clock_messages.h"
#include "measure/clocks/backlog.h"
#include "measure/clocks/call_state.h"
#include "measure/clocks/what_if_factors.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/clocks_hooks.h"
#include "measure/clocks/collectives.h"
#include "measure/clocks/intervals.h"
#include "measure/clocks/origins.h"
#include "measure/clocks/polling.h"
#include "measure/clocks/records.h"
#include "measure/clocks/wait_states.h"
#include "measure/core/core.h"
#include "measure/callpath/entry.h"
#include "measure/core/thread.h"
#include "piggyback/cpvec.h"
#include "piggyback/logical.h"

struct lc_clk lc_clk = {.lock = LC_BIASED_INITIALIZER, .memory_fd = -1, .comm = MPI_COMM_NULL};

void lc_clk_all_lock(void) {
    bool seldom = false;
    lc_biased_lock(&lc_clk.lock);
    if (!lc_clk.clocks_meet)
        return;
    for (struct lc_clk_thread *k = lc_clk.threads; k != NULL; k = k->next)
        seldom |= lc_owned_visit(&k->lock);
    lc_owned_visits_seen(seldom);
    for (struct lc_clk_thread *k = lc_clk.threads; k != NULL; k = k->next)
        lc_owned_wait(&k->lock);
}

void lc_clk_all_unlock(void) {
    if (lc_clk.clocks_meet) {
        bool often = lc_clk_visits_often();
        for (struct lc_clk_thread *k = lc_clk.threads; k != NULL; k = k->next)
            lc_owned_leave(&k->lock, often);
    }
    lc_biased_unlock(&lc_clk.lock);
}

_Static_assert((int)LC_RARER_ONE_OF == (int)LC_LOT_ONE_OF, "what is told is what is done");

void lc_clk_set_grain(struct lc_clk_thread *k) {
    bool each = k->l.vec.n_whatif > 0 || k->l.vec.counting;
    k->l.grain = each ? 0 : 2 * lc_clk.slow_ticks;
    bool draws = lc_clk.rarer && !each && k == lc_clk.threads;
    if (draws && k->l.lot == 0)
        lc_cpvec_keep(&k->l.vec, &lc_clk.kept);
    else if (!draws && k->l.lot > 0)
        lc_clk_spread(k);
    k->l.lot = draws ? 63u - (uint32_t)__builtin_clzll(LC_RARER_US * lc_clk.slow_ticks) : 0;
    k->l.left_out = k->l.drawn = false;
}

void lc_clk_spread(struct lc_clk_thread *k) {
    static const struct lc_cp_kept none;
    bool draws = k->l.lot > 0;
    uint64_t drawn = lc_cpvec_spread(&k->l.vec, draws ? &lc_clk.kept : &none);
    if (draws) {
        lc_clk.counts.windows += drawn >> k->l.lot;
        lc_clk.kept.n = 0;
    }
}

/* Of the first thread, as long as it is the only one: several take over vectors of each other at
 * once, and tasks have theirs; where clocks lag a vector goes with each record. A rank alone has
 * nobody to tell. */
bool lc_clk_carry_rarer(struct lc_thread *t, bool rarer) {
    struct lc_clk_thread *k = t->clocks;
    if (k == NULL || k != lc_clk.threads)
        return false;
    bool able = lc_clk.size > 1 && !lc_clk.backlog && lc_clk.n_threads == 1 &&
                lc_clk.task_chain == NULL && !k->l.vec.counting &&
                (k->l.vec.n_whatif == 0 || lc_clk_has_chosen());
    if (lc_clk.rarer == (rarer && able))
        return false;
    lc_clk.rarer = rarer && able;
    lc_clk.trace_ticks = lc_clk.rarer ? LC_RARER_TRACE_US * lc_clk.slow_ticks : lc_clk.past_ticks;
    lc_clk_set_grain(k);
    return lc_clk.rarer;
}

bool lc_clk_visits_often(void) {
    lc_clk.visits += lc_clk.visits <= LC_VISITS_SELDOM;
    return lc_clk.visits > LC_VISITS_SELDOM;
}

/* Useful time until now: outside MPI, spent in `node`. With lc_clk_own_lock. */
static inline void useful(struct lc_clk_thread *k, uint64_t now, uint32_t node) {
    if (lc_unlikely(k->epoch != lc_clk.epoch))
        lc_clk_catch_up(k, now);
    uint64_t last = k->l.last;
    lc_logical_useful(&k->l, now, node);
    if (lc_unlikely(k->l.vec.n_whatif > 0) && k->l.interval && now > last)
        lc_logical_whatif(&k->l, now - last, lc_clk_whatif_of(node));
    if (lc_unlikely(k->todo) && k->n_done < LC_DONE)
        k->done[k->n_done++] = (struct lc_logical_done){.node = node, .own = k->l.own};
}

static LC_COLD void log_call(const struct lc_clk_thread *k, const struct lc_call *call) {
    LC_CLK_LOG("C %s %llu %llu %u %u\n", lc_fn_names[call->fn], (unsigned long long)call->begin,
               (unsigned long long)call->end, k->l.interval, call->entry->path->node);
    if (call->own > 0)
        LC_CLK_LOG("D %u\n", call->own);
}

uint64_t lc_clk_receive_now(struct lc_clk_thread *k) {
    return lc_clk_received(k, &k->deferred);
}

void lc_clk_deferred_do(struct lc_clk_thread *k) {
    enum lc_deferred_kind kind = k->deferred.kind;
    k->deferred.kind = LC_DEFERRED_NONE;
    if (kind == LC_DEFERRED_RECEIVED)
        lc_clk_receive_now(k);
    else
        lc_clk_deferred_collective(k, &k->deferred);
    if (lc_unlikely(lc_clk.log != NULL) && k->deferred.ended)
        log_call(k, &k->deferred.call);
}

/* Does the deferred work of the thread's last call, and books its wait state. */
static inline void finish_last_call(struct lc_clk_thread *k) {
    lc_clk_deferred(k);
    if (k->unbooked && k->worst.ticks > 0)
        lc_clk_book(k, k->waited, &k->worst);
    if (lc_unlikely(k->polling.found.ticks > 0))
        lc_clk_polling_book(k);
    if (lc_unlikely(k->met_comm != NULL))
        lc_clk_origins_met(k);
    k->unbooked = false;
}

void lc_clocks_catch_up(struct lc_thread *t) {
    if (t->clocks != NULL)
        lc_clk_deferred(t->clocks);
}

static void skip(struct lc_call *call, struct lc_clk_thread *k, void *data) {
    uint64_t ticks;
    (void)call;
    memcpy(&ticks, data, sizeof ticks);
    finish_last_call(k);
    lc_clk_own_lock(k);
    k->l.last += ticks;
    k->l.skipped += ticks;
    lc_clk_own_unlock(k);
}

void lc_clocks_skip(struct lc_call *call, uint64_t ticks) {
    static const struct lc_event_type event = {.run = skip, .local = true};
    struct lc_clk_thread *k = call->thread->clocks;
    if (k == NULL)
        return;
    k->seen += ticks;
    /* may log the call before, whose end was deferred */
    lc_clk_event(&event, k, call, &ticks, sizeof ticks);
    LC_CLK_LOG("D %llu\n", (unsigned long long)ticks);
}

/* Local calls and posted receives do not end the code that makes a rank late: a kernel that is
 * timed by MPI_Wtime, or that ends before a receive is posted, is what delays the next message. */
static bool keeps_cause(uint32_t fn) {
    return fn < LC_FN_COUNT && (lc_fn_facts[fn].flags & (LC_MPI_LOCAL | LC_MPI_KEEPS_CAUSE)) != 0;
}

/* What the thread worked up to this call, where that is long enough to be of interest. */
static inline void portion(struct lc_clk_thread *k, const struct lc_call *call, uint64_t last) {
    uint64_t ticks = call->begin - last + k->cut;
    k->cut = 0;
    if (ticks >= lc_clk.past_ticks)
        lc_clk_portion(k, &(struct lc_portion_done){lc_clk_node_before(call),
                                                    call->entry->path->node, 1, ticks});
}

/* The last call's own work at its end took less than usual. With lc_clk_own_lock. */
static LC_COLD void back_to(struct lc_clk_thread *k, uint64_t now) {
    if (!lc_clk.backlog)
        lc_clk_log_early(k->l.last, now);
    lc_logical_back_to(&k->l, now);
}

/* Other than usual: scenarios, regions since the last call, something to do, a switch. */
static LC_COLD void begin_unusual(struct lc_call *call, struct lc_clk_thread *k) {
    lc_clk_own_lock(k);
    back_to(k, call->begin);
    lc_clk_own_unlock(k);
    uint64_t last = k->l.last;
    lc_clk_origins_called(k);
    lc_clk_own_lock(k);
    useful(k, call->begin, lc_clk_node_before(call));
    k->between = false;
    lc_clk_own_unlock(k);
    if (k->l.longest > call->begin - last)
        k->l.node = k->l.longest_node;
    lc_clk_origins_worked(k, last, call->begin, k->l.node, 0);
    portion(k, call, last);
    if (k->l.vec.n_whatif > 0 && ++k->carried % LC_CHOSEN_LOOKS == 0)
        lc_clk_look_at_cost(k);
    if (!k->sampled || !keeps_cause(call->fn)) {
        k->l.longest = 0;
        k->sampled = false;
    }
    if (k->todo) /* may put the last call's wait state right */
        lc_clk_back_todo(k, call);
    k->any_candidate = false;
    if (k->polling.ticks != 0)
        lc_clk_polling_call(k, call);
}

static inline void begin(struct lc_call *call, struct lc_clk_thread *k) {
    if (lc_unlikely(lc_clk.threads_meet))
        lc_clk_past_call(k, call->begin);
    if (lc_unlikely((k->epoch != lc_clk.epoch) | (k->l.vec.n_whatif > 0) | (k->l.longest > 0) |
                    k->todo | (k->polling.ticks != 0))) {
        begin_unusual(call, k);
    } else {
        uint64_t last = k->l.last;
        if (lc_unlikely(last - k->began >= lc_clk.past_ticks))
            lc_clk_origins_called(k);
        k->any_candidate = false;
        lc_clk_own_lock(k);
        if (lc_unlikely(call->begin < last)) {
            back_to(k, call->begin);
            last = k->l.last;
        }
        lc_logical_useful(&k->l, call->begin, lc_clk_node_before(call));
        k->between = false;
        lc_clk_own_unlock(k);
        if (lc_unlikely(call->begin - last >= lc_clk.past_ticks)) {
            lc_clk_origins_worked(k, last, call->begin, k->l.node, 0);
            portion(k, call, last);
        }
    }
}

static __attribute__((noinline)) void begin_after(struct lc_call *call, struct lc_clk_thread *k) {
    finish_last_call(k);
    begin(call, k);
}

static void begin_later(struct lc_call *call, struct lc_clk_thread *k, void *data) {
    (void)data;
    k->n_blockers = 0;
    begin_after(call, k);
}

const struct lc_event_type lc_clk_begin_event = {.run = begin_later, .local = true};

/* Progress where a call waits for others without telling them anything itself: before, else at its
 * end. Where clocks lag, at both: what is known leaves before the message of the program that is
 * sent next, and is there when that one is received. So clocks go on as fast as messages do, and
 * the lag grows no more. */
static bool only_waits(uint32_t fn) {
    uint8_t class = lc_clk.fn_class[fn];
    return class != LC_FN_OTHER && !lc_clk.fn_sends[fn];
}

/* What was held for a row of calls leaves before one of another function, in which the thread may
 * wait. */
static bool ends_row(uint32_t fn) {
    bool local = fn < LC_FN_COUNT && (lc_fn_facts[fn].flags & LC_MPI_LOCAL) != 0;
    if (lc_clk_packets_row_of(fn) || local)
        return false;
    lc_clk_lock();
    lc_clk_packets_end_row();
    lc_clk_unlock();
    return !lc_clk.fn_silent[fn];
}

static __attribute__((noinline)) void begin_in_backlog(struct lc_call *call,
                                                       struct lc_clk_thread *k) {
    bool over = lc_clk_packets_in_row() && ends_row(call->fn);
    if (over || only_waits(call->fn) || (lc_clk_backlog_lags() && !lc_clk.fn_silent[call->fn]))
        lc_clk_backlog_progress(call->begin);
    uint64_t ticks = call->begin > k->seen ? call->begin - k->seen : 0;
    lc_clk_log_early(k->seen, call->begin);
    k->seen = call->begin < k->seen ? call->begin : k->seen;
    if (lc_clk_interval_now() != 0)
        k->worked += ticks;
    lc_clk_composed_worked(ticks, lc_clk_node_before(call), false);
    lc_clk_turns_worked(ticks, lc_clk_node_before(call), false);
    k->seen_cut += ticks;
    struct lc_portion_done portion;
    lc_clk_portion_seen(k, lc_clk_node_before(call), call->entry->path->node, &portion);
    lc_clk_backlog_call_begins(k, call);
}

/* Tail calls only: the usual way needs no frame. */
void lc_clocks_call_begin(struct lc_call *call) {
    struct lc_clk_thread *k = call->thread->clocks;
    if (lc_unlikely(k == NULL))
        return;
    if (lc_unlikely(lc_clk.backlog))
        begin_in_backlog(call, k);
    else if (k->deferred.kind != LC_DEFERRED_NONE || k->unbooked)
        begin_after(call, k);
    else
        begin(call, k);
}

/* Our own work since the call ended is not the program's. Where it took longer than usual, the
 * profile adds it to the call; the clocks leave it out. */
static void end_again(struct lc_call *call, struct lc_clk_thread *k) {
    uint64_t now = lc_ticks(), own = now - call->end;
    if (own <= lc_clk.slow_ticks || k->deferred.ended) /* what is left to do has not waited */
        return;
    lc_clk_own_lock(k);
    call->end = now;
    k->l.last = now + call->own;
    k->l.skipped += own;
    k->l.own_in_calls += own;
    lc_clk_own_unlock(k);
    LC_CLK_LOG("D %llu\n", (unsigned long long)own);
}

/* What a new thread begins with (new_threads.c). */
static void mark_end(struct lc_clk_thread *k) {
    if (!lc_core.multiple || k != lc_clk.threads)
        return;
    lc_clk_own_lock(k);
    lc_logical_mark(&k->l, &k->at_end);
    k->marked = k->l.interval;
    lc_clk_own_unlock(k);
}

static LC_COLD void end_unusual(struct lc_call *call, struct lc_clk_thread *k) {
    if (lc_clk.log != NULL && !k->deferred.ended)
        log_call(k, call);
    if (lc_clk.finish_may_wait)
        end_again(call, k);
    if (k->choose_now)
        lc_clk_choose(k, call);
    if (lc_clk.finish_may_wait)
        mark_end(k);
}

/* left: when the program goes on; own: our own work before that */
static inline void end(const struct lc_call *call, struct lc_clk_thread *k, uint64_t left,
                       uint64_t own) {
    lc_clk_own_lock(k);
    k->l.last = left;
    k->l.in_mpi += left - call->begin - own;
    k->l.skipped += own;
    k->l.own_in_calls += own;
    k->between = true;
    lc_clk_own_unlock(k);
    k->began = call->begin;
    k->waited = call->entry->path;
}

static void end_later(struct lc_call *call, struct lc_clk_thread *k, void *data) {
    uint64_t own;
    memcpy(&own, data, sizeof own);
    end(call, k, call->end, own);
    mark_end(k);
}

const struct lc_event_type lc_clk_end_event = {.run = end_later, .local = true};

/* As end_again: what is done for the clocks here is part of the call in the profile. */
static __attribute__((noinline)) void end_in_backlog(struct lc_call *call,
                                                     struct lc_clk_thread *k) {
    if (lc_clk.log != NULL)
        LC_CLK_LOG("C %s %llu %llu %u %u\n", lc_fn_names[call->fn], (unsigned long long)call->begin,
                   (unsigned long long)call->end, lc_clk_interval_now(), call->entry->path->node);
    if (lc_unlikely(call->end < k->seen)) { /* MPI_Init: as in lc_clocks_call_end */
        lc_clk_backlog_lock();
        k->between = true;
        lc_clk_backlog_unlock();
        return;
    }
    if ((!only_waits(call->fn) || lc_clk_backlog_lags()) && !lc_clk.fn_silent[call->fn])
        lc_clk_backlog_progress(call->end);
    uint64_t now = lc_ticks(), own = now - call->end;
    if (own > lc_clk.slow_ticks)
        call->end = now;
    else
        own = 0;
    if (lc_unlikely(k->asks)) {
        k->asks = false;
        lc_clk_event(&lc_clk_asked_event, k, call, NULL, 0);
    }
    own += call->own;
    if (own > 0)
        LC_CLK_LOG("D %llu\n", (unsigned long long)own);
    struct lc_call left = *call;
    k->seen = left.end += call->own;
    lc_clk_backlog_call_ends(k, &left, own);
}

void lc_clocks_call_end(struct lc_call *call) {
    struct lc_clk_thread *k = call->thread->clocks;
    if (lc_unlikely(k == NULL))
        return;
    if (lc_unlikely(lc_clk.backlog)) {
        end_in_backlog(call, k);
        return;
    }
    if (lc_unlikely(call->end < k->l.last)) { /* MPI_Init: the interval begins after our own work */
        lc_clk_own_lock(k);
        k->between = true;
        lc_clk_own_unlock(k);
        return;
    }
    end(call, k, call->end + call->own, call->own);
    k->deferred.ended = k->deferred.kind != LC_DEFERRED_NONE;
    if (lc_unlikely((lc_clk.log != NULL) | lc_clk.finish_may_wait | k->choose_now))
        end_unusual(call, k);
}

/* Time of some length, or there is something to catch up with. */
static __attribute__((noinline)) void part_of_time(struct lc_clk_thread *k, uint64_t now,
                                                   uint32_t node, uint32_t gap) {
    if (k->began != UINT64_MAX) { /* the first since a call */
        finish_last_call(k);
        lc_clk_origins_called(k);
    }
    lc_clk_own_lock(k);
    back_to(k, now);
    uint64_t last = k->l.last;
    useful(k, now, node);
    lc_clk_own_unlock(k);
    uint64_t ticks = now > last ? now - last : 0;
    if (lc_unlikely(ticks >= lc_clk.past_ticks))
        lc_clk_origins_worked(k, last, now, k->l.node, gap);
    lc_clk_part_ends(k, ticks);
}

/* gap: as in lc_clk_origins_worked. Events at one instant, as a region's begin and the fork that
 * follows, have no part between them. */
static inline void part(struct lc_clk_thread *k, uint64_t now, uint32_t node, uint32_t gap) {
    if (now != k->l.last || k->epoch != lc_clk.epoch || k->began != UINT64_MAX)
        part_of_time(k, now, node, gap);
}

void lc_clk_worked(struct lc_clk_thread *k, uint64_t now, uint32_t node) {
    part(k, now, node, 0);
}

void lc_clk_left_runtime(struct lc_clk_thread *k, uint64_t now) {
    lc_clk_own_lock(k);
    uint64_t since = k->in_runtime;
    if (since < k->l.last)
        since = k->l.last;
    k->in_runtime = 0;
    k->l.last = now; /* what was before is no work, whatever changed meanwhile */
    if (k->epoch != lc_clk.epoch)
        lc_clk_catch_up(k, now);
    k->l.last = now;
    lc_clk_runtime_ends(k, since, now);
    lc_clk_own_unlock(k);
}

static void part_later(struct lc_call *call, struct lc_clk_thread *k, void *data) {
    struct lc_clk_part its;
    memcpy(&its, data, sizeof its);
    part(k, k->l.last + its.ticks, lc_clk_node_before(call), its.gap);
    k->cut += its.ticks - its.ended; /* never below 0 when the portion in progress ends */
    if (its.portion.n > 0)
        lc_clk_portion(k, &its.portion);
}
const struct lc_event_type lc_clk_part_event = {.run = part_later, .local = true};

static void cut(struct lc_clk_thread *k, const struct lc_call *call) {
    if (lc_unlikely(lc_clk.backlog)) {
        const struct lc_event_at where = lc_clk_event_at(call);
        lc_clk_backlog_part(k, &where, true);
    } else {
        if (k->in_runtime)
            lc_clk_left_runtime(k, call->begin);
        uint64_t last = k->l.last;
        part(k, call->begin, lc_clk_node_before(call), 0);
        uint64_t ticks = call->begin > last ? call->begin - last + k->cut : 0;
        k->cut = 0;
        if (ticks >= lc_clk.past_ticks)
            lc_clk_portion(k, &(struct lc_portion_done){lc_clk_node_before(call), 0, 1, ticks});
    }
}

void lc_clocks_split(const struct lc_call *call, uint64_t until, uint32_t node) {
    struct lc_clk_thread *k = call->thread->clocks;
    if (k == NULL)
        return;
    k->gap += !k->in_gap;
    k->gap += k->gap == 0;
    k->in_gap = true;
    if (lc_clk.backlog) {
        struct lc_event_at where = lc_clk_event_at(call);
        where.node = node;
        where.begin = until < k->seen ? k->seen : until;
        lc_clk_backlog_part(k, &where, false);
        return;
    }
    finish_last_call(k);
    if (until < k->l.last) /* MPI_Init, the runtime of OpenMP: that time is no work */
        until = k->l.last;
    if (k->in_runtime)
        lc_clk_left_runtime(k, until);
    k->cut += until - k->l.last;
    part(k, until, node, k->gap);
}

static void polled(struct lc_call *call, struct lc_clk_thread *k, void *data) {
    uint64_t ticks;
    memcpy(&ticks, data, sizeof ticks);
    lc_clk_polling_asked(k, call);
    lc_clk_own_lock(k);
    k->l.last += ticks;
    k->l.in_mpi += ticks;
    lc_clk_own_unlock(k);
}

void lc_clocks_polled(struct lc_call *call) {
    static const struct lc_event_type event = {.run = polled, .local = true};
    struct lc_clk_thread *k = call->thread->clocks;
    uint64_t ticks = call->end - call->begin;
    if (k == NULL)
        return;
    cut(k, call);
    k->seen += ticks;
    lc_clk_event(&event, k, call, &ticks, sizeof ticks);
    LC_CLK_LOG("D %llu\n", (unsigned long long)ticks);
}

void lc_clocks_dominant(const struct lc_call *call, uint64_t ticks, uint32_t largest,
                        uint32_t drawn) {
    struct lc_clk_thread *k = call->thread->clocks;
    if (k == NULL)
        return;
    k->in_gap = false;
    if (lc_clk.backlog || ticks < k->l.longest)
        return;
    k->l.longest = ticks;
    k->l.longest_node = k->past != NULL ? largest : drawn;
    k->sampled = true;
}

void lc_clocks_counted(struct lc_thread *t, const uint64_t counts[LC_COUNTERS]) {
    _Static_assert((int)LC_COUNTERS == (int)LC_CP_COUNTS, "all go with the vector");
    struct lc_clk_thread *k = t->clocks;
    if (k == NULL || lc_clk.backlog)
        return;
    finish_last_call(k);
    lc_clk_own_lock(k);
    lc_logical_count(&k->l, counts);
    lc_clk_own_unlock(k);
}

static void phase_begin(struct lc_call *call, struct lc_clk_thread *k, void *data) {
    (void)data;
    lc_clk_phase_begin(k, call);
}

static void phase_end(struct lc_call *call, struct lc_clk_thread *k, void *data) {
    (void)data;
    lc_clk_phase_end(k, call);
}

void lc_clocks_region_begin(struct lc_call *call, bool named) {
    static const struct lc_event_type event = {.run = phase_begin};
    struct lc_clk_thread *k = call->thread->clocks;
    if (k == NULL)
        return;
    cut(k, call);
    if (!named || call->thread->n_named > 0)
        return;
    if (lc_clk.backlog) {
        uint32_t region = lc_clk_phase_of(k, call);
        if (region == UINT32_MAX)
            return;
        lc_clk_phase_log(region, call->begin);
    }
    lc_clk_event(&event, k, call, NULL, 0);
}

void lc_clocks_region_end(struct lc_call *call, struct lc_region_open *open) {
    static const struct lc_event_type event = {.run = phase_end};
    struct lc_clk_thread *k = call->thread->clocks;
    if (k == NULL)
        return;
    cut(k, call);
    if (!open->named || call->thread->n_named > 0)
        return;
    if (lc_clk.backlog && k != lc_clk.threads)
        return;
    if (lc_clk.backlog)
        lc_clk_phase_log(UINT32_MAX, call->begin);
    lc_clk_event(&event, k, call, NULL, 0);
}

static void end_thread(struct lc_call *call, struct lc_clk_thread *k, void *data) {
    bool rests;
    memcpy(&rests, data, sizeof rests);
    finish_last_call(k);
    if (k->in_runtime)
        lc_clk_left_runtime(k, call->begin);
    lc_clk_own_lock(k);
    useful(k, call->begin, 0);
    k->between = false;
    lc_clk_own_unlock(k);
    if (rests)
        return;
    lc_biased_lock(&lc_clk.lock);
    k->next_ended = lc_clk.ended;
    lc_clk.ended = k;
    lc_biased_unlock(&lc_clk.lock);
}

void lc_clocks_thread_end(struct lc_call *call) {
    static const struct lc_event_type event = {.run = end_thread};
    struct lc_clk_thread *k = call->thread->clocks;
    if (k == NULL)
        return;
    bool rests = call->thread->rests;
    lc_clk_event(&event, k, call, &rests, sizeof rests);
    if (lc_clk.backlog && !rests)
        lc_clk_backlog_keep_paths(k);
    lc_biased_lock(&lc_clk.lock);
    k->thread = NULL; /* the record stays: its sums belong to the interval */
    lc_biased_unlock(&lc_clk.lock);
    call->thread->clocks = NULL;
    if (rests)
        call->thread->rested_clocks = k;
}

struct control {
    bool on;
    uint32_t region; /* named, open then; UINT32_MAX: none */
};

static void switch_on_or_off(struct lc_call *call, struct lc_clk_thread *k, void *data) {
    struct control c;
    memcpy(&c, data, sizeof c);
    lc_clk_all_lock();
    if (c.on != lc_clk.on) {
        if (c.on)
            lc_clk_interval_begin(call->begin, c.region);
        else
            lc_clk_interval_end(call->begin);
        lc_clk_catch_up(k, call->begin);
    }
    lc_clk_all_unlock();
}

void lc_clocks_control(struct lc_call *call, bool on) {
    static const struct lc_event_type event = {.run = switch_on_or_off};
    struct lc_clk_thread *k = call->thread->clocks;
    if (k == NULL || !lc_clk.ready)
        return;
    cut(k, call); /* what was worked since the last call, before the switch */
    struct control c = {on, lc_clk_open_region()};
    if (lc_clk.backlog) {
        lc_clk_interval_seen(on, call->begin);
        lc_clk_phase_log(on ? c.region : UINT32_MAX, call->begin);
    }
    lc_clk_event(&event, k, call, &c, sizeof c);
}
