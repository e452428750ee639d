/* What a thread, a call, a request carry for the clocks, from the begin of a call to the point
 * where its wait state and its edges are known. */
#ifndef LC_MEASURE_CLOCKS_CALL_STATE_H
#define LC_MEASURE_CLOCKS_CALL_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/owned_lock.h"
#include "format/mpi_function.h"
#include "format/raw.h"
#include "measure/mpi/operations.h"
#include "measure/core/core.h"
#include "measure/core/thread.h"
#include "piggyback/logical.h"
#include "piggyback/match.h"
#include "piggyback/past.h"
#include "piggyback/ring.h"

struct lc_clk_comm;
struct lc_comm;
struct lc_path;

/* Wait states, and what else is measured of OpenMP, in the order of lc_raw_measured. */
enum lc_measured_wait {
    LC_MEASURED_LATESENDER,
    LC_MEASURED_LATERECEIVER,
    LC_MEASURED_PROBE,
    LC_MEASURED_POLL,
    LC_MEASURED_NXN,
    LC_MEASURED_BARRIER,
    LC_MEASURED_LATEBROADCAST,
    LC_MEASURED_EARLYREDUCE,
    LC_MEASURED_EARLYSCAN,
    LC_MEASURED_NEIGHBOR,
    LC_MEASURED_COMM,
    LC_MEASURED_FILE,
    LC_MEASURED_WIN_CREATE,
    LC_MEASURED_WIN_FREE,
    LC_MEASURED_WIN_FENCE,
    LC_MEASURED_WIN_EARLY,
    LC_MEASURED_WIN_POST,
    LC_MEASURED_WIN_LOCK,
    LC_MEASURED_FINALIZE,
    LC_MEASURED_OMP_IBARRIER,
    LC_MEASURED_OMP_EBARRIER,
    LC_MEASURED_OMP_CRITICAL,
    LC_MEASURED_OMP_LOCK,
    LC_MEASURED_OMP_TASKWAIT,
    LC_MEASURED_OMP_IDLE,
    LC_MEASURED_WAITS,
    LC_MEASURED_OMP_MANAGEMENT = LC_MEASURED_WAITS,
    LC_MEASURED_OMP_FORK,
    LC_MEASURED_OMP_LIMITED,    /* idle while the forking thread was in smaller teams */
    LC_MEASURED_OMP_TASK_READY, /* of tasks that do not run */
    LC_MEASURED_OMP_TASK_WORK,  /* useful time of tasks */
    LC_MEASURED_OMP_TASK_SPAN,  /* longest chain of it */
    LC_MEASURED_OMP_CREATED,
    LC_MEASURED_OMP_STOLEN,
    LC_MEASURED_OMP_AT_ONCE, /* most tasks that ran at the same time */
    LC_MEASURED_KINDS
};
_Static_assert((int)LC_MEASURED_WAITS == LC_RAW_WAITS &&
                   (int)LC_MEASURED_OMP_CREATED == LC_RAW_COUNTS,
               "the order of lc_raw_measured");
_Static_assert(LC_MEASURED_KINDS + 1 == LC_RAW_MEASURED, "the order of lc_raw_measured");

/* What a function does with candidates. */
enum lc_fn_class {
    LC_FN_OTHER,
    LC_FN_PLAIN,    /* blocking receives, sends, probes, MPI_Wait, MPI_Waitany: one candidate or the
                    largest */
    LC_FN_WAITALL,  /* the largest */
    LC_FN_WAITSOME, /* the smallest */
    LC_FN_SENDRECV  /* receives only */
};

struct lc_candidate {
    uint64_t ticks;
    uint32_t kind; /* enum lc_measured_wait */
    uint32_t late_rank, late_node;
    uint64_t begin; /* of the waiting */
};

/* Calls that only asked and found nothing, one after the other (polling.h). */
struct lc_polling {
    uint64_t ticks;      /* that they took; 0: there was none */
    uint64_t begin, end; /* of the first, of the last */
    uint64_t next;       /* the call after them began; 0: there was none yet */
    struct {
        struct lc_path *path;
        uint64_t ticks;
    } at[LC_POLLED_PATHS]; /* where they were made; the last of more than so many has the rest */
    struct lc_candidate found; /* what they waited for, to be booked; ticks 0: nothing */
    bool goes_on;              /* the thread's last call was one of them */
};

