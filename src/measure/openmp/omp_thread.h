/* OpenMP, from the callbacks of its runtime (ompt.h) to clocks, call paths and wait states.
 *
 * Nouns
 *   region    a parallel region in progress; the serial part of a thread of its own is one, too
 *   task      implicit (a thread's share of a region) or explicit; each has a clock of its own,
 *             which grows only while the task runs
 *   point     what a node of the program activity graph tells those after it: all clocks
 *   late      which thread others waited for, where it was, and until when
 *   joint     the maximum of the points of all that others wait for: a barrier's threads and tasks,
 *             the children of a task, a taskgroup, the tasks of one step of a dependence
 *   span      the longest chain of useful work of the tasks of one construct, all other work 0
 *   in the runtime  a thread in a barrier, taskwait, lock, or between regions: its clocks of useful
 *             work stand still
 *   later     where clocks lag behind the program (clocks/backlog.h): the record in which a point,
 *             or a joint, will be known; times and who was late are known at once
 *
 * Invariants: a record lives as long as anybody may still ask it (counted references), comes from
 * the pool of the thread that made it, and goes back there. A callback that is missing or comes
 * twice costs an edge, never a crash or a negative time. Only the runtime's callbacks call this;
 * with lc_self of the thread. */
#ifndef LC_MEASURE_OPENMP_OMP_THREAD_H
#define LC_MEASURE_OPENMP_OMP_THREAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "measure/core/thread.h"
#include "piggyback/cpvec.h"
#include "piggyback/ring.h"

/* Records of regions, tasks, taskgroups and dependences: of one size per kind, from a pool of the
 * thread that makes them. A record that dies on another thread goes back to its pool through a list
 * that only its owner empties, some at a time; so memory stays what was needed at once. */

enum lc_omp_kind {
    LC_OMP_REGION,
    LC_OMP_TASK,
    LC_OMP_GROUP,
    LC_OMP_SET,
    LC_OMP_LINK,
    LC_OMP_ENTRY,
    LC_OMP_KINDS
};

/* What several threads write has cache lines of its own. */
enum { LC_OMP_LINE = 64, LC_OMP_AWAY = 16 };

struct lc_omp_pools;

struct lc_omp_item { /* first in every record */
    struct lc_omp_item *next;
    struct lc_omp_pools *owner;
    _Atomic uint32_t references;
    uint32_t kind; /* enum lc_omp_kind */
};

/* Records of another owner: to go back when they are LC_OMP_AWAY, or one of a third comes. */
struct lc_omp_away {
    struct lc_omp_item *first, *last;
    uint32_t n;
};

struct lc_omp_pools {
    struct lc_omp_item *free[LC_OMP_KINDS];
    struct lc_omp_away away[LC_OMP_KINDS];
    char *chunk, *chunk_end;
    bool of_many;            /* threads give back by these pools: one at a time */
    char apart[LC_OMP_LINE]; /* the owner's are not in a line that others write */
    _Atomic(struct lc_omp_item *) back[LC_OMP_KINDS]; /* from other threads */
    char apart_too[LC_OMP_LINE];
};

/* With one reference, its first `clear` bytes else 0, what follows as it was, at first 0. size:
 * bytes of a record of this kind, always the same. NULL: no memory. */
void *lc_omp_take_part(struct lc_omp_pools *pools, enum lc_omp_kind kind, size_t size,
                       size_t clear);
/* All of it else 0. */
static inline void *lc_omp_take(struct lc_omp_pools *pools, enum lc_omp_kind kind, size_t size) {
    return lc_omp_take_part(pools, kind, size, size);
}
/* Gives it back: `mine` are the pools of the calling thread. */
void lc_omp_give(struct lc_omp_pools *mine, struct lc_omp_item *item);

typedef void (*lc_omp_end_fn)(struct lc_omp_pools *mine, struct lc_omp_item *item);
/* What is done when the last reference to a record of this kind is gone: it also gives it back.
 * Nothing set: no more than that. */
void lc_omp_at_end(enum lc_omp_kind kind, lc_omp_end_fn does);

/* n references to a record (the item is first in it) less, all the caller's: with the last one it
 * goes back. `mine` as above; NULL: nothing. */
void lc_omp_unkeep_some(struct lc_omp_pools *mine, void *record, uint32_t n);
/* One reference less. */
static inline void lc_omp_unkeep(struct lc_omp_pools *mine, void *record) {
    lc_omp_unkeep_some(mine, record, 1);
}

/* One reference more: for each one lc_omp_unkeep. */
static inline void lc_omp_keep(struct lc_omp_item *item) {
    atomic_fetch_add_explicit(&item->references, 1, memory_order_relaxed);
}

