/* Logical clocks inside the wrappers: the process and thread data behind the points of
 * clocks_hooks.h.
 *
 * Nouns
 *   node       ranks that share memory (LATECOMER_TEST_NODES makes ranks believe that they are on
 *              several)
 *   transport  how an entry gets to another rank: ring in shared memory, or a message on a private
 *              communicator (record)
 *   late       what a receiver tells the sender of a message that was there before the receive was
 *              posted: a reply (ring.h)
 *   candidate  what a call may have waited for; the largest (MPI_Waitall) or smallest
 *              (MPI_Waitsome) is the wait state
 *   deferred   what is left to do of a call that has ended; done at the thread's next event
 *   shadow     a nonblocking collective of our own beside one of the program, that carries clocks
 *              between nodes
 *   interval   measured interval of the process; the k-th of every rank belong together
 *
 * Invariants: nothing here blocks a call that is local in MPI, except in constructors, MPI_Init and
 * MPI_Finalize; what is lost is counted. With MPI_THREAD_MULTIPLE everything but a thread's own
 * clocks is under lc_clk.lock. */
#ifndef LC_MEASURE_CLOCKS_CLOCKS_H
#define LC_MEASURE_CLOCKS_CLOCKS_H

#include <pthread.h>
#include <stdio.h>

#include "piggyback/blame.h"
#include "piggyback/combine.h"
#include "piggyback/logical.h"
#include "piggyback/match.h"
#include "measure/hooks.h"

/* Wait states, in the order of lc_raw_measured. */
enum lc_measured_wait {
    LC_MEASURED_LATESENDER,
    LC_MEASURED_LATERECEIVER,
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
    LC_MEASURED_KINDS
};
_Static_assert(LC_MEASURED_KINDS + 1 == LC_RAW_MEASURED, "the order of lc_raw_measured");

/* What a function does with candidates. */
enum lc_fn_class {
    LC_FN_OTHER,
    LC_FN_PLAIN, /* blocking receives, sends, MPI_Wait, MPI_Waitany: one candidate or the largest */
    LC_FN_WAITALL,  /* the largest */
    LC_FN_WAITSOME, /* the smallest */
    LC_FN_SENDRECV  /* receives only */
};

struct lc_candidate {
    uint64_t ticks;
    uint32_t kind; /* enum lc_measured_wait */
    uint32_t late_rank, late_node;
};

struct lc_clk_comm;
struct lc_shadow;

/* A collective operation from its begin to its end. */
struct lc_clk_coll {
    struct lc_clk_comm *c;
    uint32_t op;
    enum lc_coll_kind kind;
    int32_t root;
    bool is_root, sends, receives, nonblocking;
    bool may_block;           /* the call that ends it is not local in MPI */
    uint8_t *from;            /* v forms: does data come from rank i? NULL: from all that send */
    struct lc_shadow *shadow; /* transport by messages */
};