/* A collective operation from its begin to its end. */
struct lc_clk_coll {
    struct lc_clk_comm *c;
    uint64_t op;
    enum lc_coll_kind kind;
    int32_t root;
    bool is_root, sends, receives, nonblocking;
    bool constructor;         /* of a new communicator: it has no place in the log */
    bool refused, published;  /* by MPI; to the others: this member's clocks */
    bool certain;             /* blocking, and every member waits for every other */
    uint8_t *from;            /* v forms: does data come from rank i? NULL: from all that send */
    struct lc_shadow *shadow; /* transport by messages; NULL: none */
    uint64_t ended;           /* the call (lc_patience_ticks) */
};

/* The end of a call, for an edge into it that is known later. */
struct lc_call_end {
    struct lc_logical_since since; /* of this thread */
    uint64_t begin, end;           /* of the call */
    uint64_t useful;               /* the clock when it ended */
    uint32_t interval, phase;
    uint32_t calls; /* that began since, and published their clocks */
};

/* The end of a call whose entry is on its way from another core: it is read at the thread's next
 * event, when it has come (lc_stamp_end asks for it), so that nothing waits for it. */
enum lc_deferred_kind { LC_DEFERRED_NONE, LC_DEFERRED_RECEIVED, LC_DEFERRED_COLLECTIVE };

struct lc_deferred {
    enum lc_deferred_kind kind;
    bool ended; /* the call itself is over */
    bool notified;
    struct lc_call call;
    struct lc_comm *comm;
    int32_t peer, tag; /* LC_DEFERRED_RECEIVED: of the message */
    uint64_t bytes;
    struct lc_clk_recv *recv; /* NULL: blocking */
};

/* The wait state of a call as it is booked, for a larger one of the same call that is known later:
 * kept as long as somebody holds it who may book that. With lc_clk.lock. */
struct lc_booked {
    struct lc_booked *next;     /* of those that nobody holds */
    uint32_t holders;           /* the thread, while it is its last one, counts as well */
    uint32_t kind;              /* LC_MEASURED_KINDS: nothing is booked */
    struct lc_state_wait *wait; /* of the call path */
    uint64_t begin;             /* of the call */
    uint64_t ticks;
    uint32_t late_rank, n_parts;
    struct lc_past_part parts[LC_PAST_PARTS]; /* the rows of blame that it is in */
};
enum { LC_DONE = 64 };

enum { LC_BLOCKERS = 32 };

/* Where in the program, and when, an event of a thread happens. */
struct lc_event_at {
    struct lc_path *path;
    uint64_t begin, end, fn_ctx; /* of the call; fn_ctx: as in lc_entry */
    uint32_t fn;
    uint32_t node; /* innermost that certainly ran since the thread's last event */
};

/* Who may touch what. Clocks that do not lag behind the program: all is the thread's own, but
 * `next`, `thread`; with MPI_THREAD_MULTIPLE it changes l, between and in_runtime with its own
 * lock (lc_clk_own_lock) or lc_clk.lock, since others switch measurement or begin phases, with all
 * locks (lc_clk_all_lock). Where they lag (backlog.h), any thread may run this one's events:
 *   always the thread's    seen, seen_cut, worked, begun, has_begun, asks, in_gap, gap, claim,
 *                          deferred, blocking, sync_comm, sync; no event touches them, nor what
 *                          the thread has besides (struct lc_thread, its entries)
 *   never changed          index
 *   lc_clk.lock            next, next_ended, thread (NULL once it has ended)
 *   the queue's lock       all else: the thread touches it in its events, or, with lc_clk.lock,
 *                          while none of these is queued (lc_clk_backlog_empty); `waited` and
 *                          `polling.at` are replaced when the thread's call paths go
 *                          (lc_clk_backlog_keep_paths)
 * Who looks at the clocks of all threads (intervals, phases, replies) has both locks. */
