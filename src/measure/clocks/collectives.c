#include <stdlib.h>
#include <string.h>

#include "base/choose.h"
#include "measure/mpi/handles.h"
#include "measure/mpi/operations.h"
#include "measure/mpi/request.h"
#include "measure/clocks/call_state.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/clocks_hooks.h"
#include "measure/clocks/collectives.h"
#include "measure/clocks/contexts.h"
#include "measure/clocks/clock_messages.h"
#include "measure/clocks/edges.h"
#include "measure/clocks/wait_states.h"
#include "measure/clocks/what_if_factors.h"
#include "measure/core/core.h"
#include "measure/core/thread.h"
#include "piggyback/colllog.h"
#include "piggyback/combine.h"
#include "piggyback/cpvec.h"
#include "piggyback/logical.h"

/* ---- v forms: which members send something to this one */

/* Bytes, not counts: a count of 0 on one side may meet one above 0 of a type without bytes. */
static uint8_t *senders_to_me(struct lc_thread *t, const struct lc_coll *coll, int n) {
    if (coll->recv.counts == NULL || (coll->kind != LC_COLL_V2V && coll->kind != LC_COLL_NEIGHBOR))
        return NULL;
    uint8_t *from = malloc(n > 0 ? (size_t)n : 1);
    for (int i = 0; from != NULL && i < n; i++)
        from[i] = lc_side_bytes_at(t, &coll->recv, coll->large, i) > 0;
    return from;
}

/* ---- neighbourhoods */

static void ask_neighbours(struct lc_clk_comm *c, const struct lc_comm *comm) {
    struct lc_neighbours of;
    lc_neighbours_of(comm->handle, comm->rank, &of);
    c->sources = of.sources;
    c->n_sources = of.n_sources;
    c->targets = of.targets;
    c->n_targets = of.n_targets;
}

/* ---- begin */

static void roles(struct lc_clk_coll *x, const struct lc_coll *coll) {
    bool inter = coll->comm->inter;
    x->sends = x->receives = true;
    switch (coll->kind) {
    case LC_COLL_BARRIER:
    case LC_COLL_SYNC:
        break;
    case LC_COLL_N2N:
    case LC_COLL_V2V:
    case LC_COLL_SCAN:
    case LC_COLL_EXSCAN:
    case LC_COLL_NEIGHBOR:
        x->sends = coll->bytes_sent > 0;
        x->receives = coll->bytes_rcvd > 0;
        break;
    case LC_COLL_ONE2N:
        x->sends = coll->is_root && coll->bytes_sent > 0;
        x->receives = !coll->is_root && coll->bytes_rcvd > 0 && (!inter || coll->root >= 0);
        break;
    case LC_COLL_N2ONE:
        x->sends = !coll->is_root && coll->bytes_sent > 0 && (!inter || coll->root >= 0);
        x->receives = coll->is_root && coll->bytes_rcvd > 0;
        break;
    }
}

/* The entry that is read first when the operation is over. With lc_clk.lock. */
static inline const void *expected_entry(const struct lc_clk_coll *x) {
    const struct lc_colllog *log = &x->c->log;
    uint32_t member = x->kind == LC_COLL_ONE2N ? (uint32_t)x->root : log->me == 0;
    const struct lc_log_head *head = member < log->n ? log->theirs[member] : NULL;
    return head != NULL ? &head->entries[x->op & (log->entries - 1)] : NULL;
}

/* Others may be at the end of operations before it. */
static __attribute__((noinline)) void begin_in_backlog(struct lc_call *call,
                                                       struct lc_clk_thread *k,
                                                       const struct lc_coll *coll,
                                                       struct lc_clk_coll *x) {
    lc_clk_lock();
    const void *expected = x->receives ? expected_entry(x) : NULL;
    lc_clk_unlock();
    if (expected != NULL)
        call->thread->expected = expected;
    lc_clk_coll_begin_in_backlog(call, k, coll, x);
}

/* Before the call, where the own data goes to others. With lc_clk.lock: another thread may be at
 * the end of a nonblocking operation on the same communicator. */
