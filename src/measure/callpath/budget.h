/* What the tool costs, and the budget for it (--max-overhead).
 *
 * Cost: at about every LC_SAMPLE_EVERY'th call of a thread, at distances that vary,
 * LC_SAMPLE_GROUP calls in a row take two more stamps: right before MPI is called and when the
 * wrapper is done. Both parts, from the begin stamp to MPI and from the end stamp on, stand for the
 * calls since the last group, and with them what lies before the first and after the last stamp,
 * which is measured once at the start. Rare work (new call paths, communicators) is stamped
 * whenever it happens: lc_path_counts.own_ticks; of one piece of it what is more than a millisecond
 * is an interruption (interrupted_ticks), but for what is known to be processor time. Of OpenMP one
 * of LC_EVENT_EVERY events or calls is measured, at distances from 1 to twice as many that a small
 * generator draws, so that no program keeps step with them: what it took stands for all since the
 * one before it (openmp_ticks).
 * Events are those that a runtime tells (OMPT): one that is measured takes a stamp at its end, too.
 * Calls are those of GCC's code to its runtime, and of that to us (gomp/): their events are not
 * measured. One that is measured takes a stamp where each part of ours begins, and where it ends;
 * for what lies outside of these it has what is outside of the stamps of a wrapper of MPI. That is
 * an estimate; its standard error, as a share, is sqrt(E(d^2) / (LC_EVENT_EVERY n)) = 3.2 / sqrt(n)
 * of n events at distances d, times how much their costs differ (standard deviation by mean). Not
 * in it: what comes before an event's first stamp; the last events or calls of a thread, up to
 * twice as many; calls that do not come back, and those for which they stand; events that a runtime
 * tells of a thread that calls GCC's, too. Of neither, nor of calls of MPI, there is what is more
 * than COST_TIMES the usual of one, of OpenMP's more than COST_STAMPS stamps as well (the thread
 * was interrupted, as it seems; it may have been new code).
 *
 * Budget: of it, calls and samples may have what the tool's start and end leave. Where the cost of
 * a thread is above that of late, and near to it since its begin, its dearest call sites are
 * measured with less detail, and samples are taken less often where it is they that cost. A run is
 * taken to last LC_BUDGET_RUN_S at least, so that what a program does at its start changes nothing.
 *
 * Nouns
 *   site     a return address and a function of MPI; per thread
 *   counted  its calls are counted and not timed: their time belongs to the code around them. Only
 *            of functions that neither the clocks nor requests need to know of (LC_MPI_LOCAL)
 *   plain    parallel regions of one thread: their time is measured, and nothing in them
 *   untimed  the same, where that is still too much: they are counted as calls are
 *   some     of polls one of `every` on average is timed, at distances that vary, and stands for
 *            the others (hot/polls.h)
 *   caller   of other functions, where unwinding new call paths is most of the cost: a path that is
 *            not known is no longer unwound, its entry has "..." and the function that calls MPI.
 *            Where the cost since the thread's begin has become little again, so that a program's
 *            start decides nothing for its whole run, paths are unwound again
 *   rarer    where no call site can be made cheaper: what clocks carry from call to call, beside
 *            themselves, is carried less often (lc_budget_watch), until that cost is little again
 */
#ifndef LC_MEASURE_CALLPATH_BUDGET_H
#define LC_MEASURE_CALLPATH_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/timer.h"
#include "format/facts.h" /* enum lc_detail, LC_POLL_EVERY */
#include "format/state.h"
#include "measure/core/core.h"
#include "measure/core/thread.h"

enum { LC_SAMPLE_FIRST = 16, LC_SAMPLE_EVERY = 1024, LC_SAMPLE_GROUP = 8, LC_BUDGET_RUN_S = 1 };
enum { LC_EVENT_EVERY = 8 };

/* A step that was taken; of all threads. */
struct lc_budget_step {
    uint64_t ra;
    uint32_t fn;
    uint32_t detail; /* enum lc_detail */
};
enum { LC_BUDGET_STEPS = 128 };

enum { LC_BUDGET_SITES = 256 }; /* a power of two; of one thread */

struct lc_budget_site {
    uint64_t ra; /* 0: empty */
    uint32_t fn;
    uint8_t detail;           /* enum lc_detail */
    bool failed, due;         /* a step in vain; one at its next call that is looked at */
    struct lc_state_row *row; /* counted: where; else NULL */
    uint64_t n_counted;       /* calls that were not timed */
    uint64_t cost_ticks;      /* of late */
    uint64_t rare_ticks;      /* of which unwinding */
    uint32_t n_rare;          /* call paths that were new */
    /* some (hot/polls.h) */
    uint32_t every;                    /* one of so many is timed; 0: all are */
    uint32_t left;                     /* calls until the next one that is timed */
    uint32_t skipped;                  /* calls since the last event, which were not timed */
    bool tried, completes;             /* LC_MPI_TRIED_FIRST; the call completes its request */
    struct lc_budget_site *next;       /* that has skipped ones */
    struct lc_entry *entry;            /* of the first skipped one */
    uint64_t poll_ticks;               /* LC_POLL_PARTS times what one takes */
    uint64_t dense_polls, dense_ticks; /* that they took, of so much time between events */
};

