/* The second source of events of OpenMP, beside OMPT: what GCC's code calls of its runtime
 * (libgomp), which tells tools nothing. The preloaded library has functions of these names; their
 * wrappers tell the callbacks of openmp/ what a runtime with OMPT would, and call libgomp.
 *
 * Nouns
 *   entry      a function that GCC's code calls, and that has a wrapper (gomp_entries.tsv)
 *   fork       a parallel region in progress, on the stack of the thread that forked it
 *   share      a thread's implicit task in a region
 *   running    the task that a thread runs: the runtime's word for it, which here is ours
 *   call       of a function here: by the program (an entry), or by the runtime (a share, a task,
 *              the copy of a task's data). One of LC_EVENT_EVERY is measured (callpath/budget.h)
 *
 * Invariants: the program's function gets its own data, and libgomp what it reads and writes there
 * itself. A wrapper that can tell nothing calls libgomp all the same. What libgomp does not show is
 * told as soon as it must have been: a worker's part in a region has ended when it begins the next
 * one, or its thread ends. */
#ifndef LC_MEASURE_GOMP_GOMP_H
#define LC_MEASURE_GOMP_GOMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "measure/core/core.h"
#include "measure/gomp_entries.h"
#include "measure/openmp/ompt.h"

struct lc_part;
struct lc_stub;
struct lc_thread;

typedef unsigned long long ull;

struct lc_gomp_share {
    union ompt_data data;         /* as the runtime's word of its task */
    union ompt_data *region;      /* NULL: of no region */
    struct lc_gomp_share *outer;  /* of the same thread, around it */
    union ompt_data *interrupted; /* what the thread ran before; was it final? */
    bool was_final;
    int work;        /* enum ompt_work that it is in; 0: none */
    unsigned team;   /* threads; 0: it is in none, or nothing is told of that */
    unsigned counts; /* dimensions of the ordered loop with dependences */
    bool turn;       /* it has been let into the ordered part of its iterations */
};

/* Is its thread in a team? Also in the barrier that ends the region, where it may execute tasks: a
 * worker does not know the region any more then. */
static inline bool lc_gomp_in_team(const struct lc_gomp_share *share) {
    return share->team != 0;
}

struct lc_gomp_fork;
struct lc_gomp_taskloop;

struct lc_gomp_thread {
    struct lc_gomp_share base;   /* of a worker: in a region; else outside of all */
    struct lc_gomp_share *share; /* innermost */
    union ompt_data *running;
    bool final;                    /* that one: libgomp runs the tasks that it creates at once */
    uint64_t created;              /* explicit tasks */
    uint64_t creating;             /* number of the one that is created now; 0: none */
    struct lc_gomp_taskloop *loop; /* whose tasks it creates, before it waits for them */
    struct lc_gomp_fork *forks;    /* begun by GOMP_parallel_start, innermost first */
    bool worker;                   /* made by libgomp */
    bool pending;                  /* base has ended, but that was not told yet */
    uint32_t endings;              /* calls of the destructor of its key */
};

/* What a region was made of; work: enum ompt_work that all of it is, 0: none. */
struct lc_gomp_construct {
    void (*fn)(void *);
    void *data;
    unsigned threads; /* asked for; 0: the usual number */
    int work;
    void *frame; /* of the wrapper */
    const void *code;
    void *real; /* the runtime's function */
};

struct lc_gomp_runtime;

struct lc_gomp_fork {
    void *reductions; /* first: libgomp reads it there */
    struct lc_gomp_construct made;
    union ompt_data region;
    const struct lc_gomp_runtime *runtime;
    struct lc_gomp_thread *by; /* NULL: nothing is told */
    struct lc_gomp_share share;
    struct lc_thread *one; /* of a team of one, in no other region: its thread */
    bool plain;            /* of one thread: nothing in it is told, and it ends with `opened` */
    uint32_t opened;       /* by lc_omp_plain_begin */
    uint64_t cost_ticks;   /* openmp_ticks of that at its begin */
    _Atomic bool turns;    /* it has ordered loops, whose turns are a lock at `region` */
    struct lc_gomp_fork *outer; /* of `forks` */
};

/* ---- gomp_cost.c: what calls cost, but for what the runtime and the program do in them */