/* n references less, all of the caller's: were they the last ones? Who has all that there are needs
 * no atomic operation: nobody else can make one more. */
static inline bool lc_omp_references_end(struct lc_omp_item *item, uint32_t n) {
    /* acquire: partners are the releases of the others */
    if (atomic_load_explicit(&item->references, memory_order_acquire) != n)
        return atomic_fetch_sub_explicit(&item->references, n, memory_order_acq_rel) == n;
    atomic_store_explicit(&item->references, 0, memory_order_relaxed);
    return true;
}

struct lc_omp_set;
struct lc_state_row;

enum { LC_OMP_SPANS = 8 }; /* task constructs that have a span (task_spans.c) */

struct lc_omp_late {
    uint64_t when;
    uint32_t thread, node; /* location; of the call tree */
};

/* What is always used comes first: of a barrier it is in two lines of cache, which go from core to
 * core with each thread that comes. */
struct lc_omp_point {
    struct lc_omp_set *later; /* NULL: the clocks are here */
    struct lc_stamp stamp;    /* clocks over all edges */
    struct lc_omp_late late;  /* this thread, now; of a joint: whoever came last */
    uint64_t process;         /* useful_process */
    uint64_t task;            /* useful_task */
    uint32_t n_spans;         /* so many are here, others are 0 */
    uint64_t phase_process;   /* both in the stamp's phase; where it has none: not set */
    uint64_t phase_task;
    uint64_t whatif[LC_WHATIF_MAX];
    uint64_t spans[LC_OMP_SPANS]; /* with a clock per task */
};

struct lc_omp_joint {
    _Atomic uint32_t lock;
    bool any;
    struct lc_omp_point point; /* stamp.enter: the latest; `later` is of all that have come */
};

/* Nobody has come to it, nor comes just now. */
static inline void lc_omp_joint_begin(struct lc_omp_joint *joint) {
    atomic_store_explicit(&joint->lock, 0, memory_order_relaxed);
    joint->any = false;
    joint->point.later = NULL;
}

/* A joint by itself. */
struct lc_omp_set {
    struct lc_omp_item item;
    struct lc_omp_joint joint;
};

enum { LC_OMP_SEATS = 8 };

/* A barrier (barrier.h): of a thread, which has come to it. */
struct lc_omp_seat {
    _Alignas(LC_OMP_LINE) _Atomic uint32_t number; /* of the barrier, plus 1 */
    uint32_t interval, thread, at;                 /* where it was: as in struct lc_omp_late */
    uint32_t node, vector;                         /* as in the stamp */
    uint64_t when, useful, outside_omp, process, task;
};
_Static_assert(sizeof(struct lc_omp_seat) == LC_OMP_LINE, "one line");

/* And of all others. */
struct lc_omp_barrier {
    _Alignas(LC_OMP_LINE) uint32_t number; /* plus 1 */
    uint32_t arrived;                      /* threads */
    struct lc_omp_late last;               /* of these */
    struct lc_omp_joint joint;             /* the others under its lock; of threads and tasks */
    struct lc_omp_seat seats[LC_OMP_SEATS];
};
_Static_assert(offsetof(struct lc_omp_barrier, joint.point.phase_process) == 2 * LC_OMP_LINE,
               "what is always used is in two lines");

struct lc_omp_region {
    struct lc_omp_item item;
    uint64_t in_regions_after; /* as in_regions, after the join; 0: not yet */
    uint32_t opened;           /* 1 + its id as a region of the thread's call path; 0: none */
    uint32_t depth;            /* of the thread that forked it, and where that was: */
    struct lc_omp_node *place;
    struct lc_omp_task *task;    /* that forked it */
    struct lc_omp_region *outer; /* that the same thread has forked before, and not left yet */
    void *frame;                 /* of the runtime's function that was called */
    uint64_t left;               /* by the thread that forked it */
    uint32_t holders;            /* shares that hold a reference; 0: not known */
    uint32_t next_barrier;       /* number of the first one of the record's next region */
    struct lc_omp_barrier barriers[2];
    /* what each thread reads when its share begins: two lines */
    _Alignas(LC_OMP_LINE) uint32_t node; /* of the call tree */
    uint32_t team_number;                /* in the trace: 1 + number; 0: not there */
    _Atomic uint32_t team;               /* threads; 0: no region, the serial part of one */
    uint32_t first_barrier;              /* its number */
    uint32_t serial; /* among outermost ones of the thread that forked it; 0: it is none */
    int32_t ahead; /* from here to the record that the same thread probably forks next, in lines; 0:
                      not known */
    uint64_t in_regions; /* time of the thread that forked it in regions, then */
    struct lc_omp_point fork;
};
_Static_assert(offsetof(struct lc_omp_region, fork.phase_process) -
                       offsetof(struct lc_omp_region, node) <=
                   2 * LC_OMP_LINE,
               "what is always used is in two lines");

