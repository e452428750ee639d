/* What the parts of the measurement core share. The core is one shared object per MPI flavour,
 * opened by the preloaded stub (stub/stub.c) in the process that calls MPI; its wrappers (generated
 * from calls/mpi_calls.tsv) are all that the program ever calls.
 *
 * Nouns
 *   thread   a location: a thread that made an MPI call or entered a region; `lc_self` points to
 *            its record
 *   call     one MPI call in progress, on the wrapper's stack
 *   entry    of the call-path cache: (function, return address, frame address, regions) and the
 *            words on the stack that prove the path
 *   path     a call path of a thread, ending in an MPI function or region: node of the call tree +
 *            its rows
 *   item     one element of a call path seen from the root: a function activation or an open region
 *   mode     what this thread does per call; read once per call. Other threads change it (start,
 *            stop, dlclose), `depth` only its own
 *
 * Invariants: nothing here exits, prints more than one line or changes an argument, a result or an
 * error code of an MPI call. MPI itself is only called through lc_real, never by name. */
#ifndef LC_MEASURE_CORE_H
#define LC_MEASURE_CORE_H

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/timer.h"
#include "measure/mpi_real.h" /* generated: enum lc_fn, struct lc_real */
#include "format/state.h"

#define lc_likely(x)   __builtin_expect(!!(x), 1)
#define lc_unlikely(x) __builtin_expect(!!(x), 0)
#define LC_COLD        __attribute__((noinline, cold))

enum {
    /* between MPI_Init and MPI_Finalize of a measured process (and before, from the first call
     * on) */
    LC_MODE_LIVE = 1,
    LC_MODE_ON = 2,           /* measuring; else calls are only tracked */
    LC_MODE_CLOCKS = 4,       /* logical clocks and piggyback (hooks of `clocks`) */
    LC_MODE_TRACE = 8,        /* event trace (hooks of `trace`) */
    LC_MODE_FLUSH_PATHS = 16, /* a library went away: forget the cache */
    LC_MODE_FLUSH_TYPES = 32,
    LC_MODE_FLUSH_COMMS = 64,
    LC_MODE_CHECK = 256,   /* compare every path of the cache with full unwinding */
    LC_MODE_RESUMED = 128, /* measurement was off: the time since the last event is not booked */
    LC_MODE_FLUSH =
        LC_MODE_FLUSH_PATHS | LC_MODE_FLUSH_TYPES | LC_MODE_FLUSH_COMMS | LC_MODE_RESUMED
};

enum lc_callpath { LC_CALLPATH_UNWIND, LC_CALLPATH_CALLER, LC_CALLPATH_NONE };

/* The names of enum lc_fn, "MPI_Send". */
extern const char *const lc_fn_names[];

struct lc_item {
    /* where the return address of this activation lies; regions: serial of the entry that began
     * it */
    uint64_t slot;
    uint64_t value; /* that return address; regions: 0 */
    /* run-time address in this function from which the next one was called; regions: 0 */
    uint64_t site;
    uint32_t node; /* of the call tree */
    uint32_t region;
};

enum { LC_CHECKS_AT_ONCE = 4 };

struct lc_check {
    int64_t offset; /* from the wrapper's frame address */
    uint64_t expected;
};

enum { LC_PATH_ROWS = 6 };

struct lc_row_ref {
    struct lc_state_row *row;
    uint32_t key; /* size class | flags << 8 */
};

struct lc_path {
    struct lc_path *next; /* same hash */
    uint32_t node;        /* dense id in this process, index of the state's node table */
    uint32_t fn;          /* enum lc_fn, LC_FN_COUNT: a region */
    uint32_t n_rows;
    uint32_t n_more;
    struct lc_row_ref rows[LC_PATH_ROWS];
    struct lc_row_ref *more; /* beyond LC_PATH_ROWS */
    void *clocks;            /* per path data of the hooks, NULL at first */
    void *trace;
};

struct lc_entry {
    struct lc_entry *next; /* same hash */
    uint64_t ra, frame;    /* key: return address and frame address of the wrapper */
    uint64_t fn_ctx;       /* key: function | regions << 32 */
    struct lc_path *path;
    uint32_t n_checks; /* a multiple of LC_CHECKS_AT_ONCE: the last one is repeated */
    uint32_t n_items;  /* from the root to the caller (MPI calls), to the region itself (regions) */
    /* items that ran until this event: n_items, at the begin of a region one less */
    uint32_t n_current;
    uint32_t n_previous; /* items that run after it: n_items, at the end of a region one less */
    bool pass;           /* made by a language binding for itself: not the program's call */
    bool transient;      /* of a path that cannot be kept: overwritten soon */
    bool used;           /* by paths/entries.c */
    uint32_t serial;     /* unique per thread; context of what happens inside a region */
    /* the last two transitions: where the time since the previous event belongs */
    struct lc_entry *previous[2];
    struct lc_state_row *gap_row[2];
    uint64_t gap_ticks[2];  /* time since the previous event, not yet in the thread's sites */
    uint32_t gap_common[2]; /* leading items of the same activation in both */
    uint32_t gap_node[2];
    struct lc_item *items;
    struct lc_check checks[];
};

