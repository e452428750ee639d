/* The backlog: a queue of events that cannot be processed yet. Between ranks that share no memory
 * the record of a message arrives after the message itself, and no call waits for it. Everything
 * that changes clocks therefore goes through one first-in, first-out queue per process, with its
 * time stamps: an event runs at once if the queue is empty and its input is there, otherwise during
 * a later call. So the clocks are those of a run in which every record arrived in time, and a value
 * is published to other ranks as soon as it is known.
 *
 * Nouns
 *   event     something that changes clocks, or publishes them to other ranks
 *   ready     an event whose input from other ranks has arrived
 *   forced    an event that ran before it was ready, in a cut or because the run is over: its edge
 *             is added when its record arrives (edges_late), or counted as missing
 *   cut       of a queue that is more than half full: all of its events run with what has come
 *
 * Invariants: an event depends only on what other ranks published in events that happened before
 * it, so some rank can always make progress. No call of the program waits for an event. The queue
 * has a lock of its own, which is taken before lc_clk.lock. */
#ifndef LC_MEASURE_CLOCKS_BACKLOG_H
#define LC_MEASURE_CLOCKS_BACKLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "measure/clocks/call_state.h"
#include "measure/clocks/clocks.h"
#include "measure/core/core.h"
#include "measure/callpath/entry.h"
#include "measure/core/thread.h"
#include "piggyback/portions.h"

enum { LC_EVENT_DATA = 56, LC_BACKLOG_CAPACITY = 65536 };

struct lc_event_type {
    /* NULL: always. Any thread may ask. */
    bool (*ready)(void *data);
    /* Run by any thread, with the lock of the queue: it touches what came with it, what that lock
     * owns (call_state.h), and, with lc_clk.lock, what all threads share.
     * call: as it was then, without thread; of its entry only path, fn_ctx and innermost item */
    void (*run)(struct lc_call *call, struct lc_clk_thread *k, void *data);
    /* changes the thread's own time only, or belongs to composed_collectives.c: it neither uses
     * nor publishes anything of other ranks */
    bool local;
    /* of a message that turns.c knows of, or it changes no clocks: it ends no chain of turns */
    bool turn;
};

/* Makes the queue; before the first event. */
void lc_clk_backlog_init(void);

/* Runs the event now if the queue is empty and the event is ready, otherwise queues it. The data
 * (at most LC_EVENT_DATA bytes) are copied. */
void lc_clk_backlog_submit(const struct lc_event_type *type, struct lc_clk_thread *k,
                           const struct lc_call *call, const void *data, size_t bytes);
/* Submits an event that is in no call, or elsewhere than its call. */
void lc_clk_backlog_submit_at(const struct lc_event_type *type, struct lc_clk_thread *k,
                              const struct lc_event_at *where, const void *data, size_t bytes);

/* Begin of a call. While the process has one thread, and events are queued, it is one event
 * together with the first of the call. */
void lc_clk_backlog_call_begins(struct lc_clk_thread *k, const struct lc_call *call);
/* Its end, with the last one. own: ticks of the tool's own in it. */
void lc_clk_backlog_call_ends(struct lc_clk_thread *k, const struct lc_call *call, uint64_t own);
extern const struct lc_event_type lc_clk_begin_event, lc_clk_end_event; /* data: none; own */

/* An operation of the clocks, written once, as what its event runs: at once where clocks do not lag
 * behind the program, else through the queue. */
static inline void lc_clk_event(const struct lc_event_type *type, struct lc_clk_thread *k,
                                struct lc_call *call, void *data, size_t bytes) {
    if (lc_unlikely(lc_clk.backlog))
        lc_clk_backlog_submit(type, k, call, data, bytes);
    else
        type->run(call, k, data);
}

/* Useful time of the thread until where->begin, in the call path of that time; regions split it.
 * region: one begins or ends there, so a portion ends; else a sample cuts it. */
void lc_clk_backlog_part(struct lc_clk_thread *k, const struct lc_event_at *where, bool region);
struct lc_clk_part {
    uint64_t ticks;
    uint64_t ended;                 /* ticks of the portions that end */
    struct lc_portion_done portion; /* the sum of those that count (what_if_factors.h) */
    uint32_t gap;                   /* as in lc_clk_origins_worked */
};
extern const struct lc_event_type lc_clk_part_event; /* data: struct lc_clk_part */

/* Whether no event waits to be worked off, or is being: the caller's clocks are its own until it
 * submits the next event. Takes the lock. */
bool lc_clk_backlog_empty(struct lc_clk_thread *k);

/* The lock of the queue: while it is held no event is queued or run by others. */
void lc_clk_backlog_lock(void);
/* Releases the lock that lc_clk_backlog_lock took. */
void lc_clk_backlog_unlock(void);
/* Only the calling thread uses the queue, from the first event on (base/biased_lock.h). */
void lc_clk_backlog_own(void);
/* Another thread is going to use it; any thread may call this. */
void lc_clk_backlog_share(void);
/* The call whose event runs, if it does so when it happens: nothing was queued then; else NULL.
 * With the lock. */
const struct lc_call *lc_clk_backlog_in_time(void);
/* The queue is long: records come later than the program goes on. No lock needed. */
bool lc_clk_backlog_lags(void);

/* The call paths of the thread are about to be freed: its events, and its clocks, get copies of
 * those that they hold. After its last event. */
void lc_clk_backlog_keep_paths(struct lc_clk_thread *k);

/* The innermost function that certainly ran since the last event (rule "Which code"); before the
 * first event of a further thread that is the function in which it began. An event in the backlog
 * has no thread: it was asked when it was submitted. */
static inline uint32_t lc_clk_node_before(const struct lc_call *call) {
    const struct lc_entry *entry = call->entry;
    if (lc_likely(call->common > 0))
        return entry->items[call->common - 1].node;
    bool began = call->thread != NULL && call->thread->index > 0 && entry->n_items > 0;
    return began ? entry->items[0].node : 0;
}

static inline struct lc_event_at lc_clk_event_at(const struct lc_call *call) {
    return (struct lc_event_at){.path = call->entry->path,
                                .begin = call->begin,
                                .end = call->end,
                                .fn_ctx = call->entry->fn_ctx,
                                .fn = call->fn,
                                .node = lc_clk_node_before(call)};
}

/* Progress of the backlog: packets are taken, events that are ready run, packets sent. */

/* Makes progress during a call of the program, at `now` (lc_ticks): takes the packets that have
 * come, runs the events that are ready, sends packets. */
void lc_clk_backlog_progress(uint64_t now);

enum { LC_DRAIN_US = 20000 };
/* In a constructor, in which all members take part: makes progress until the queue is empty, for
 * LC_DRAIN_US at most. */
void lc_clk_backlog_drain(void);

/* In MPI_Finalize, collective: makes progress until the queues of all ranks are empty. */
void lc_clk_backlog_finish(struct lc_clk_thread *k);

#endif