/* A call that is measured. It is on its own stack, and nobody else knows it: one that does not come
 * back leaves nothing behind. */
struct lc_gomp_call {
    struct lc_thread *thread; /* NULL: not known when it began, or has ended; nothing is told */
    uint64_t since;           /* ticks, but for own_ticks, which are told by themselves */
    uint64_t ticks;           /* that it has cost so far, */
    uint32_t parts;           /* in so many parts, each from a stamp to another */
    uint32_t stands_for;      /* calls, with itself */
};

/* Calls of this thread until one is measured. */
extern __thread int32_t lc_gomp_until;
/* Is the call that begins measured? */
static inline bool lc_gomp_call_is_drawn(void) {
    return lc_unlikely(--lc_gomp_until < 0);
}
/* A call that was drawn begins. */
void lc_gomp_call_begin(struct lc_gomp_call *call);
/* As lc_gomp_call_goes, of a call that is measured. */
void lc_gomp_call_stops(struct lc_gomp_call *call);
/* As lc_gomp_call_returns, of a call that is measured. */
void lc_gomp_call_goes_on(struct lc_gomp_call *call);
/* As lc_gomp_call_end, of a call that is measured. */
void lc_gomp_call_tell(struct lc_gomp_call *call);
/* What it has cost so far, with all for which it stands. `call` is measured, and does not go on. */
uint64_t lc_gomp_call_so_far(const struct lc_gomp_call *call);

/* A call begins; `room` is for it. NULL: it is not measured. */
static inline struct lc_gomp_call *lc_gomp_call_may_begin(struct lc_gomp_call *room) {
    if (!lc_gomp_call_is_drawn())
        return NULL;
    lc_gomp_call_begin(room);
    return room;
}
/* What follows is the runtime's or the program's; call: NULL, or measured. */
static inline void lc_gomp_call_goes(struct lc_gomp_call *call) {
    if (lc_unlikely(call != NULL))
        lc_gomp_call_stops(call);
}
/* It is over; the call goes on. */
static inline void lc_gomp_call_returns(struct lc_gomp_call *call) {
    if (lc_unlikely(call != NULL))
        lc_gomp_call_goes_on(call);
}
/* The call ends here. */
static inline void lc_gomp_call_end(struct lc_gomp_call *call) {
    if (lc_unlikely(call != NULL))
        lc_gomp_call_tell(call);
}

/* ---- gomp_team.c: threads */

extern const struct lc_part lc_gomp_part;
/* The runtime's own function, for this caller. */
void *lc_gomp_real(enum lc_gomp_entry entry, const void *code);
/* The record of the calling thread; NULL: no memory, or it has ended. */
struct lc_gomp_thread *lc_gomp_self(void);
/* The record of the calling thread, with a task for its work outside of regions; NULL: no memory,
 * or it has ended. */
struct lc_gomp_thread *lc_gomp_self_known(void);
/* Functions of the runtime that asks for nothing else; `real` is any of its functions. NULL: not
 * found. */
const struct lc_gomp_runtime *lc_gomp_runtime_of(void *real);

struct lc_gomp_runtime {
    void *real;
    int (*num_threads)(void), (*thread_num)(void), (*max_threads)(void);
    bool (*is_cancelled)(int which); /* of the running task; NULL: it has none */
    struct lc_gomp_runtime const *next;
};

/* ---- gomp_team.c */

/* The program is about to fork a team. */
void lc_gomp_fork_begin(struct lc_gomp_fork *fork, const struct lc_gomp_construct *made);
/* The team has joined; call: that of the entry. */
void lc_gomp_fork_end(struct lc_gomp_fork *fork, struct lc_gomp_call *call);
/* What each thread of a team runs: `argument` is the fork. */
void lc_gomp_run_share(void *argument);
/* GOMP_parallel_start and GOMP_parallel_end; NULL: nothing is told. */
struct lc_gomp_fork *lc_gomp_fork_new(const struct lc_gomp_construct *made);
/* GOMP_parallel_start is over: the caller runs its share by itself. */
void lc_gomp_fork_started(struct lc_gomp_fork *fork);
/* GOMP_parallel_end begins. NULL: nothing is told. */
struct lc_gomp_fork *lc_gomp_join_begin(void);
/* It is over; fork: NULL, or from lc_gomp_join_begin, freed here; call: that of the entry. */
void lc_gomp_join_end(struct lc_gomp_fork *fork, struct lc_gomp_call *call);

