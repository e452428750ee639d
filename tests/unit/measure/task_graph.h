/* Random programs of OpenMP in virtual time, in parts: what the sources under test need of the rest
 * (task_graph_clocks.c), the graph and the plans of programs (task_graph_plan.c), tasks of the
 * runtime (task_graph_tasks.c), its threads and barriers (task_graph_threads.c). */
#ifndef LC_TEST_TASK_GRAPH_H
#define LC_TEST_TASK_GRAPH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "measure/clocks/clocks.h"
#include "measure/core/core.h"
#include "measure/openmp/nodes.h"
#include "measure/openmp/omp_edges.h"
#include "measure/openmp/omp_self.h"
#include "measure/openmp/tasks.h"
#include "piggyback/logical.h"

enum {
    THREADS = 96,
    FEW = 4, /* of random programs */
    LOCKS = 2,
    ADDRESSES = 3,
    TASKS = 256,
    ACTIONS = 4000,
    NODES = 40000,
    EDGES = 400000,
    QUEUED = 512 /* events of clocks that lag */
};

/* What-if: the code of explicit tasks takes twice as long; a clock per task; both. */
enum { LONGER, PER_TASK, LONGER_PER_TASK, SCENARIOS, TASK_NODE = 7, CONSTRUCTS = 2 };

enum { OF_THREADS = 1, OF_TASKS = 2, OF_BOTH = 3 };

enum action_kind {
    WORK,
    CREATE,
    FULFIL, /* the event of the task that was created last */
    YIELD,  /* of an untied task: any thread may go on with it */
    TASKWAIT,
    TASKWAIT_DEPEND,
    GROUP_BEGIN,
    GROUP_END,
    CRITICAL,
    BARRIER,
    END
};

struct action {
    enum action_kind kind;
    uint32_t value;    /* ticks; CREATE: first action of the task */
    uint32_t lock;     /* CRITICAL */
    bool undeferred;   /* CREATE */
    bool detached;     /* ... */
    bool untied;       /* ... */
    uint32_t n_depend; /* CREATE, TASKWAIT_DEPEND */
    uint8_t address[ADDRESSES], type[ADDRESSES];
};

struct plan { /* of a task's body */
    uint32_t depth;
    bool implicit, untied, final; /* final: so are all tasks in it */
};

struct group {
    uint32_t tasks; /* that have not ended */
};

struct span {
    uint64_t begin, end;
};

/* SUSPENDED: any thread may take it up; DETACHED: its event is missing */
enum task_state { CREATED, BEGUN, SUSPENDED, DETACHED, ENDED };

struct task {
    union ompt_data data;
    const struct action *next;
    const struct action *made_by;
    struct task *parent, *under;  /* that the thread has put down for it */
    struct task *awaits_event;    /* that it has created last */
    struct group *group, *own[4]; /* it was created in; that it has opened */
    uint32_t n_own, phase;        /* barriers before it */
    enum task_state state;
    bool implicit;
    bool waits; /* at the action before the next */
    uint32_t thread, created_on;
    uint32_t children;  /* that have not ended */
    uint32_t construct; /* 1 .. CONSTRUCTS; 0: implicit */
    uint64_t work;
    uint32_t last, create_node, end_node, undeferred_end, event;
    uint64_t created, ended, came, down; /* down: since when it is put down */
    struct span spans[TASKS];            /* in which it was put down, since it came */
    uint32_t n_spans;
};

struct place { /* a thread */
    struct task *task;
    uint64_t busy; /* until then */
    uint32_t last;
    struct task *begins; /* in this region, not yet */
    struct task *old;    /* in its last one, of whose end it has not heard; NULL: none */
    bool known;
    int wants, holds; /* a lock; -1: none */
    uint64_t asked, idle;
};

struct lock {
    bool held;
    uint32_t released; /* node */
    uint64_t when;
};

/* ---- task_graph_clocks.c */

