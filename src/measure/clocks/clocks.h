/* Logical clocks inside the wrappers: the process and thread data behind the points of
 * clocks_hooks.h.
 *
 * Nouns
 *   node       ranks that share memory (LATECOMER_TEST_NODES makes ranks believe that they are on
 *              several)
 *   transport  how an entry gets to another rank: ring in shared memory, or a message on a private
 *              communicator (record)
 *   reply      tells the sender of a message when its receive was posted (ring.h)
 *   open       edge or wait of a call that ended before all was known that it depends on (edges.h)
 *   candidate  what a call may have waited for; the largest (MPI_Waitall) or smallest
 *              (MPI_Waitsome) is the wait state
 *   deferred   what is left to do of a call that has ended; done at the thread's next event
 *   shadow     a nonblocking collective of our own beside one of the program, that carries clocks
 *              between nodes
 *   interval   measured interval of the process; the k-th of every rank belong together
 *
 * Invariants: nothing here blocks a call that is local in MPI, except in constructors, MPI_Init and
 * MPI_Finalize; what is lost is counted. Where threads may meet here (lc_clk.threads_meet)
 * everything but a thread's own clocks is under lc_clk.lock; whose these are, struct lc_clk_thread
 * says. */
#ifndef LC_MEASURE_CLOCKS_CLOCKS_H
#define LC_MEASURE_CLOCKS_CLOCKS_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/biased_lock.h"
#include "base/owned_lock.h"
#include "base/timer.h"
#include "format/facts.h"
#include "measure/clocks/call_state.h"
#include "measure/core/core.h"
#include "piggyback/area.h"
#include "piggyback/blame.h"
#include "piggyback/pairs.h"
#include "piggyback/cpvec.h"
#include "piggyback/match.h"

struct lc_freed_log;

enum {
    LC_REPLY_SLOTS = 1024,
    LC_INTERVALS_MAX = 4096,
    LC_VISITS_SELDOM = 256 /* system calls at most for visits to clocks of other threads */
};

struct lc_interval {     /* intervals.h */
    uint64_t begin, end; /* ticks */
    double outside_mpi;  /* sum of the spans of threads less their calls: useful_sum on its own */
    double alive;        /* sum of the spans of threads, ticks */
    double useful_sum, useful_max, threads, process_max_sum, chain, outside_omp, in_mpi; /* ticks */
    double process_chain; /* longest chain over edges inside the process */
    double outside_mpi_max;
    int32_t ends[LC_PATHS]; /* location where the longest of each kind ends; -1: none, not known */
    double task_chain;      /* with a clock per task; 0: no explicit task ran */
    double whatif[LC_WHATIF_MAX];
    struct lc_cp_item *items; /* of the thread with the longest chain */
    uint32_t n_items;
    uint64_t counts[LC_CP_COUNTS]; /* the same */
};
struct lc_clk_measured { /* offset to the global clock at `local_ns`, and the bound of its error */
    double local_ns, offset_ns, error_ns;
};

/* What nearly each event reads stands first, what it writes after that, each on as few lines of
 * cache as can be: the program's own data have to make room for them. */