struct lc_omp_group { /* taskgroup */
    struct lc_omp_item item;
    struct lc_omp_group *outer;
    struct lc_omp_joint joint;
};

enum { LC_OMP_TIES = 2 };

/* Sets of tasks that a task waits for, or is waited for through; the first ones stand here. */
struct lc_omp_ties {
    uint32_t n; /* of these */
    struct lc_omp_set *first[LC_OMP_TIES];
    struct lc_omp_link *more;
};

struct lc_omp_task {
    struct lc_omp_item item;
    /* written by the thread that runs it: */
    _Alignas(LC_OMP_LINE) uint64_t clock; /* useful_task */
    uint64_t phase_clock;                 /* as clock, in this phase: */
    uint64_t work;                        /* useful time of the task alone */
    uint32_t phase;
    uint32_t spare;    /* references that it has taken for its children to come */
    uint32_t span;     /* of its construct: 1 + index in spans; 0: it has none */
    uint32_t interval; /* that it belongs to */
    uint32_t barrier;  /* that will wait for it; implicit: the next one */
    uint32_t n_spans;  /* so many are here, others are 0 */
    struct lc_omp_region *region;
    struct lc_omp_task *parent;     /* explicit: that created it */
    struct lc_omp_group *group;     /* innermost open, or (explicit) that it was created in */
    struct lc_omp_set *event;       /* detached: its end and its fulfilled event; NULL: neither */
    struct lc_omp_task *awaits;     /* in `taskwait depend`: that construct's own task */
    struct lc_omp_ties after, into; /* dependences: waits for, is waited for through */
    struct lc_omp_table *table;     /* dependences of its children; NULL: none */
    uint32_t node;                  /* where it runs, of the call tree */
    uint32_t depth, base;           /* of nodes; and where it began */
    bool explicit_one, undeferred, untied, in_runtime, begun;
    bool holds_region;         /* implicit: with a reference, from its first barrier on */
    bool early;                /* its thread has not come to `barrier`, and ends it before */
    bool counted;              /* among those of its construct that run (task_spans.c) */
    struct lc_omp_node *place; /* the thread's when it was left */
    struct lc_omp_thread *on;  /* untied: that thread */
    bool in_barrier;           /* what it waits in, since: */
    uint64_t came, left;       /* into the barrier or taskwait; for another task */
    uint64_t elsewhere;        /* since it came: in tasks that were executed there, */
    uint64_t back;             /* the last one from `left` to here */
    uint32_t number;           /* implicit: of the thread in its team */
    uint32_t loops;            /* implicit: worksharing loops that it has come to */
    uint64_t id; /* in the trace: explicit: as in LC_REC_OMP_SWITCH; implicit: 1, 0: not there */
    _Alignas(LC_OMP_LINE) struct lc_omp_joint children;
    /* explicit; of an untied one that was put down: then */
    _Alignas(LC_OMP_LINE) struct lc_omp_point created;
    /* Of what-if scenarios with a clock per task, while the task does not run: then they are the
     * thread's. Not set before it has run. */
    uint64_t whatif[LC_WHATIF_MAX];
    uint64_t spans[LC_OMP_SPANS];
};

enum { LC_OMP_BLAMED = 3 };
struct lc_omp_blamed { /* who made this thread wait at a node, until now */
    uint32_t thread, node;
    uint64_t ticks;
};

/* A node of the call tree of one thread. */
struct lc_omp_node {
    struct lc_omp_node *next;  /* same hash */
    struct lc_omp_node *inner; /* below it, asked for last; NULL: none yet */
    uint32_t node, parent, kind;
    uint64_t code;
    struct lc_state_row *row; /* its time */
    struct lc_state_wait *waits;
    struct lc_omp_blamed blamed[LC_OMP_BLAMED];
    uint32_t span; /* task constructs: as of their tasks */
    bool span_asked;
};

enum {
    LC_OMP_NODES_LOG2 = 12,
    LC_OMP_NODES = 1 << LC_OMP_NODES_LOG2,
    LC_OMP_DEEPEST = 64,
    LC_OMP_TEAM_LEVELS = 16
};