static inline void write_entry(const struct lc_call *call, struct lc_clk_thread *k,
                               struct lc_clk_coll *x) {
    struct lc_log_entry *entry = lc_colllog_place(&x->c->log, x->op);
    if (lc_unlikely(entry == NULL)) {
        lc_clk.counts.skipped++;
        return;
    }
    lc_logical_stamp(&k->l, call->begin, &entry->stamp);
    lc_colllog_ready(&x->c->log, x->op, entry);
    if (lc_unlikely(x->c->combine.n_levels > 0) && lc_clk_all_with_all(x))
        lc_combine_arrive(&x->c->combine, &x->c->log, x->op);
}

static void begin(struct lc_call *call, struct lc_clk_thread *k, struct lc_coll *coll,
                  struct lc_clk_coll *x) {
    x->kind = coll->kind;
    x->root = coll->root;
    x->is_root = coll->is_root;
    roles(x, coll);
    if (lc_unlikely(x->kind == LC_COLL_V2V || x->kind == LC_COLL_NEIGHBOR)) {
        if (x->kind == LC_COLL_NEIGHBOR && x->c->n_sources < 0)
            ask_neighbours(x->c, coll->comm);
        x->from = senders_to_me(call->thread, coll,
                                x->kind == LC_COLL_NEIGHBOR ? x->c->n_sources
                                : coll->comm->inter         ? coll->comm->remote_size
                                                            : coll->comm->size);
    }
    lc_clk_lock();
    lc_clk.counts.collectives++;
    x->op = lc_colllog_begin(&x->c->log);
    if (x->nonblocking)
        lc_colllog_keep_open(&x->c->log, x->op);
    lc_clk_unlock();
    LC_CLK_LOG("X %u %llu %d %d %d %d\n", x->c->context, (unsigned long long)x->op, (int)x->kind,
               x->root, x->sends, x->receives);
    if (lc_unlikely(lc_clk.backlog)) {
        begin_in_backlog(call, k, coll, x);
        return;
    }
    lc_clk_lock();
    const void *expected = x->receives ? expected_entry(x) : NULL;
    if (lc_likely(expected != NULL))
        call->thread->expected = expected;
    if (x->sends)
        write_entry(call, k, x);
    lc_clk_unlock();
}

/* ---- end: reading, edges, candidates */

struct lc_coll_seen {
    uint64_t
        cause_key; /* enter of the latest one that was read; N2ONE: of the earliest, inverted */
    const struct lc_stamp *cause;
    const struct lc_stamp *winner; /* if `won`: largest clock of useful time above the own one */
    uint32_t cause_rank, winner_rank;
    bool won;
    uint64_t done;
    uint32_t n;
};

/* As lc_logical_edge, nothing here branches on times or clocks. */
static inline __attribute__((always_inline)) void look(struct lc_clk_thread *k,
                                                       struct lc_clk_coll *x, uint32_t member,
                                                       uint64_t now, struct lc_coll_seen *seen) {
    const struct lc_log_entry *entry = lc_colllog_read(&x->c->log, member, x->op);
    if (lc_unlikely(entry == NULL))
        return;
    const struct lc_stamp *stamp = &entry->stamp;
    uint32_t rank = (uint32_t)x->c->ranks[member];
    uint64_t key = x->kind == LC_COLL_N2ONE ? ~stamp->enter : stamp->enter;
    uint64_t is_cause = lc_mask((key > seen->cause_key) | (seen->n == 0));
    seen->cause_key = lc_choose(is_cause, key, seen->cause_key);
    seen->cause = lc_choose_pointer(is_cause, stamp, seen->cause);
    seen->cause_rank = (uint32_t)lc_choose(is_cause, rank, seen->cause_rank);
    seen->done = entry->done < seen->done ? entry->done : seen->done;
    if (lc_unlikely(k->l.vec.n_whatif > 0) && stamp->interval == k->l.interval)
        lc_cpvec_whatif(&k->l.vec, &lc_clk.areas[rank], stamp->vector);
    /* The winner's vector is taken once, at the end. */
    bool won = lc_logical_edge(&k->l, stamp, now);
    uint64_t is_winner = lc_mask(won | (seen->n == 0));
    seen->winner = lc_choose_pointer(is_winner, stamp, seen->winner);
    seen->winner_rank = (uint32_t)lc_choose(is_winner, rank, seen->winner_rank);
    seen->won |= won;
    seen->n++;
}