struct lc_budget_sites {
    struct lc_budget_site sites[LC_BUDGET_SITES];
    uint32_t n_sites;
};

/* NULL: not known. */
static inline struct lc_budget_site *lc_budget_find_site(struct lc_budget_sites *all, uint32_t fn,
                                                         uint64_t ra) {
    uint32_t i = (uint32_t)(lc_hash_key(ra) >> 56) % LC_BUDGET_SITES;
    for (; all->sites[i].ra != 0; i = (i + 1) % LC_BUDGET_SITES)
        if (all->sites[i].ra == ra && all->sites[i].fn == fn)
            return &all->sites[i];
    return NULL;
}

struct lc_entry;

/* What rooms above can do where no call site can be measured with less detail; what starts the core
 * sets it. */
struct lc_budget_watch {
    /* Calls of this thread are too dear, or (dear: false) are no longer. True: from now on less is
     * carried. */
    bool (*calls)(struct lc_thread *t, bool dear);
};
extern struct lc_budget_watch lc_budget_watch;

/* An entry was made; so it is known which sites have one call path only. */
void lc_budget_path_made(struct lc_thread *t, const struct lc_entry *entry);
/* Is a call path of this site that is not known to be left out but for its caller? */
bool lc_budget_caller_only(struct lc_thread *t, uint32_t fn, uint64_t ra);

/* Calls of the thread that were only counted. */
uint64_t lc_budget_counted(const struct lc_thread *t);
/* What one of these takes. */
double lc_budget_counted_ticks(void);
/* What a stamp takes. */
uint64_t lc_budget_stamp_ticks(void);
/* A library went away: return addresses may come to mean something else. Polls that are skipped
 * have been booked (hot/polls.h). */
void lc_budget_forget(struct lc_thread *t);
/* Frees what the thread keeps of its call sites. */
void lc_budget_free(struct lc_thread *t);

/* Reads --max-overhead. Not wanted: LATECOMER_CHECK_PATHS compares full paths, and a trace shows
 * each call. */
void lc_budget_init(bool wanted);
double lc_budget_share(void); /* 0: off */
/* The start has taken so much of a processor, but for what ranks do together in MPI_Init. */
void lc_budget_started(uint64_t cpu_ns);
/* The steps of this process, at most LC_BUDGET_STEPS; with lc_core.lock held. */
const struct lc_budget_step *lc_budget_steps(uint32_t *n);

/* Rare work at a call, after it was added to own_ticks. */
void lc_budget_rare(struct lc_call *call, uint64_t ticks);
/* Rare work that no detail less at a call site would make cheaper; adds it to own_ticks. cpu_ns:
 * processor time of the thread in it; where ranks wait for each other in this work, the rest is
 * mostly that one of them had no processor. */
void lc_budget_apart(struct lc_thread *t, uint64_t ticks, uint64_t cpu_ns);
/* An event of OpenMP took so long, from its begin stamp to one at its end, which others do not
 * take, and stands for n events: adds to openmp_ticks. */
void lc_budget_events(struct lc_thread *t, uint64_t ticks, uint32_t n);
/* Begin of such an event, ticks, where it takes no stamp itself. */
uint64_t lc_budget_event_begins(struct lc_thread *t);
/* A call took so long in so many parts, from a stamp to another that the others do not take, and
 * stands for n calls: adds to openmp_ticks. */
void lc_budget_parts(struct lc_thread *t, uint64_t ticks, uint32_t parts, uint32_t n);
/* What such a call takes without the stamps. */
uint64_t lc_budget_without_stamps(uint64_t ticks, uint32_t parts);
/* From one event, or call, that is measured to the next: from 1 to twice LC_EVENT_EVERY, which it
 * is on average. */
static inline uint32_t lc_budget_gap(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u; /* (Numerical Recipes, ranqd1) */
    return 1 + (uint32_t)((uint64_t)*state * (2 * LC_EVENT_EVERY - 1) >> 32);
}

/* A parallel region of one thread ended, and so much of openmp_ticks came in it: on average what it
 * costs. */
void lc_budget_team(struct lc_thread *t, const void *code, uint64_t ticks);
/* Is such a region to be measured as a whole only? *row: NULL, or where it is counted only. */
bool lc_budget_is_plain(struct lc_thread *t, const void *code, struct lc_state_row **row);

/* How many times less often samples of the code between events are to be taken, instead of
 * now_times: twice as many where they take more than a quarter of the budget (asked: of a rate that
 * the user named, only where the budget is used up), half as many where they take little of it.
 * Judged at most once in some 50 ms. */
uint32_t lc_budget_samples_rarer(struct lc_thread *t, uint32_t now_times, bool asked);

/* The cold half of lc_sample_begin: the stamps of a call that is measured, and when the next one
 * is. */
void lc_sample_begin_cold(struct lc_call *call);
/* The cold half of lc_sample_end. */
void lc_sample_end_cold(struct lc_call *call);

/* Right before MPI is called. */
static inline void lc_sample_begin(struct lc_call *call) {
    if (lc_unlikely(--call->thread->until_sample <= 0))
        lc_sample_begin_cold(call);
}

/* The last thing of a call. */
static inline void lc_sample_end(struct lc_call *call) {
    if (lc_unlikely(call->thread->until_sample <= 0))
        lc_sample_end_cold(call);
}

#endif