struct lc_omp_thread {
    struct lc_thread *_Atomic t;  /* NULL: it has ended */
    struct lc_omp_task *task;     /* that it runs; NULL: none */
    struct lc_omp_task *running;  /* that its clocks have come to */
    bool running_kept;            /* with a reference */
    bool fresh;                   /* it has had no task since its thread began in the runtime */
    bool in_runtime;              /* where clocks lag: else struct lc_clk_thread knows */
    uint32_t until_stamp;         /* events until what one costs is measured (lc_omp_done) */
    uint64_t seen_worked;         /* work of the thread when the task's was last brought up to it */
    struct lc_omp_task *hidden;   /* that, while the runtime's data for it are empty */
    struct lc_omp_region *forked; /* innermost one that it has not left */
    struct lc_omp_node *at;       /* where the time since the last event belongs */
    struct lc_omp_node *outer[LC_OMP_DEEPEST];
    uint32_t n_outer;
    uint64_t entered;      /* the runtime (barrier, lock, ..) */
    uint64_t barrier_left; /* that may be the last one of a team; 0: it cannot */
    uint64_t task_max;     /* longest task clock */
    uint64_t whatif_max[LC_WHATIF_MAX];
    /* the thread's clocks when the task's was last brought up to them, and their interval */
    uint64_t seen_useful, seen_own;
    uint32_t interval, phase;
    uint32_t usual_epoch; /* 1 + that of the clocks in which events are usual (usual.h); 0: none */
    uint64_t seen_phase_useful, seen_phase_own, phase_task_max; /* the same in the phase */
    /* of the implicit task that ended last */
    uint64_t last_task_clock, last_phase_clock;
    uint64_t idle;                     /* since when; 0: it is not, or has had no region yet */
    struct lc_omp_region *from;        /* that it was in before; NULL: none */
    const struct lc_omp_region *ahead; /* that it will probably be in next, or NULL */
    uint32_t from_barrier;             /* the last one of that */
    /* time between its forks and joins until t: closed + t * open */
    uint64_t regions_closed, regions_open;
    uint32_t serial; /* of the last outermost one */
    /* where it worked longest since it last waited; and where it works now, for how long */
    uint32_t longest_node, busy_node;
    uint64_t longest, busy;
    uint64_t tasks; /* explicit ones that were executed */
    /* longest chain of each construct's tasks that ended here, in this interval */
    _Atomic uint64_t longest_span[LC_OMP_SPANS];
    /* ends of such tasks, told when the thread comes to this barrier of the region itself: until
     * then nobody asks for them, and what the barrier gathers is everybody's */
    struct lc_omp_region *ended_in;
    uint32_t ended_barrier;
    struct lc_omp_joint ended;
    /* the parent of tasks whose records have ended here, and how many references it loses */
    struct lc_omp_task *parent;
    uint32_t parent_loses;
    uint32_t stands_for; /* events, the one that is measured next; 0: none will be */
    uint32_t gaps;       /* state of the generator of such numbers */
    uint64_t own_ticks;  /* the thread's when an event was last to be measured */
    bool has_tasks;      /* has created explicit ones */
    bool takes_lock;     /* has asked for one */
    bool at_sink;        /* waits for another iteration of an ordered loop */
    /* its acquisition of a lock outside of regions, as of lc_omp_path_open; 0: none */
    uint32_t acquisition, acquisition_node;
    const void *acquisition_code;
    uint64_t edges_lost; /* releases of locks that came too late, iterations long ago */
    /* for the trace: teams that it forked, and is in; explicit tasks that it created */
    uint32_t forks, teams;
    uint64_t created;
    uint32_t team_numbers[LC_OMP_TEAM_LEVELS]; /* 1 + number; 0: none yet */
    /* among nodes: `!$omp idle`; those that lc_omp_node_known, lc_omp_node_get gave last */
    struct lc_omp_node *idle_node, *known, *got;
    struct lc_omp_node *nodes[LC_OMP_NODES];
    struct lc_omp_pools pools;
    struct lc_omp_thread *next; /* all */
};

/* The node where the thread is. */
static inline uint32_t lc_omp_node_now(const struct lc_omp_thread *o) {
    return o->at != NULL ? o->at->node : 0;
}

/* Nobody has come to it; with one reference. NULL: no memory. */
static inline struct lc_omp_set *lc_omp_set_new(struct lc_omp_thread *o) {
    struct lc_omp_set *set =
        lc_omp_take_part(&o->pools, LC_OMP_SET, sizeof *set, offsetof(struct lc_omp_set, joint));
    if (set != NULL)
        lc_omp_joint_begin(&set->joint);
    return set;
}

#endif