struct lc_clk_thread {
    struct lc_logical l;
    struct lc_owned lock; /* lc_clk_own_lock */
    struct lc_thread *thread;
    uint32_t index; /* of its location */
    /* where clocks lag behind the program: end of the last event of the program, and what it has
     * worked until then, in all measured intervals */
    uint64_t seen, worked;
    uint64_t seen_cut; /* as cut, there */
    /* the begin of a call that waits for the first event of the call, to be queued with it */
    struct lc_event_at begun;
    bool has_begun;
    bool asks;           /* there: the call in progress only asks, and has found nothing */
    bool between;        /* where the clocks are, is the thread between two calls? */
    uint32_t n_blockers; /* of `blockers` */
    uint32_t epoch;      /* of the intervals this thread has seen */
    bool any_candidate;  /* of the call in progress, or of the last one */
    bool unbooked;       /* that wait state is still to be booked */
    bool sampled;        /* l.longest_node was found by samples */
    bool in_gap;         /* samples are cutting the time since the last event, */
    uint32_t gap;        /* which has this number */
    uint32_t carried;    /* calls with what-if clocks */
    bool choose_now;     /* scenarios, at the end of this call */
    uint64_t cut;        /* ticks of the portion in progress that samples have cut off */
    bool todo;           /* replies or edges back wait for the next call */
    uint8_t n_open_posts, n_open_arrivals;
    struct lc_open *open_edges; /* edges.c */
    struct lc_candidate worst;  /* the chosen one so far */
    struct lc_path *waited;     /* the last call */
    struct lc_polling polling;
    struct lc_booked *booked; /* of the last call that may get a larger wait later; or NULL */
    const void *claim;        /* place of the next entry of the ring last sent to, or NULL */
    struct lc_deferred deferred;
    struct lc_clk_coll blocking; /* the blocking collective in progress */
    struct lc_comm *sync_comm;   /* synchronising.c: of the LC_COLL_SYNC in progress, */
    struct lc_clk_coll *sync;    /* and that one */
    struct lc_clk_thread *next, *next_ended;
    uint64_t in_runtime; /* since when it is in the OpenMP runtime; 0: it is not */
    uint64_t began;      /* the last call; UINT64_MAX: looked at (origins.h) */
    /* all members of it were in a collective at met_at, which counts when its wait is booked */
    const struct lc_clk_comm *met_comm;
    uint64_t met_at;
    /* this thread and all ranks were in a collective then; before that (its wait is not booked yet)
     */
    uint64_t met_all, met_before;
    /* pasts.h: NULL, LC_PAST_ANY: it has none. Its calls are noted where `calls` is not NULL */
    struct lc_past *past;
    struct lc_met *met; /* by rank */
    _Atomic uint64_t *calls;
    uint8_t past_number;
    bool past_refused;
    uint32_t last_gap; /* of the stretch of work before */
    /* the first thread, with MPI_THREAD_MULTIPLE: at the end of its last call, of this interval */
    struct lc_logical_since at_end;
    uint32_t marked;
    uint32_t n_done; /* work since there was something to do */
    struct lc_logical_done done[LC_DONE];
    uint32_t blockers[LC_BLOCKERS]; /* ranks whose messages the call waited for */
};

/* Open or matched receive. */
struct lc_clk_recv {
    struct lc_recv recv;
    struct lc_ring_entry matched_entry; /* of a message matched by MPI_Mprobe */
    bool is_matched, has_matched_entry;
    bool reply_later;            /* its sender can only be notified when the message is known */
    uint32_t post_number;        /* of its line (piggyback/posts.h), count of the posts then */
    bool notified;               /* its sender has been notified */
    bool queued, released;       /* its post is in the backlog; it goes to the free list then */
    struct lc_stashed *claimed;  /* in the backlog: its entry, may be pending */
    bool reply_pending, replied; /* its sender may wait for a reply (back_edges.c); has it */
    struct lc_clk_recv *next_reply, *previous_reply;
    struct lc_clk_thread *k;
};

struct lc_reply_slot {
    uint32_t rank, seq;
    struct lc_stamp stamp; /* enter: when the receive was posted */
    uint64_t *extra;       /* that came with it over messages: room for LC_RECORD_EXTRA */
    uint32_t n_extra;
};

#endif
