/* Threads of the program, and the call that one has in progress. locations.c makes and ends
 * them. */
#ifndef LC_MEASURE_CORE_THREAD_H
#define LC_MEASURE_CORE_THREAD_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>

#include "base/idmap.h"
#include "measure/core/core.h"

struct lc_comm;
struct lc_counting;
struct lc_entry;
struct lc_omp_thread;
struct lc_path;
struct lc_python;
struct lc_request;
struct lc_sampler;
struct lc_budget_sites;
struct lc_budget_site;

struct lc_region_open {
    struct lc_entry *entry;
    uint64_t begin_ticks;
    uint32_t name;   /* user_regions.c: which one */
    bool named;      /* not a function */
    uint32_t traced; /* its begin is in the trace: the number of the window there, plus 1 */
};
enum { LC_TYPE_SLOTS = 64, LC_COMM_SLOTS = 16, LC_BUCKETS = 1024, LC_REGION_DEPTH = 256 };

struct lc_type_slot { /* mpi/handles.h */
    MPI_Datatype type;
    int64_t size_bytes;
};

/* Rows of a thread's state of one class, by node (callpath/entry.h, lc_row_of). */
struct lc_row_table {
    struct lc_state_row **rows; /* hash; NULL: none yet */
    uint32_t n, mask;
};