/* ---- gomp_work.c */

/* A worksharing construct (enum ompt_work) begins. */
void lc_gomp_work_begin(int work, const void *code);
/* The thread leaves the one that it is in, if any. */
void lc_gomp_work_end(void);
/* The thread comes to a barrier. Also ends the worksharing construct that the thread is in. */
void lc_gomp_barrier_begin(const void *code);
/* The thread goes on after the barrier. */
void lc_gomp_barrier_end(const void *code);
/* An ordered loop with dependences, of this many dimensions, begins. */
void lc_gomp_doacross_begin(unsigned counts, const void *code);
/* The thread comes to the source of an iteration; one number per dimension. */
void lc_gomp_doacross_posts(const uint64_t *iteration);
/* The thread is about to let the next one into the ordered part; true: it waits for its own turn
 * first, and lc_gomp_turn_passed follows. */
bool lc_gomp_turn_passes(const void *code);
/* It has let the next one in. */
void lc_gomp_turn_passed(const void *code);

/* What follows (teams, a target region on the host) is in no team: barriers and worksharing
 * constructs there are not those of the region around it. */
void lc_gomp_apart_begin(struct lc_gomp_share *apart);
/* It is over. */
void lc_gomp_apart_end(const struct lc_gomp_share *apart);

/* ---- gomp_work.c: locks */

extern const char lc_gomp_unnamed, lc_gomp_atomic; /* their addresses are locks */
/* A lock is new; kind: enum ompt_mutex, wait: its address. */
void lc_gomp_lock_init(int kind, uint64_t wait, const void *code);
/* The thread asks for it. */
void lc_gomp_acquire(int kind, uint64_t wait, const void *code);
/* The thread has it. */
void lc_gomp_acquired(int kind, uint64_t wait, const void *code);
/* The thread is about to let it go. */
void lc_gomp_released(int kind, uint64_t wait, const void *code);

/* ---- entries written by hand */

/* Entry: the begin of `single copyprivate`, and the barrier of those who do not execute it. */
void *lc_gomp_entry_single_copy_start(void);
/* Entry: waits until the iterations before have left their ordered parts. */
void lc_gomp_entry_ordered_start(void);
/* Entry: waits for an iteration, one number per dimension. */
void lc_gomp_entry_doacross_wait(long first, ...);
/* Entry: waits for an iteration of an unsigned loop, one number per dimension. */
void lc_gomp_entry_doacross_ull_wait(ull first, ...);
/* Entry: creates a task; now: it may be put off. */
void lc_gomp_entry_task(void (*fn)(void *), void *data, void (*copy)(void *, void *), long bytes,
                        long align, bool now, unsigned flags, void **depend, int priority,
                        void *event);
/* Entry: creates the tasks of a loop. */
void lc_gomp_entry_taskloop(void (*fn)(void *), void *data, void (*copy)(void *, void *),
                            long bytes, long align, unsigned flags, unsigned long tasks,
                            int priority, long start, long end, long step);
/* Entry: creates the tasks of an unsigned loop. */
void lc_gomp_entry_taskloop_ull(void (*fn)(void *), void *data, void (*copy)(void *, void *),
                                long bytes, long align, unsigned flags, unsigned long tasks,
                                int priority, ull start, ull end, ull step);
/* Entry: waits for the children of the task. */
void lc_gomp_entry_taskwait(void);
/* Entry: waits for those on which the list depends. */
void lc_gomp_entry_taskwait_depend(void **depend);
/* Entry: waits for nothing; what follows depends on the list. */
void lc_gomp_entry_taskwait_depend_nowait(void **depend);
/* Entry: opens a taskgroup. */
void lc_gomp_entry_taskgroup_start(void);
/* Entry: waits for all tasks of the taskgroup. */
void lc_gomp_entry_taskgroup_end(void);
/* Entry: fulfils a detached task's event. */
void lc_gomp_entry_fulfill_event(void *event);
/* Entry: fulfils a detached task's event, from Fortran. */
void lc_gomp_entry_fulfill_event_(void *event);

/* In the order of enum lc_gomp_entry. */
extern void *const lc_gomp_wrappers[LC_GOMP_ENTRIES];

#endif