/* The usual case of several members in one go, held in registers: entries of the own interval from
 * all, no scenarios. False: nothing has changed; the general way (read_members) does it. */
static __attribute__((noinline)) bool take_members(struct lc_clk_thread *k, struct lc_clk_coll *x,
                                                   uint64_t now, struct lc_coll_seen *seen) {
    struct lc_logical *l = &k->l;
    const struct lc_colllog *log = &x->c->log;
    struct lc_log_head *const *theirs = log->theirs;
    uint32_t first = log->me == 0, end = log->n, me = log->me;
    if (lc_unlikely(x->kind >= LC_COLL_SCAN || x->kind == LC_COLL_ONE2N || x->from != NULL ||
                    l->vec.n_whatif > 0 || l->interval == 0))
        return false;
    if (lc_unlikely(first >= end || theirs[first] == NULL))
        return false;
    size_t at = x->op & (log->entries - 1);
    const struct lc_log_entry *entry = &theirs[first]->entries[at];
    if (lc_unlikely(atomic_load_explicit(&entry->number, memory_order_acquire) != x->op ||
                    entry->stamp.interval != l->interval))
        return false;
    const struct lc_stamp *cause = &entry->stamp, *winner = cause;
    uint64_t flip = lc_mask(x->kind == LC_COLL_N2ONE), key = cause->enter ^ flip;
    uint64_t useful = cause->useful, outside_omp = cause->outside_omp;
    uint64_t phase_useful = cause->phase == l->phase ? cause->phase_useful : 0;
    uint64_t done = entry->done;
    uint64_t cause_member = first, winner_member = first;
    for (uint32_t i = first + 1; i < end; i++) {
        if (i == me)
            continue;
        if (lc_unlikely(theirs[i] == NULL))
            return false;
        entry = &theirs[i]->entries[at];
        const struct lc_stamp *stamp = &entry->stamp;
        if (lc_unlikely(atomic_load_explicit(&entry->number, memory_order_acquire) != x->op ||
                        stamp->interval != l->interval))
            return false;
        uint64_t is_cause = lc_mask((stamp->enter ^ flip) > key);
        key = lc_choose(is_cause, stamp->enter ^ flip, key);
        cause = lc_choose_pointer(is_cause, stamp, cause);
        cause_member = lc_choose(is_cause, i, cause_member);
        uint64_t is_winner = lc_mask(stamp->useful > useful);
        useful = lc_choose(is_winner, stamp->useful, useful);
        winner = lc_choose_pointer(is_winner, stamp, winner);
        winner_member = lc_choose(is_winner, i, winner_member);
        outside_omp = lc_larger(outside_omp, stamp->outside_omp);
        phase_useful = lc_larger(phase_useful, stamp->phase == l->phase ? stamp->phase_useful : 0);
        done = entry->done < done ? entry->done : done;
    }
    LC_SHOW(l->origin, now - lc_larger(now - l->origin, outside_omp));
    l->phase_useful = lc_larger(l->phase_useful, phase_useful);
    seen->won = useful > l->useful;
    LC_SHOW(l->useful, lc_larger(l->useful, useful));
    seen->winner = winner;
    seen->winner_rank = (uint32_t)x->c->ranks[winner_member];
    seen->cause = cause;
    seen->cause_key = key;
    seen->cause_rank = (uint32_t)x->c->ranks[cause_member];
    seen->done = done;
    seen->n = end - first - (me > first && me < end);
    return true;
}