struct lc_clk {
    bool ready; /* after MPI_Init: edges are possible */
    bool on;
    _Atomic bool may_defer; /* one thread only: calls may defer work */
    /* since MPI_Init, for good: with MPI_THREAD_MULTIPLE; and where clocks lag behind the program,
     * since threads that never call MPI have regions, and may run events of one that does */
    bool threads_meet;
    /* since MPI_Init, for good: other threads read a thread's own clocks when they switch */
    bool clocks_meet;
    bool backlog;    /* not all ranks share memory: clocks may lag behind the program (backlog.h) */
    bool mixed;      /* but some do */
    bool alone_each; /* of a test: no collectives are reduced together (collectives.h) */
    /* what is done at the end of a call may wait: for other threads, for MPI */
    bool finish_may_wait;
    bool records;          /* messages may carry entries */
    _Atomic bool choosing; /* scenarios: in some of the n_points (lc_clk_is_point) */
    /* the budget wants the first thread's vector, and origins of waits, noted less often */
    _Atomic bool rarer;
    uint32_t rank, size;
    _Atomic uint32_t epoch;    /* of intervals and phases; changed with the lock, any thread asks */
    uint32_t phase;            /* in progress, as in stamps; 0: none */
    _Atomic uint32_t n_whatif; /* threads ask while another one chooses scenarios */
    uint32_t whatif_tasks; /* bits: scenarios in which each task of OpenMP has a clock of its own */
    uint32_t visits;       /* of others to a thread's own clocks, so far; with lc_clk.lock */
    uint64_t slow_ticks;   /* 1 us: shorter sends did not wait for a receiver */
    uint64_t past_ticks;   /* shorter waits and stretches of work are not looked into (origins.h) */
    uint64_t trace_ticks;  /* nor traced to where waiting began; more while `rarer` */
    struct lc_clk_thread *threads; /* the first one stays first */
    FILE *log; /* LATECOMER_CLOCKS_LOG: what the tests compute clocks and waits from on their own */
    struct lc_area *areas;    /* by rank; head NULL: by messages */
    struct lc_ring_out *outs; /* by rank, made at the first message */
    struct lc_area mine;
    uint64_t (*phase_chain)(uint32_t phase, uint64_t now); /* in a phase that ends now; ticks */
    struct lc_matcher match;
    /* written */
    uint64_t waited_ticks;
    _Atomic uint64_t n_points;    /* operations in which all ranks waited for each other */
    struct lc_fact_counts counts; /* of this rank; lengths of time in ticks until the end */
    uint64_t next_order;
    struct lc_clk_recv *spare_recv;
    struct lc_biased lock;
    /* seldom */
    uint32_t n_intervals, cap_intervals;
    uint64_t switch_ticks;
    /* Set by OpenMP, once a runtime of it has started; NULL: none has. Longest chain of useful work
     * with a clock per task, ticks, in the interval that is about to end; 0: no explicit task ran.
     * Raises the what-if clocks to those of tasks that have ended. */
    uint64_t (*task_chain)(uint32_t interval, uint64_t *whatif);
    uint64_t phase_ticks;
    struct lc_interval *intervals;
    double ns_per_tick; /* as known at MPI_Init; used for all times that go to other nodes */
    uint64_t base_ticks;
    double base_ns; /* CLOCK_MONOTONIC_RAW of the node at base_ticks */
    /* nodes */
    uint32_t node, n_nodes;
    uint32_t *node_of; /* by rank */
    double offset_ns,
        sync_error_ns;          /* at MPI_Init: global time = local time + offset, and its bound */
    double sync_local_ns;       /* local time then */
    struct lc_clk_measured now; /* the latest, for times that go to other nodes */
    double drift;               /* of the offset, since MPI_Init */
    double resync_at_ns, resync_step_ns;
    uint32_t n_resyncs;
    double resync_error_ns; /* the largest bound of these */
    double ahead_ns; /* by so much was the offset wrong, at most, when it was measured again */
    struct lc_timer_bend bend;
    /* transports */
    int memory_fd;
    MPI_Comm comm;           /* private, for records */
    uint64_t buffered_bytes; /* shorter standard sends to other nodes are not expected to wait */
    struct lc_freed_log *freed_logs; /* of freed communicators, all of the small size */
    uint32_t n_freed_logs, cap_freed_logs;
    struct lc_clk_thread *ended; /* those whose versions of vectors nobody continues yet */
    _Atomic uint32_t n_threads;
    uint64_t largest_violation; /* ticks */
    uint64_t parts_taken;       /* of packets */
    /* waiting */
    struct lc_blame blame;
    struct lc_pairs pairs;
    struct lc_cp_kept kept; /* the first thread's vector, when `rarer` began */
    /* where waiting began (origins.h) */
    struct lc_blame costs;
    uint64_t cost_rest, cost_rest_indirect; /* ticks of waiting without a row */
    struct lc_past **pasts; /* by rank: the remote ones, of other nodes; NULL: none yet */
    struct lc_reply_slot replies[LC_REPLY_SLOTS];
    uint8_t fn_class[LC_FN_COUNT];
    uint8_t fn_syncs[LC_FN_COUNT]; /* enum lc_measured_wait of one that synchronises without data */
    bool fn_starts[LC_FN_COUNT];   /* starts messages, and waits for nothing */
    bool fn_sends[LC_FN_COUNT];    /* blocking, sends a message */
    bool fn_silent[LC_FN_COUNT];   /* MPI is to be asked nothing at its end */
    bool fn_uniform[LC_FN_COUNT]; /* collective: all members give and get as many bytes, all wait */
};
extern struct lc_clk lc_clk;

/* An event that is no call: the thread has worked in `node` until now (ticks). */
void lc_clk_worked(struct lc_clk_thread *k, uint64_t now, uint32_t node);
/* An event that is no call: the thread was in the OpenMP runtime until now (ticks). */
void lc_clk_left_runtime(struct lc_clk_thread *k, uint64_t now);