struct lc_thread {
    _Atomic uint32_t mode;
    uint32_t depth;            /* 1 inside an MPI call: nested calls pass through */
    uint64_t last_ticks;       /* end of the last event; of a call with its own work (`own` of
                                  struct lc_call), so that the next event may begin before it */
    uint64_t outside_ticks;    /* time between events */
    uint32_t own_ticks;        /* as struct lc_call has it, by calls that were measured */
    struct lc_entry *last;     /* its entry */
    struct lc_entry **buckets; /* LC_BUCKETS lists of entries */
    uint32_t ctx;              /* serial of the entry that began the innermost region, 0: none */
    struct lc_python *python;  /* its Python frames count in call paths; NULL: it has none */
    uint32_t index;            /* location: dense id in this process */
    bool cold;                 /* the look-up of this call was a miss */
    bool in_callback;          /* the look-up is that of a call inside a callback */
    uint64_t outer_frame;      /* frame of the wrapper that is in progress */
    void *clocks;              /* per thread data of the hooks */
    /* callpath/budget.h. NULL: no call is only counted */
    struct lc_budget_sites *counted_sites;
    struct lc_budget_site *skipped_polls; /* with polls since the last event that were not timed */
    struct lc_budget_site *timed_poll;    /* of the last event, which was a poll; else NULL */
    int32_t until_sample; /* calls until what one costs is measured (callpath/budget.h) */
    const void *expected; /* fetched when the call returns: the hooks will read it */
    void *trace;
    struct lc_omp_thread *openmp; /* NULL: it does nothing with OpenMP */
    struct lc_state_thread *state;
    /* samples/sampler.h: how far the kernel has written samples, and has been looked at */
    const uint64_t *const *sample_head;
    uint64_t sample_seen;
    uint64_t long_gap; /* ticks between two events that the sampler looks at without them */
    struct lc_sampler *sampler;   /* NULL: it is not sampled */
    uint64_t outer_ra;            /* where the wrapper that is in progress returns to */
    struct lc_counting *counting; /* NULL: its counters are not read; else samples look new */
    /* colder */
    uint64_t cost_groups; /* how often what calls cost was measured (callpath/budget.h) */
    uint64_t next_request;
    struct lc_comm *comm_slots[LC_COMM_SLOTS];
    struct lc_type_slot type_slots[LC_TYPE_SLOTS];
    struct lc_region_open *regions;
    uint32_t n_regions, n_named, n_regions_lost; /* open; by name; begun, but not kept */
    _Atomic uint32_t named_region; /* 1 + outermost of those by name, 0: none; others read it */
    uint32_t next_serial;
    struct lc_entry *off_entry;          /* calls while measurement is off */
    struct lc_entry *start_entry;        /* before the first event: no items */
    struct lc_entry *lost_entry;         /* calls whose path has no memory: counted as lost */
    struct lc_entry *scratch_entries[2]; /* paths that cannot be kept, in turns */
    /* for calls inside callbacks: no items; NULL before the first */
    struct lc_entry *callback_entry;
    struct lc_path **paths; /* hash by node */
    uint32_t paths_mask, n_paths;
    struct lc_row_table times;      /* of LC_RAW_CLASS_TIME */
    struct lc_state_row *void_row;  /* what is not kept: root time, calls while off */
    struct lc_state_row *spill_row; /* calls that found the state full: counted as lost */
    enum lc_callpath callpath;
    struct lc_state_chunk *chunk; /* newest */
    struct lc_pool *pool;         /* memory of entries */
    void *draft;                  /* of callpath/entry.c */
    struct lc_sites *sites;       /* entries.c */
    struct lc_request **scratch_requests;
    MPI_Status *scratch_statuses;
    size_t cap_scratch;
    struct lc_thread *next;      /* all threads */
    struct lc_thread *next_kept; /* in a list of locations without a thread */
    bool rests;                  /* it ends, and its location will be the next new thread's */
    struct lc_omp_thread *rested_openmp; /* `openmp` of the thread before, and */
    void *rested_clocks; /* `clocks` of the thread before, while nobody has gone on with them */
    bool came_back;      /* the path that was just made had been forgotten for want of memory */
    uint32_t *gone;      /* by callpath/entries.c: fingerprints of forgotten paths */
    uint64_t made_then, remade_then;
    uint32_t sample_calls;  /* that the next sample stands for */
    uint64_t sample_ticks;  /* when its call went to MPI */
    uint64_t group_ticks;   /* of the samples of this group */
    uint64_t usual_ticks;   /* what a call costs, a mean of the last ones */
    uint64_t samples_ticks; /* begin of the last call at which samples were read */
    uint64_t slowed_ticks;  /* that one takes longer than others, a mean of the last ones */
    uint64_t event_ticks;   /* what an event of OpenMP costs, a mean of the last ones */
    /* Of the budget's last decision. */
    uint64_t window_ticks, window_cost, window_sampling;
    uint64_t sampling_since, sampling_before; /* of its last decision on samples */
    bool steps_due;                           /* of call sites; until one window is over */
    bool paths_left_out;     /* by the budget: new ones of some sites are not unwound */
    uint32_t samples_rarer;  /* by the budget: so many times; 0 as 1 */
    uint32_t samples_rarest; /* the most that it was; 0: never */
    struct lc_budget_sites *budget_sites; /* NULL: none is known */
    /* node of the only call path of a site, by function and return address (callpath/budget.c) */
    struct lc_idmap site_paths;
    uint64_t poll_begin; /* of timed_poll's last one */
    uint64_t skip_begin; /* of the first poll since the last event that was not timed */
    struct lc_path_counts counts;
    bool ended;
};

struct lc_call {
    struct lc_thread *thread;
    struct lc_entry *entry;
    uint64_t begin, end;
    uint64_t from; /* its time in the profile begins: begin, or later, where `own` of the call
                      before was less than usual */
    uint32_t fn, mode;
    uint64_t class_bytes; /* decides the size class */
    uint64_t bytes_sent, bytes_rcvd;
    uint32_t flags; /* LC_RAW_ROW_* */
    uint32_t own;   /* ticks: what our own work after the end takes as a rule; part of the call */
    /* leading items of entry that are the same activation as at the previous event */
    uint32_t common;
};
#define LC_TLS extern __thread __attribute__((tls_model("initial-exec")))
LC_TLS void *latecomer_private_self; /* lives in the stub: static TLS is certain there */
#define lc_self ((struct lc_thread *)latecomer_private_self)

#endif