/* The end of a call, for an edge into it that is known later. */
struct lc_call_end {
    struct lc_logical_since since; /* of this thread */
    uint64_t begin, end;           /* of the call */
    uint32_t interval, phase;
    uint32_t calls; /* that began since, and told others what they knew */
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

struct
    lc_unresolved { /* a send that may have waited for its receive; nobody has told when that was */
    uint32_t to, seq;
    bool surely; /* else it waited if the receive was posted during the call */
    struct lc_call_end at;
};

/* A wait state as it was booked, for one of the same call that is known later. */
struct lc_booked {
    struct lc_state_wait *wait; /* of the call path */
    uint32_t kind;              /* LC_MEASURED_KINDS: nothing was booked */
    uint64_t ticks;
};

enum { LC_UNRESOLVED = 16, LC_DONE = 64 };

struct lc_clk_thread {
    struct lc_logical l;
    struct lc_thread *thread;
    uint32_t epoch;               /* of the intervals this thread has seen */
    bool any_candidate;           /* of the call in progress, or of the last one */
    bool unbooked;                /* that wait state is still to be booked */
    bool todo;                    /* replies or edges back wait for the next call */
    uint8_t n_unresolved, n_late; /* edges back; mirrors left behind */
    struct lc_candidate worst;    /* the chosen one so far */
    struct lc_path *waited;       /* the last call */
    const void *claim;            /* place of the next entry of the ring last sent to, or NULL */
    struct lc_deferred deferred;
    struct lc_clk_coll blocking; /* the blocking collective in progress */
    struct lc_comm *sync_comm;   /* synchronising.c: of the one that is a MEET */
    struct lc_clk_thread *next;
    struct lc_unresolved unresolved_sends[LC_UNRESOLVED];
    uint32_t n_done; /* work since there was something to do */
    struct lc_logical_done done[LC_DONE];
};

/* Open or matched receive. */
struct lc_clk_recv {
    struct lc_recv recv;
    struct lc_ring_entry matched_entry; /* of a message matched by MPI_Mprobe */
    bool is_matched, has_matched_entry;
    uint64_t *matched_extra; /* that came with it, or NULL */
    uint32_t n_matched_extra;
    bool reply_later;     /* its sender can only be told when the message is known */
    uint32_t post_number; /* of its line (piggyback/posts.h), count of the posts then */
    bool notified;        /* its sender has been told */
};

struct lc_clk_comm {
    uint32_t context;
    bool shadow; /* members on several nodes: collectives by messages on `copy` */
    bool alone;  /* one member: no edges */
    uint32_t n_barriers, next_sync, sync_step; /* trace_offsets.c */
    double looked_ns;
    MPI_Comm copy;              /* MPI_COMM_NULL: none, or not yet: */
    struct lc_clk_copy *making; /* after MPI_Comm_idup; NULL: it is there */
    struct lc_clk_copy *next;   /* of what MPI_Comm_idup is about to make of this one */
    struct lc_clk_comm *maker;  /* while it is not there: of the parent, */
    struct lc_clk_comm *child;  /* which knows this one */
    bool copies_ready;          /* nothing of that, on any member, since all were in a collective */
    struct lc_clk_comm *unready; /* the next one in the list of those whose copy is not there */
    struct lc_shadow *waiting;   /* operations that began before it is, in order */
    uint32_t n_syncs;            /* exchanges over it in constructors */
    struct lc_colllog log;
    struct lc_combine combine; /* more than 8 members, all on this node */
    int32_t *sources,
        n_sources; /* neighbourhood: ranks this one receives from; n -1: not asked yet */
    int32_t *targets, n_targets; /* ranks it sends to; NULL: the same as sources */
};

struct lc_reply_slot {
    uint32_t rank, seq;
    struct lc_stamp stamp; /* enter: when the receive was posted */
    uint64_t *extra;       /* that came with it over messages: room for LC_RECORD_EXTRA */
    uint32_t n_extra;
};

struct lc_pending { /* a send that ended before its reply was there */
    uint32_t rank, seq;
    uint64_t begin, end;
    uint64_t bytes; /* of a standard send; others 0 */
    struct lc_booked instead;
};

struct lc_interval {
    uint64_t begin, end; /* ticks */
    double outside_mpi;  /* sum of the spans of threads less their calls: useful_sum on its own */
    double useful_sum, useful_max, threads, process_max_sum, chain, outside_omp, in_mpi; /* ticks */
    double whatif[LC_WHATIF_MAX];
    struct lc_cp_item *items; /* of the thread with the longest chain */
    uint32_t n_items;
};

enum { LC_REPLY_SLOTS = 1024, LC_PENDING = 256, LC_INTERVALS_MAX = 4096 };

struct lc_clk_counts {
    uint64_t messages, n_bent, collectives, skipped, violations, unresolved;
    uint64_t records, replies, packed, record_bytes, shadows,
        combined; /* messages and collectives of our own; replies that went with others */
    /* edges that came after others had been told, and by how many ticks clocks were too low */
    uint64_t edges_late, late_useful, late_whatif[LC_WHATIF_MAX];
};

struct lc_clk_measured { /* offset to the global clock at `local_ns`, and the bound of its error */
    double local_ns, offset_ns, error_ns;
};

/* What a new thread begins with where threads call MPI at the same time: clocks of the first one at
 * the end of its last call. */
struct lc_clk_first {
    _Atomic uint64_t useful, origin, whatif[LC_WHATIF_MAX];
    _Atomic uint32_t interval;
};

struct lc_clk {
    bool ready; /* after MPI_Init: edges are possible */
    bool on;
    bool may_defer; /* one thread only: calls may leave a rest */
    /* what is done at the end of a call may wait: for other threads, for MPI */
    bool finish_may_wait;
    uint32_t rank, size;
    uint32_t epoch, n_intervals, cap_intervals; /* epoch: of intervals and phases */
    uint64_t switch_ticks;
    uint32_t phase; /* in progress, as in stamps; 0: none */
    uint64_t phase_ticks;
    struct lc_interval *intervals;
    double ns_per_tick; /* as known at MPI_Init; used for all times that go to other nodes */
    uint64_t base_ticks;
    double base_ns;      /* CLOCK_MONOTONIC_RAW of the node at base_ticks */
    uint64_t slow_ticks; /* 1 us: shorter sends did not wait for a receiver */
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
    struct lc_timer_bend bend;
    /* transports */
    bool records; /* messages may carry entries */
    struct lc_area mine;
    struct lc_area *areas;    /* by rank; head NULL: by messages */
    struct lc_ring_out *outs; /* by rank, made at the first message */
    int memory_fd;
    MPI_Comm comm;           /* private, for records */
    uint64_t buffered_bytes; /* shorter standard sends to other nodes are not expected to wait */
    struct lc_matcher match;
    uint64_t next_order;
    struct lc_clk_recv *spare_recv;
    struct lc_freed_log *freed_logs; /* of freed communicators, all of the small size */
    uint32_t n_freed_logs, cap_freed_logs;
    /* waiting */
    struct lc_blame blame;
    uint64_t waited_ticks;
    struct lc_reply_slot replies[LC_REPLY_SLOTS];
    struct lc_pending pending[LC_PENDING];
    uint32_t n_pending;
    uint8_t fn_class[LC_FN_COUNT];
    uint8_t fn_syncs[LC_FN_COUNT]; /* enum lc_measured_wait of one that synchronises without data */
    bool fn_starts[LC_FN_COUNT];   /* starts messages, and waits for nothing */
    struct lc_clk_thread *threads; /* the first one stays first */
    struct lc_clk_first first;
    uint32_t n_threads;
    /* what-if */
    uint32_t n_whatif;
    struct lc_clk_counts counts;
    FILE *log; /* LATECOMER_CLOCKS_LOG: what the tests compute clocks and waits from on their own */
    pthread_mutex_t lock;
};
extern struct lc_clk lc_clk;

static inline void lc_clk_lock(void) {
    if (lc_unlikely(lc_core.multiple))
        pthread_mutex_lock(&lc_clk.lock);
}

static inline void lc_clk_unlock(void) {
    if (lc_unlikely(lc_core.multiple))
        pthread_mutex_unlock(&lc_clk.lock);
}

/* Lines of the log: S to context tag (send), P source context tag (post), R source context tag
 * (received), X context number kind root sends receives (collective begins), Y context number (is
 * over), Z context number (and its record was left behind); then C function begin end interval
 * node: the call that they belong to. F 1|0 time name: a phase begins, ends. Windows: U to context
 * tag (tells of an epoch), V source context tag (has heard), K context target shared (a lock's
 * epoch is over). D ticks: so much before the next begin
 * was our own work. At the end N node parent name. */
#define LC_CLK_LOG(...)                                                                            \
    do {                                                                                           \
        if (lc_unlikely(lc_clk.log != NULL))                                                       \
            fprintf(lc_clk.log, __VA_ARGS__);                                                      \
    } while (0)

static inline struct lc_clk_comm *lc_clk_comm_of(const struct lc_comm *comm) {
    return comm->clocks;
}

/* World rank of a peer, -1 if it has none. */
static inline int32_t lc_clk_world(const struct lc_comm *comm, int32_t peer) {
    return peer >= 0 && peer < (comm->inter ? comm->remote_size : comm->size) ? comm->world[peer]
                                                                              : -1;
}

/* Lengths of time as they go to other nodes, whose ticks may differ. */
static inline uint64_t lc_clk_ns_of(uint64_t ticks) {
    return (uint64_t)((double)ticks * lc_clk.ns_per_tick + 0.5);
}

static inline uint64_t lc_clk_ticks_of(uint64_t ns) {
    return (uint64_t)((double)ns / lc_clk.ns_per_tick + 0.5);
}

static inline uint64_t lc_min(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* A candidate of the call in progress (ticks 0 counts where the smallest is wanted). */
static inline void lc_clk_candidate(struct lc_clk_thread *k, const struct lc_call *call,
                                    enum lc_measured_wait kind, uint64_t ticks, uint32_t late_rank,
                                    uint32_t late_node) {
    if (lc_unlikely(k->any_candidate) &&
        (lc_clk.fn_class[call->fn] == LC_FN_WAITSOME ? ticks >= k->worst.ticks
                                                     : ticks <= k->worst.ticks))
        return;
    k->any_candidate = k->unbooked = true;
    k->worst = (struct lc_candidate){ticks, kind, late_rank, late_node};
}

/* Does what the last call has left; before anything else of the next event. */
void lc_clk_deferred_do(struct lc_clk_thread *k);
static inline void lc_clk_deferred(struct lc_clk_thread *k) {
    if (k->deferred.kind != LC_DEFERRED_NONE)
        lc_clk_deferred_do(k);
}
/* The call leaves a rest of this kind; the caller fills in what else it needs. */
static inline struct lc_deferred *lc_clk_defer(struct lc_clk_thread *k, const struct lc_call *call,
                                               enum lc_deferred_kind kind, struct lc_comm *comm) {
    if (lc_unlikely(k->deferred.kind != LC_DEFERRED_NONE)) /* of another part of this call */
        lc_clk_deferred_do(k);
    k->deferred.kind = kind;
    k->deferred.ended = false;
    k->deferred.comm = comm;
    k->deferred.call.thread = call->thread;
    k->deferred.call.entry = call->entry;
    k->deferred.call.begin = call->begin;
    k->deferred.call.end = call->end;
    k->deferred.call.fn = call->fn;
    return &k->deferred;
}
/* It cannot wait. Returns ticks that the call waited for its message. */
uint64_t lc_clk_deferred_now(struct lc_clk_thread *k);
/* collectives.c */
void lc_clk_deferred_collective(struct lc_clk_thread *k, struct lc_deferred *deferred);

/* wait_states.c: a wait state of a call path */
void lc_clk_book(struct lc_clk_thread *k, struct lc_path *path, const struct lc_candidate *c);
void lc_clk_reply(void *user, uint32_t source, const struct lc_ring_entry *entry);
const struct lc_reply_slot *lc_clk_find_reply(uint32_t rank, uint32_t seq);
/* Vector and what-if clocks that came with a reply, before the reply itself is read. */
void lc_clk_reply_extra(uint32_t rank, int32_t seq, const uint64_t *extra, uint32_t n);
void lc_clk_wait_later(struct lc_clk_thread *k, const struct lc_call *call, uint32_t rank,
                       uint32_t seq, uint64_t bytes);

/* An edge back that comes late: it counts from the begin of a later call on, as if it had come in
 * time, except in what was told to others meanwhile (counts.edges_late). */
void lc_clk_add_unresolved(struct lc_clk_thread *k, const struct lc_call *call, uint32_t to,
                           uint32_t seq, bool surely);
/* The end of the call in progress; and an edge into it, with lc_clk.lock held. */
void lc_clk_call_end(const struct lc_clk_thread *k, const struct lc_call *call,
                     struct lc_call_end *at);
void lc_clk_edge_later(struct lc_clk_thread *k, struct lc_call_end *at, uint32_t source,
                       const struct lc_stamp *stamp, const uint64_t *extra, uint32_t n_extra);
/* What was booked for the call in progress (false: not measuring, no memory); and a larger wait in
 * its place (true: it is larger), with lc_clk.lock held. */
bool lc_clk_booked(struct lc_clk_thread *k, const struct lc_call *call, struct lc_booked *booked);
bool lc_clk_book_later(const struct lc_booked *instead, const struct lc_candidate *c);
void lc_clk_resolve(struct lc_clk_thread *k);

/* sends.c: an entry of no bytes, with lc_clk.lock held */
void lc_clk_put(struct lc_clk_thread *k, uint32_t to, const struct lc_stamp *stamp,
                uint32_t context, int32_t tag);

/* collectives.c: a nonblocking collective is complete */
void lc_clk_coll_completed(struct lc_call *call, struct lc_clk_thread *k, struct lc_request *r);

/* What the call waited for in an operation whose cause entered at `release`. */
enum lc_measured_wait lc_clk_coll_wait(const struct lc_call *call, const struct lc_clk_coll *x);
void lc_clk_coll_candidate(struct lc_clk_thread *k, struct lc_call *call,
                           const struct lc_clk_coll *x, uint64_t release, uint32_t rank,
                           uint32_t node);

/* The edge of one entry of `source`, at `now`. `extra`: the entry came as record (edges.c). */
void lc_clk_edge_far(struct lc_clk_thread *k, uint32_t source, const struct lc_stamp *stamp,
                     uint64_t now, const uint64_t *extra, uint32_t n_extra);
static inline void lc_clk_edge(struct lc_clk_thread *k, uint32_t source,
                               const struct lc_stamp *stamp, uint64_t now, const uint64_t *extra,
                               uint32_t n_extra) {
    if (lc_likely(lc_clk.areas[source].head != NULL && n_extra == 0))
        lc_logical_take(&k->l, stamp, now, &lc_clk.areas[source]);
    else
        lc_clk_edge_far(k, source, stamp, now, extra, n_extra);
}

/* records.c: entries as messages. */
bool lc_clk_record_send(struct lc_clk_thread *k, uint32_t to, const struct lc_stamp *stamp,
                        uint32_t context, int32_t tag, uint32_t bytes, uint32_t seq,
                        uint64_t waits);
bool lc_clk_record_pull(void *user, uint32_t source);
void lc_clk_records_finish(void);                   /* collective */
void lc_clk_records_flush(struct lc_clk_thread *k); /* collective: all replies are told */
/* What the record of this entry (from the matcher, of a source without ring) says of its send. */
uint64_t lc_clk_record_flags(const struct lc_ring_entry *entry);
#define LC_RECORD_WAITS  (1ull << 32) /* in extra[1]: may wait for its receive; */
#define LC_RECORD_SURELY (1ull << 33) /* surely ends only when it is posted; */
#define LC_RECORD_BLOCKS (1ull << 34) /* is expected to wait; */
#define LC_RECORD_INSIDE (1ull << 35) /* in the call that sends */
enum {
    LC_RECORD_ITEMS = 20,
    LC_RECORD_EXTRA = 2 + LC_WHATIF_MAX + 2 * LC_RECORD_ITEMS,
    /* words of a reply that goes with a record to the same rank, at most */
    LC_RECORD_REPLY = 6 + LC_WHATIF_MAX,
    LC_RECORD_REPLIES = 32 /* of them in one record, at most */
};
/* Words of a reply from a rank with so many what-if scenarios. */
static inline uint32_t lc_clk_reply_words(uint32_t n_whatif) {
    return n_whatif > 0 ? LC_RECORD_REPLY : LC_RECORD_REPLY - LC_WHATIF_MAX;
}
/* A reply as words, with the what-if clocks that thread k had when it made the stamp; the number of
 * the message it belongs to. */
void lc_clk_pack_reply(const struct lc_clk_thread *k, const struct lc_stamp *post, uint32_t seq,
                       uint64_t *words);
uint32_t lc_clk_unpack_reply(const uint64_t *words, struct lc_stamp *post);

/* back_edges.c: takes the replies that wait for a record to this rank; their number. Sends those
 * that no record took along. Both with lc_clk.lock held. */
uint32_t lc_clk_back_pack(uint32_t to, uint64_t *words);
void lc_clk_back_flush(struct lc_clk_thread *k);
/* What was left to do at the begin of the next call (todo). */
void lc_clk_back_todo(struct lc_clk_thread *k, const struct lc_call *call);
/* Vector and what-if clocks of the thread for a record, these as they were when it made the stamp
 * (NULL: now); at most `room` items of the vector. Returns the number of words. */
uint32_t lc_clk_extra(struct lc_clk_thread *k, const struct lc_stamp *then, uint32_t room,
                      uint64_t *extra);
/* The what-if clocks in nanoseconds, LC_WHATIF_MAX words. */
void lc_clk_whatif_words(const struct lc_clk_thread *k, const struct lc_stamp *then,
                         uint64_t *words);
void lc_clk_adopt_extra(struct lc_clk_thread *k, const uint64_t *extra, uint32_t n_extra, bool won,
                        uint64_t useful);

/* shadow_collectives.c: collectives by messages. */
void lc_clk_shadow_init(void);
void lc_clk_shadows_finish(void); /* collective */
void lc_clk_shadow_begin(struct lc_clk_thread *k, struct lc_clk_coll *x, const struct lc_coll *coll,
                         const struct lc_stamp *stamp);
/* Starts those that waited for the copy. */
void lc_clk_shadow_start_waiting(struct lc_clk_comm *c);
/* Collective over a communicator (both groups), in a constructor: an edge from every member to
 * every member. Waits. */
void lc_clk_shadow_exchange(struct lc_clk_thread *k, struct lc_call *call, struct lc_comm *comm);
/* Reads the result if it is there (blocking: waits for it), else it is read later. */
void lc_clk_shadow_end(struct lc_clk_thread *k, struct lc_call *call, struct lc_clk_coll *x,
                       bool blocking);
/* Those that were left behind by calls of this thread, at the begin of the next one. */
void lc_clk_shadows_complete(struct lc_clk_thread *k);

/* comm_copies.c: private copies of communicators, for mirrors. False: none. Those of what
 * MPI_Comm_idup makes of `parent` are begun before the call, and taken after it, without waiting.
 */
bool lc_clk_copy_make(struct lc_clk_comm *c, const struct lc_comm *comm);
void lc_clk_copy_begin(struct lc_clk_comm *parent);
bool lc_clk_copy_take(struct lc_clk_comm *c, struct lc_clk_comm *parent);
bool lc_clk_copy_ready(struct lc_clk_comm *c);
void lc_clk_copy_wait(struct lc_clk_comm *c);
void lc_clk_copy_free(struct lc_clk_comm *c);
void lc_clk_copies_finish(void); /* collective: all are there, nothing waits for them */

/* global_time.c: the node's clock against the global one */
double lc_clk_local_ns(uint64_t ticks);  /* CLOCK_MONOTONIC_RAW of the node, bent */
double lc_clk_to_global(uint64_t ticks); /* ns */
uint64_t lc_clk_from_global(double global_ns);
uint64_t lc_clk_from_local(double local_ns);
bool lc_clk_resync_due(void); /* rank 0: time to synchronise again? Then all ranks do: */
void lc_clk_resync(void);     /* collective */
/* collective: of this rank's node to rank 0's */
void lc_clk_measure_offset(struct lc_clk_measured *m);
/* The same among one rank per node: world ranks, the first is the reference; `me`: place of the
 * caller. */
void lc_clk_measure_leaders(const int *leaders, uint32_t n, uint32_t me, double budget_ns,
                            struct lc_clk_measured *m);
void lc_clk_time_init(void); /* collective */

/* trace_offsets.c: clock offsets of the nodes for the event trace */
void lc_clk_trace_begin(void);                                         /* collective, in MPI_Init */
void lc_clk_trace_barrier(struct lc_call *call, struct lc_comm *comm); /* collective over comm */
void lc_clk_trace_end(const struct lc_clk_measured *m); /* collective, in MPI_Finalize */

/* node_memory.c: areas of the ranks of a node; false: no shared memory */
bool lc_clk_memory(void); /* collective */

/* synchronising.c: a copy of a communicator that the program may free before what was made of it;
 * false: no memory */
bool lc_clk_keep_comm(struct lc_comm *copy, struct lc_comm *comm);

/* window_locks.c: epochs of locks of a window */
enum { LC_TAG_POST, LC_TAG_COMPLETE, LC_TAG_LOCKER, LC_TAG_EPOCH }; /* of a window's entries */
struct lc_unlock;
struct lc_away;
struct lc_clk_locks {
    struct lc_comm comm; /* a copy: the program may free its communicator */
    uint32_t context;
    uint64_t id;             /* of the lines */
    struct lc_unlock *lines; /* own, two per target: exclusive, shared; NULL: none */
    uint8_t *held;           /* by target: 1 shared, 2 exclusive */
    struct lc_away *away;    /* by member; NULL: all are on this node */
    bool announced;
};
void lc_clk_locks_init(struct lc_clk_locks *w); /* both with lc_clk.lock held */
void lc_clk_locks_free(struct lc_clk_locks *w);
void lc_clk_lock_begin(struct lc_call *call, struct lc_clk_locks *w);
void lc_clk_lock_hold(struct lc_clk_locks *w, int target, bool shared); /* -1: all */
void lc_clk_lock_over(struct lc_call *call, struct lc_clk_locks *w, int target);

/* contexts.c */
void lc_clk_comm_make(struct lc_comm *comm, bool constructor);

/* intervals.c */
void lc_clk_interval_begin(uint64_t now);
void lc_clk_interval_end(uint64_t now);
void lc_clk_catch_up(struct lc_clk_thread *k, uint64_t now);

/* phases.c: an outermost region of the first thread begins or ends; the interval does (with
 * lc_clk.lock held); a thread sees the change at its next event. */
void lc_clk_phase_begin(struct lc_clk_thread *k, const struct lc_call *call);
void lc_clk_phase_end(struct lc_clk_thread *k, const struct lc_call *call);
void lc_clk_phase_interval(bool on, uint64_t now);
void lc_clk_phase_catch_up(struct lc_clk_thread *k);
struct lc_strbuf;
struct lc_offset_ends { /* offsets to the global clock at both ends of the run, ns */
    double offset_begin, offset_end, local_begin, local_end, error;
};
double lc_clk_global_s(const struct lc_offset_ends *c, uint64_t ticks);
/* Collective; adds `, "phases": [..]` on rank 0. */
void lc_clk_phases_put(const struct lc_offset_ends *c, struct lc_strbuf *out);

/* what_if_factors.c: factors of a node, one per scenario */
void lc_clk_whatif_init(void);
const float *lc_clk_whatif_of(uint32_t node);
const char *lc_clk_whatif_text(uint32_t scenario);
bool lc_clk_whatif_no_mpi(uint32_t scenario);
/* Bits of the names that occurred in call paths of this rank; of those of no rank the JSON member
 * `unknown`. */
uint32_t lc_clk_whatif_seen(void);
void lc_clk_whatif_unknown(uint32_t scenario, uint32_t seen, struct lc_strbuf *out);

/* blame_merge.c: collective; the rows that are kept go to the state of the ranks they name */
void lc_clk_merge_blame(void);
/* Before the first of these: sums of the call sites are complete. */
void lc_clk_sites_close(void);
/* An index-ed value of a node in the state; what: enum lc_state_wait_what. */
void lc_clk_book_node(uint32_t node, uint64_t ticks, uint32_t what, uint64_t index);

/* clocks_finalize.c: JSON texts on rank 0 after the finalize point; NULL: none */
const char *lc_clocks_pop_text(void);
const char *lc_clocks_meta_text(void); /* members without braces */

#endif