extern uint64_t now; /* virtual */
extern uint64_t program_begin;
extern uint32_t n_chunks;                             /* of memory that pools have taken */
extern enum lc_omp_construct last_region;             /* of the last region outside of all */
extern struct lc_thread threads[THREADS];             /* of the tool */
extern struct lc_clk_thread clocks[THREADS];          /* of these */
extern uint64_t measured[THREADS][LC_MEASURED_KINDS]; /* waiting by kind, as the callbacks say */
extern void (*while_waiting)(void); /* what another thread does when this one gives its core away */
extern void (*while_sleeping)(void); /* and when it sleeps */

/* Runs events that were queued until no more than so many are left. */
void run_events(uint32_t left);

/* ---- task_graph_plan.c */

extern uint8_t construct_of[NODES]; /* of a node: 1 .. CONSTRUCTS; 0: of implicit tasks */
extern uint32_t n_nodes, n_edges;
/* An edge of the graph; kind: for whom it orders. Edges go to younger nodes; from LC_NONE: none. */
void edge(uint32_t from, uint32_t to, int kind);
/* A node of this much work, of no construct. */
uint32_t node_of(uint32_t work);
/* The longest path over edges of this kind; weights: what work of implicit tasks counts, and of
 * tasks of each construct. */
uint64_t longest_path(int kind, const uint32_t weights[1 + CONSTRUCTS]);
extern struct action actions[ACTIONS]; /* of all tasks */
extern uint32_t n_actions, n_planned;
/* A random number below n. */
uint32_t below(uint32_t n);
/* The first action of a task's body, END behind the last. */
uint32_t plan(struct plan body);

/* ---- task_graph_tasks.c */

extern struct group groups[ACTIONS];
extern struct task *tasks[TASKS];
extern uint32_t n_groups, n_tasks, n_region; /* first task of this region */
extern struct place places[THREADS];         /* threads */
extern struct lock locks[LOCKS];
extern uint64_t expected[THREADS][LC_MEASURED_KINDS],
    own_work[THREADS]; /* waiting by kind; useful time */
/* The callbacks that follow are of this thread. */
void be(uint32_t thread);
/* A task, in no thread yet. */
struct task *new_task(bool implicit);
/* The thread and its task go on: a node behind both. */
uint32_t step(uint32_t thread, struct task *t, uint32_t work);
/* The task has waited until `last`, but for what its thread did meanwhile. */
void expect_wait(struct task *t, uint32_t kind, uint64_t last);
/* May the two not run at once? */
bool excludes(const struct task *a, const struct task *b);
/* Must `b` wait for `a`, its older sibling? */
bool before(const struct task *a, const struct task *b);
extern bool in_order; /* tasks run in the order in which they were created */
/* A task that the thread may run now; NULL: none. */
struct task *pick(uint32_t thread);
extern uint32_t running[1 + CONSTRUCTS], at_once[1 + CONSTRUCTS]; /* of each construct */
/* The thread begins a task. */
void begin_task(uint32_t thread, struct task *t);
/* An untied task goes on, here: after what it did elsewhere. */
void resume_task(uint32_t thread, struct task *t);
/* The thread puts its untied task down. */
void yield_task(uint32_t thread, struct task *t);
/* The body of the thread's task has ended. */
void end_task(uint32_t thread, struct task *t);
/* The event of the task that `by` created last. */
void fulfil(uint32_t thread, struct task *by);
/* Reports the dependences of an action. */
void tell_dependences(union ompt_data *data, const struct action *a);
/* `parent` creates a task. */
void create(uint32_t thread, struct task *parent, const struct action *a);

/* ---- task_graph_threads.c */

extern union ompt_data region; /* the word of the runtime for it */
extern uint32_t team, arrived, arrive_nodes[THREADS];
extern uint32_t inside;
extern uint32_t n_regions;
/* A region of `team` threads; bodies: first action of each, NULL: random ones. */
void run_region(struct task *initial, const uint32_t *bodies);
/* The initial thread works between regions. */
void serial_work(struct task *initial);

#endif