struct lc_type_slot {
    MPI_Datatype type;
    int64_t size_bytes;
};

/* A communicator of this process. Made when first seen, kept until it is freed. */
struct lc_comm {
    MPI_Comm handle;
    struct lc_comm *next;
    /* dense, unique in this process (never reused); 0 MPI_COMM_WORLD, 1 MPI_COMM_SELF */
    uint32_t id;
    uint32_t refs;      /* requests and windows that point here */
    uint32_t n_windows; /* made on it, for the clocks */
    int32_t size, rank;
    int32_t remote_size; /* intercommunicators, else 0 */
    int32_t n_in, n_out; /* neighbours of its topology; -1: not asked yet */
    bool inter, freed;
    /* world rank of each rank (of the remote group for an intercommunicator); MPI_UNDEFINED if not
     * in MPI_COMM_WORLD */
    int32_t *world;
    int32_t *local_world;   /* world rank of each rank of the local group */
    struct lc_comm *parent; /* given to its constructor; NULL: unknown */
    uint64_t uid;           /* same on all members once the hooks have agreed on one; 0 before */
    void *clocks;
    void *trace;
};

enum lc_request_kind {
    LC_REQUEST_SEND,
    LC_REQUEST_RECV,
    LC_REQUEST_COLL,
    LC_REQUEST_FILE, /* of the trace; peer: number of the file */
    LC_REQUEST_OTHER /* MPI_Comm_idup, collective operations of files without a trace */
};

struct lc_parts {
    uint32_t number; /* of its communicator, peer, tag and direction, from 1: they match in order */
    uint32_t partitions;
    _Atomic uint32_t n_unready; /* sends, since the start */
};

struct lc_request {
    struct lc_request *next;
    MPI_Request handle;
    uint8_t kind; /* enum lc_request_kind */
    bool persistent, active, cancelled, partitioned;
    bool synchronous; /* MPI_Issend */
    bool buffered;    /* MPI_Ibsend, MPI_Irsend: it never waits for its receiver */
    bool freed;
    bool exchange; /* receiving half of MPI_Isendrecv */
    uint32_t fn;   /* function that made it */
    struct lc_comm *comm;
    int32_t peer; /* rank in comm (MPI_ANY_SOURCE possible); root of a collective */
    int32_t tag;
    /* > 0, unique in this process; a new one for every start, ascending in post order within a
     * thread */
    uint64_t id;
    uint64_t bytes;      /* sends; collectives: sent */
    uint64_t bytes_rcvd; /* collectives */
    uint64_t posted_ticks;
    struct lc_path *path; /* of the call that started it */
    uint64_t clocks[2];
    uint64_t trace;
    struct lc_request *pair; /* Isendrecv: the sending half; the request is the receiving one */
    union {
        struct lc_coll *coll;   /* persistent collectives */
        struct lc_parts *parts; /* partitioned messages */
    };
};

struct lc_region_open {
    struct lc_entry *entry;
    uint64_t begin_ticks;
    uint32_t name; /* user_regions.c: which one */
    bool named;    /* not a function */
};

/* Of the call-path cache of a thread; all words are sums. */
struct lc_path_counts {
    uint64_t made, unwinds;
    uint64_t by_libunwind; /* unwinds that remembered rules could not do */
    uint64_t uncacheable;  /* paths that had to be unwound at each call */
    uint64_t recycled;     /* paths that were forgotten for want of memory */
    uint64_t remade;       /* those that came back */
    uint64_t remade_ticks; /* what that cost */
    uint64_t own_ticks;    /* of rare work between two calls: unwinding, new communicators */
    /* LATECOMER_CHECK_PATHS: paths, and frames by remembered rules, that were compared with
     * libunwind's */
    uint64_t checked, walked;
    uint64_t wrong;
};

static inline void lc_path_counts_add(struct lc_path_counts *sum,
                                      const struct lc_path_counts *one) {
    uint64_t *to = (uint64_t *)sum;
    const uint64_t *from = (const uint64_t *)one;
    for (size_t i = 0; i < sizeof *sum / sizeof *to; i++)
        to[i] += from[i];
}

enum { LC_TYPE_SLOTS = 64, LC_COMM_SLOTS = 16, LC_BUCKETS = 1024, LC_REGION_DEPTH = 256 };