/* One line for all members; false: it is not there. */
static bool read_combined(struct lc_clk_thread *k, struct lc_clk_coll *x, uint64_t now,
                          struct lc_combined *all, struct lc_coll_seen *seen) {
    if (!lc_clk_all_with_all(x) || !lc_combine_read(&x->c->combine, &x->c->log, x->op, all))
        return false;
    if (k->l.vec.n_whatif > 0 && all->stamp.interval == k->l.interval) {
        if (all->whatif_of != k->l.vec.generation + 1)
            return false;
        lc_cpvec_whatif_take(&k->l.vec, all->whatif);
    }
    seen->cause_key = all->stamp.enter;
    seen->cause_rank = (uint32_t)x->c->ranks[all->latest];
    seen->done = all->done;
    seen->n = x->c->log.n - 1;
    lc_clk.counts.combined++;
    seen->won = lc_logical_edge(&k->l, &all->stamp, now);
    seen->winner = &all->stamp;
    seen->winner_rank = (uint32_t)x->c->ranks[all->winner];
    return true;
}

static bool all_there(struct lc_clk_coll *x) {
    for (uint32_t i = 0; i < x->c->log.n; i++)
        if (i != x->c->log.me && lc_colllog_read(&x->c->log, i, x->op) == NULL)
            return false;
    return true;
}

static LC_COLD void read_neighbours(struct lc_clk_thread *k, struct lc_clk_coll *x, uint64_t now,
                                    struct lc_coll_seen *seen) {
    for (int i = 0; i < x->c->n_sources; i++)
        if (x->c->sources[i] >= 0 && (uint32_t)x->c->sources[i] != x->c->log.me &&
            (x->from == NULL || x->from[i]))
            look(k, x, (uint32_t)x->c->sources[i], now, seen);
}

static inline void read_members(struct lc_clk_thread *k, struct lc_clk_coll *x, uint64_t now,
                                struct lc_coll_seen *seen) {
    uint32_t first = 0, end = x->c->log.n, me = x->c->log.me;
    if (lc_unlikely(x->kind >= LC_COLL_SCAN)) {
        if (x->kind == LC_COLL_NEIGHBOR) {
            read_neighbours(k, x, now, seen);
            return;
        }
        if (x->kind == LC_COLL_SYNC) {
            if (!all_there(x)) /* it ended before all had come: no need to */
                return;
        } else {
            end = me;
        }
    } else if (x->kind == LC_COLL_ONE2N) {
        if (x->root < 0 || (uint32_t)x->root >= end)
            return;
        first = (uint32_t)x->root;
        end = first + 1;
    }
    for (uint32_t i = first; i < end; i++)
        if (i != me && (lc_likely(x->from == NULL) || x->from[i]))
            look(k, x, i, now, seen);
}

/* The only member whose entry is to be read: the root, or the other one of two; log->n: none such.
 */
static inline uint32_t only_member(const struct lc_clk_coll *x) {
    const struct lc_colllog *log = &x->c->log;
    if (x->kind == LC_COLL_ONE2N)
        return (uint32_t)x->root < log->n ? (uint32_t)x->root : log->n;
    return log->n == 2 && x->kind < LC_COLL_SCAN && x->from == NULL ? 1 - log->me : log->n;
}

/* Returns the number of members whose entries were there; *done: the smallest of theirs. */
static __attribute__((noinline)) uint32_t
read_several(struct lc_clk_thread *k, struct lc_call *call, struct lc_clk_coll *x, uint64_t *done) {
    struct lc_combined all;
    struct lc_coll_seen seen = {.done = UINT64_MAX};
    uint64_t before = k->l.useful;
    bool combined = x->c->combine.n_levels > 0 && read_combined(k, x, call->end, &all, &seen);
    if (!combined && !take_members(k, x, call->end, &seen))
        read_members(k, x, call->end, &seen);
    *done = seen.done;
    if (seen.n == 0)
        return 0;
    lc_logical_adopt(&k->l, seen.winner, seen.won, before, &lc_clk.areas[seen.winner_rank]);
    lc_clk_coll_candidate(k, call, x, x->kind == LC_COLL_N2ONE ? ~seen.cause_key : seen.cause_key,
                          seen.cause_rank, combined ? all.latest_node : seen.cause->node);
    return seen.n;
}