/* Parts of both, with the thread's own lock. */

/* Of the parts of time between two calls, into which regions and samples cut it, ranks that wait
 * for this one are told the largest: the one that ends took so many ticks. */
static inline void lc_clk_part_ends(struct lc_clk_thread *k, uint64_t ticks) {
    if (ticks > 0 && ticks >= k->l.longest) {
        k->l.longest = ticks;
        k->l.longest_node = k->l.node;
    }
}

/* It was in the runtime of OpenMP since then, until now. */
static inline void lc_clk_runtime_ends(struct lc_clk_thread *k, uint64_t since, uint64_t now) {
    if (since < k->l.begin) /* the interval began meanwhile */
        since = k->l.begin;
    uint64_t ticks = now > since ? now - since : 0;
    LC_SHOW(k->l.origin, k->l.origin + ticks);
    k->l.in_omp += ticks;
}

/* This thread is the only one, so far: locks cost nothing until there is another one. */
void lc_clk_own_locks(void);

static inline void lc_clk_lock(void) {
    if (lc_unlikely(lc_clk.threads_meet))
        lc_biased_lock(&lc_clk.lock);
}

static inline void lc_clk_unlock(void) {
    if (lc_unlikely(lc_clk.threads_meet))
        lc_biased_unlock(&lc_clk.lock);
}

/* A thread changes its own clocks: others may read them just now (lc_clk_all_lock). Where clocks
 * lag, the queue's lock does for that. No other lock is taken within it. */
static inline void lc_clk_own_lock(struct lc_clk_thread *k) {
    lc_owned_lock(&k->lock);
}

static inline void lc_clk_own_unlock(struct lc_clk_thread *k) {
    lc_owned_unlock(&k->lock);
}

/* How often the thread's vector is published: as its what-if clocks, its counters and the budget
 * want it. */
void lc_clk_set_grain(struct lc_clk_thread *k);
/* Work of which it was not noted where it was: an estimate of that. */
void lc_clk_spread(struct lc_clk_thread *k);
/* lc_budget_watch.calls */
bool lc_clk_carry_rarer(struct lc_thread *t, bool rarer);

/* One more visit of another thread to a thread's own clocks, with lc_clk.lock: are they so many
 * that owners are to be atomic (base/owned_lock.h)? */
bool lc_clk_visits_often(void);

/* lc_clk.lock and that of each thread: for who reads the clocks of all, or changes what each looks
 * at (intervals, phases). */
void lc_clk_all_lock(void);
void lc_clk_all_unlock(void); /* releases what lc_clk_all_lock took */

/* Lines of the log: S to context tag (send), P source context tag (post), R source context tag
 * (received), X context number kind root sends receives (collective begins), Y context number (is
 * over), Z context number (and its record was not waited for); then C function begin end interval
 * node: the call that they belong to. F 1|0 time name: a phase begins, ends. Windows: U to context
 * tag (announces an epoch), V source context tag (has received that), K context target shared (a
 * lock's epoch is over). D ticks: so much before the next begin was our own work; negative: less
 * than an earlier D said. At the end N node parent name. */
#define LC_CLK_LOG(...)                                                                            \
    do {                                                                                           \
        if (lc_unlikely(lc_clk.log != NULL))                                                       \
            fprintf(lc_clk.log, __VA_ARGS__);                                                      \
    } while (0)

/* The next event has come before the last call's own work would have been over as a rule. */
static inline void lc_clk_log_early(uint64_t last, uint64_t now) {
    if (now < last)
        LC_CLK_LOG("D -%llu\n", (unsigned long long)(last - now));
}

/* Lengths of time as they go to other nodes, whose ticks may differ. Signed: the processor has an
 * instruction for that; unsigned numbers take a dozen. */
static inline double lc_clk_ns_from(uint64_t ticks) {
    return (double)(int64_t)ticks * lc_clk.ns_per_tick;
}

static inline uint64_t lc_clk_ns_of(uint64_t ticks) {
    return (uint64_t)(int64_t)(lc_clk_ns_from(ticks) + 0.5);
}

static inline uint64_t lc_clk_ticks_of(uint64_t ns) {
    return (uint64_t)(int64_t)((double)(int64_t)ns / lc_clk.ns_per_tick + 0.5);
}

static inline uint64_t lc_min(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

#endif