struct lc_thread {
    _Atomic uint32_t mode;
    uint32_t depth;            /* 1 inside an MPI call: nested calls pass through */
    uint64_t last_ticks;       /* end of the last event */
    struct lc_entry *last;     /* its entry */
    struct lc_entry **buckets; /* LC_BUCKETS lists of entries */
    uint32_t ctx;              /* serial of the entry that began the innermost region, 0: none */
    uint32_t index;            /* location: dense id in this process */
    bool cold;                 /* the look-up of this call was a miss */
    bool in_callback;          /* the look-up is that of a call inside a callback */
    uint64_t outer_frame;      /* frame of the wrapper that is in progress */
    void *clocks;              /* per thread data of the hooks */
    const void *expected;      /* fetched when the call returns: the hooks will read it */
    void *trace;
    /* colder */
    uint64_t next_request;
    struct lc_comm *comm_slots[LC_COMM_SLOTS];
    struct lc_type_slot type_slots[LC_TYPE_SLOTS];
    struct lc_region_open *regions;
    uint32_t n_regions, n_named, n_regions_lost; /* open; by name; begun, but not kept */
    uint32_t next_serial;
    struct lc_entry *off_entry;          /* calls while measurement is off */
    struct lc_entry *start_entry;        /* before the first event: no items */
    struct lc_entry *scratch_entries[2]; /* paths that cannot be kept, in turns */
    /* the same for calls inside callbacks; NULL before the first */
    struct lc_entry *callback_entry;
    struct lc_path **paths;          /* hash by node */
    struct lc_state_row **time_rows; /* hash by node: LC_RAW_CLASS_TIME */
    uint32_t paths_mask, n_paths;
    uint32_t times_mask, n_times;
    struct lc_state_row *void_row;  /* what is not kept: root time, calls while off */
    struct lc_state_row *spill_row; /* calls that found the state full: counted as lost */
    enum lc_callpath callpath;
    struct lc_state_thread *state;
    struct lc_state_chunk *chunk; /* newest */
    struct lc_pool *pool;         /* memory of entries */
    void *draft;                  /* of path.c */
    struct lc_sites *sites;       /* path.h */
    struct lc_request **scratch_requests;
    MPI_Status *scratch_statuses;
    MPI_Request *scratch_handles;
    size_t cap_scratch;
    struct lc_thread *next; /* all threads */
    bool came_back;         /* the path that was just made had been forgotten for want of memory */
    uint32_t *gone;         /* by paths/entries.c: fingerprints of forgotten paths */
    uint64_t made_then, remade_then;
    struct lc_path_counts counts;
    bool ended;
};

struct lc_call {
    struct lc_thread *thread;
    struct lc_entry *entry;
    uint64_t begin, end;
    uint32_t fn, mode;
    uint64_t class_bytes; /* decides the size class */
    uint64_t bytes_sent, bytes_rcvd;
    uint32_t flags; /* LC_RAW_ROW_* */
    /* leading items of entry that are the same activation as at the previous event */
    uint32_t common;
};

/* The process. */
struct lc_core {
    struct lc_state_header *state; /* NULL: not measured */
    char *base;                    /* the same address */
    size_t bytes;
    int memory_fd;
    enum lc_callpath callpath;
    bool check_paths; /* every path of the cache is compared with full unwinding */
    bool start_stopped;
    bool multiple; /* MPI_THREAD_MULTIPLE: locks are needed */
    bool initialised, finalized, forked;
    /* all ranks are measured with the same options: collective work of our own is allowed */
    bool agreed;
    bool several_nodes; /* while agreed: not all ranks share memory */
    int32_t rank, size;
    MPI_Comm comm; /* private duplicate of MPI_COMM_WORLD while agreed, else MPI_COMM_NULL */
    _Atomic uint32_t mode; /* of new threads */
    const char *dir;       /* the experiment's directory, NULL if none */
    const char *bell;      /* LATECOMER_BELL */
    const char *parent;    /* LATECOMER_STATE */
    pthread_mutex_t lock;  /* of everything cold: tables of the state, threads, communicators */
    struct lc_thread *threads;
    uint32_t n_threads;
    _Atomic uint64_t n_pcontrol_ignored, n_region_errors, n_in_callbacks, n_spawned;
    struct lc_path_counts counts; /* of threads that ended */
    uint64_t n_switches;
    int required_level, provided_level;
    uint64_t init_ticks; /* end of MPI_Init */
    struct lc_stub *stub;
    _Atomic uint64_t n_lost;
};
extern struct lc_core lc_core;
extern struct lc_real lc_real;

/* Tables of the state, for readers in the process: call-tree nodes, and the texts that a node's
 * `ref` stands for (name of an MPI call or region; path of a frame's module). */
static inline const struct lc_state_node *lc_state_nodes(void) {
    return (const struct lc_state_node *)(lc_core.base + lc_core.state->nodes.offset);
}