/* With lc_clk.lock: the log is that of all threads which have operations on the communicator. */
static inline void finish(struct lc_call *call, struct lc_clk_thread *k, struct lc_clk_coll *x) {
    struct lc_colllog *log = &x->c->log;
    uint64_t done = UINT64_MAX;
    uint32_t n = 0;
    if (x->receives) {
        uint32_t only = only_member(x);
        const struct lc_log_entry *entry =
            lc_likely(only < log->n) ? lc_colllog_read(log, only, x->op) : NULL;
        if (lc_likely(entry != NULL)) {
            uint32_t rank = (uint32_t)x->c->ranks[only];
            lc_logical_take(&k->l, &entry->stamp, call->end, &lc_clk.areas[rank]);
            lc_clk_coll_candidate(k, call, x, entry->stamp.enter, rank, entry->stamp.node);
            done = entry->done;
            n = 1;
        } else if (only >= log->n) {
            n = read_several(k, call, x, &done);
        }
    }
    if (lc_clk_all_with_all(x) && n + 1 >= log->n && log->me < log->n) {
        uint64_t safe = done < log->done ? done : log->done;
        if (safe > log->safe)
            log->safe = safe;
    }
}

/* ---- points */

void lc_clocks_coll_begin(struct lc_call *call, struct lc_coll *coll) {
    struct lc_clk_thread *k = call->thread->clocks;
    struct lc_clk_comm *c = lc_clk_comm_of(coll->comm);
    coll->clocks = NULL;
    if (lc_unlikely(k == NULL || c == NULL || c->alone || !lc_clk.ready)) {
        if (c == NULL && (coll->comm->size > 1 || coll->comm->inter))
            lc_clk_count_unseen(&lc_clk.counts.collectives);
        return;
    }
    lc_clk_deferred(k); /* of this call: it may hold k->blocking */
    struct lc_clk_coll *x = coll->nonblocking || lc_clk.backlog ? malloc(sizeof *x) : &k->blocking;
    if (x == NULL)
        return;
    x->c = c;
    x->from = NULL;
    x->shadow = NULL;
    x->nonblocking = coll->nonblocking;
    x->constructor = x->refused = x->published = x->certain = false;
    begin(call, k, coll, x);
    coll->clocks = x;
}

static inline __attribute__((always_inline)) void over(struct lc_clk_thread *k,
                                                       struct lc_clk_coll *x) {
    if (lc_unlikely(x->from != NULL))
        free(x->from);
    if (x != &k->blocking)
        free(x);
}

static void log_over(const struct lc_clk_coll *x) {
    LC_CLK_LOG("Y %u %llu\n", x->c->context, (unsigned long long)x->op);
}

/* With lc_clk.lock. */
static void leave_log(struct lc_clk_coll *x) {
    if (x->nonblocking)
        lc_colllog_close(&x->c->log, x->op);
    else if (!x->refused)
        lc_colllog_end(&x->c->log, x->op);
}

void lc_clk_coll_over(struct lc_clk_thread *k, struct lc_call *call, struct lc_clk_coll *x) {
    if (call != NULL)
        finish(call, k, x);
    if (!x->constructor)
        leave_log(x);
    over(k, x);
}

/* The operation is over: now, or, where clocks lag, once what it reads has come. It reads nothing
 * if it has failed. */
static void end_operation(struct lc_call *call, struct lc_clk_thread *k, struct lc_clk_coll *x,
                          bool failed) {
    if (lc_unlikely(lc_clk.backlog)) {
        lc_clk_coll_over_in_backlog(call, k, x);
        return;
    }
    log_over(x);
    lc_clk_lock();
    lc_clk_coll_over(k, failed ? NULL : call, x);
    lc_clk_unlock();
}

/* A blocking one, on this node. */
static inline __attribute__((always_inline)) void
end_blocking(struct lc_call *call, struct lc_clk_thread *k, struct lc_clk_coll *x) {
    lc_clk_lock();
    if (x->receives)
        finish(call, k, x);
    lc_colllog_end(&x->c->log, x->op);
    lc_clk_unlock();
    log_over(x);
    over(k, x);
}

__attribute__((flatten)) void lc_clk_deferred_collective(struct lc_clk_thread *k,
                                                         struct lc_deferred *deferred) {
    end_blocking(&deferred->call, k, &k->blocking);
}

/* What is to be read is read at the thread's next event if it can wait. */
static inline void blocking_end(struct lc_call *call, struct lc_clk_thread *k, struct lc_comm *comm,
                                struct lc_clk_coll *x) {
    if (x->sends)
        lc_colllog_claim(&x->c->log, x->op, !x->receives);
    if (lc_likely(x->receives && lc_clk.may_defer && x->kind < LC_COLL_SCAN)) {
        lc_clk_note(k, call, comm);
        lc_clk_defer(k, LC_DEFERRED_COLLECTIVE);
        return;
    }
    end_blocking(call, k, x);
}

/* An operation in which all ranks have waited for each other, as every one of them can tell from
 * its own arguments: their common points in time. */
static inline uint64_t one_more_point(void) {
    if (lc_unlikely(lc_core.multiple))
        return atomic_fetch_add_explicit(&lc_clk.n_points, 1, memory_order_relaxed) + 1;
    uint64_t n = atomic_load_explicit(&lc_clk.n_points, memory_order_relaxed) + 1;
    atomic_store_explicit(&lc_clk.n_points, n, memory_order_relaxed); /* one thread at a time */
    return n;
}

static inline bool may_be_point(const struct lc_call *call, const struct lc_coll *coll,
                                const struct lc_clk_coll *x) {
    return coll->comm->size == lc_core.size && lc_clk.fn_uniform[call->fn] && x->sends &&
           x->receives && !coll->comm->inter && !coll->nonblocking;
}

static inline void count_point(struct lc_clk_thread *k, const struct lc_call *call,
                               const struct lc_coll *coll, const struct lc_clk_coll *x) {
    if (may_be_point(call, coll, x) && lc_clk_is_point(one_more_point()))
        k->choose_now = true;
}

/* After the event of its end. */
static void point_in_backlog(struct lc_clk_thread *k, const struct lc_call *call) {
    lc_clk_choose_in_backlog(k, call, one_more_point());
}

void lc_clocks_coll_end(struct lc_call *call, struct lc_coll *coll) {
    struct lc_clk_thread *k = call->thread->clocks;
    struct lc_clk_coll *x = coll->clocks;
    if (lc_unlikely(x == NULL || k == NULL))
        return;
    if (lc_likely(!coll->nonblocking && !lc_clk.backlog)) {
        count_point(k, call, coll, x);
        blocking_end(call, k, coll->comm, x);
        return;
    }
    if (lc_clk.backlog && !lc_core.multiple)
        lc_clk_coll_publish_in_backlog(call, k, x);
    bool point = lc_clk.backlog && may_be_point(call, coll, x);
    if (coll->nonblocking && coll->request != NULL)
        coll->request->clocks.coll = x;
    else if (lc_clk.backlog)
        lc_clk_coll_end_in_backlog(call, k, coll, x);
    else
        end_operation(call, k, x, false);
    if (point) /* x may be gone */
        point_in_backlog(k, call);
}

/* If this process took no part, the next operation has its number. */
void lc_clocks_coll_failed(struct lc_call *call, struct lc_coll *coll, bool refused) {
    struct lc_clk_thread *k = call->thread->clocks;
    struct lc_clk_coll *x = coll->clocks;
    coll->clocks = NULL;
    if (x == NULL || k == NULL)
        return;
    lc_clk_lock();
    if (refused)
        lc_colllog_take_back(&x->c->log, x->op);
    lc_clk_unlock();
    x->refused = refused;
    bool point = !refused && may_be_point(call, coll, x); /* the others may have succeeded */
    if (lc_clk.backlog)
        lc_clk_coll_failed_in_backlog(call, k, x);
    else if (point && lc_clk_is_point(one_more_point()))
        k->choose_now = true;
    x->receives = false;
    bool later = lc_clk.backlog && point;
    end_operation(call, k, x, true);
    if (later)
        point_in_backlog(k, call);
}

void lc_clk_coll_completed(struct lc_call *call, struct lc_clk_thread *k, struct lc_request *r) {
    struct lc_clk_coll *x = r->clocks.coll;
    r->clocks.coll = NULL;
    if (x != NULL)
        end_operation(call, k, x, false);
}