static inline const char *lc_state_name_of(uint32_t ref) {
    const struct lc_state_name *names =
        (const struct lc_state_name *)(lc_core.base + lc_core.state->names.offset);
    return lc_core.base + lc_core.state->text.offset + names[ref].text;
}

static inline const char *lc_state_path_of(uint32_t ref) {
    const struct lc_state_module *modules =
        (const struct lc_state_module *)(lc_core.base + lc_core.state->modules.offset);
    return lc_core.base + lc_core.state->text.offset + modules[ref].path;
}

#define LC_TLS extern __thread __attribute__((tls_model("initial-exec")))
LC_TLS void *latecomer_private_self; /* lives in the stub: static TLS is certain there */
#define lc_self ((struct lc_thread *)latecomer_private_self)

/* core.c: a variable LATECOMER_NAME of the environment as it was at the start, or NULL */
const char *lc_option(const char *name);
/* one line to standard error, once per process */
void lc_say_once(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* thread.c */
enum lc_err lc_threads_init(void);
struct lc_thread *lc_thread_attach(void);          /* NULL: this thread cannot be measured */
void lc_mode_change(uint32_t clear, uint32_t set); /* in all threads, and new ones */

/* state_write.c: all with lc_core.lock held unless said; LC_NONE / NULL when the state is full
 * (counted) */
enum lc_err lc_state_create(void);
uint32_t lc_state_add_name(const char *name);
uint32_t lc_state_add_module(const char *path, const char *build_id, uint64_t bias);
uint32_t lc_state_child(uint32_t parent, uint32_t kind, uint32_t ref, uint32_t flags,
                        uint64_t offset, uint64_t site);
struct lc_state_row *lc_state_row_take(struct lc_thread *thread, uint32_t node,
                                       uint32_t key); /* no lock; never NULL: a spill row if full */
void *
lc_state_take(size_t bytes,
              uint64_t *offset); /* from the pool, zeroed, 64-byte aligned; no lock; NULL if full */

/* path.c: cold half of the look-up */
struct lc_entry *lc_entry_cold(struct lc_thread *t, uint64_t fn_ctx, uint64_t ra, uint64_t frame);
void lc_entry_transition(struct lc_thread *t, struct lc_entry *entry);
void lc_entry_check(struct lc_thread *t, const struct lc_entry *entry, uint64_t frame); /* counts */
struct lc_state_row *lc_row_cold(struct lc_thread *t, struct lc_path *path, uint32_t key);
struct lc_state_row *lc_time_row(struct lc_thread *t, uint32_t node);
enum lc_err lc_thread_paths_init(struct lc_thread *t);
void lc_thread_paths_free(struct lc_thread *t);
void lc_entry_made(struct lc_call *call);        /* behind a look-up that was a miss */
void lc_thread_paths_flush(struct lc_thread *t); /* paths/entries.c: code was unloaded */
struct lc_entry *lc_plain_entry(void);           /* room for any path; NULL: no memory */
/* callback.c: a call of this thread, which is inside an MPI call, by the program? Counted then. */
void lc_callback_call(struct lc_thread *t, uint32_t fn, uint64_t ra, uint64_t frame);

/* the time since the last event was our own work: not booked */
void lc_thread_exclude(struct lc_thread *t);
uint64_t lc_threads_lost(void); /* calls booked nowhere, with lc_core.lock held */

/* user_regions.c: what the program sees of latecomer.h, and of -finstrument-functions */
void lc_control(bool on, void *frame, void *ra);
void lc_api_begin(const char *name);
void lc_api_end(const char *name);
void lc_api_start(void);
void lc_api_stop(void);
void lc_api_begin_fortran(const char *name, size_t length);
void lc_api_end_fortran(const char *name, size_t length);
void lc_api_function_enter(void *function, void *site);
void lc_api_function_exit(void *function, void *site);

/* finalize.c */
/* collective if agreed, else alone if there is one rank; inside MPI_Finalize */
void lc_write_profile(void);
/* part.c: the last of our own messages, after which all enter MPI_Finalize; collective if agreed */
void lc_part(void);
/* agree.c: after MPI_Init: do all ranks run under the tool with the same options? Sets
 * lc_core.agreed and lc_core.comm. */
/* before MPI_Init; without it (sessions) rank and size are those of the launcher */
void lc_agree_announce(void);
void lc_agree_peers(void); /* sessions: the ranks of the node that are known by now; no waiting */
void lc_agree(void);

/* communicators.c */
struct lc_comm *lc_comm_cold(struct lc_thread *t, MPI_Comm comm);
void lc_comm_forget(struct lc_thread *t, MPI_Comm comm); /* before the handle is freed */
int64_t lc_type_cold(struct lc_thread *t, MPI_Datatype type);
void lc_type_forget(struct lc_thread *t, MPI_Datatype type);

#endif
