/* A libgomp for programs of the simulation: what GCC's code calls, in turns and virtual time
 * (sim.h). The seed decides who takes which task, which iterations, and how long the runtime needs.
 * It knows who waits for whom, so it keeps the truth, too (sim_gomp_truth.c).
 *
 *   team      threads of a region; its barriers come one after the other, each a record of its own
 *   task      implicit or explicit; runs on one thread (untied ones, too)
 *   share     a worksharing construct of a team
 *   point     what the code before it took, along the longest chain: over all, and per task
 *
 * Nothing is freed: programs are short. */
#ifndef SIM_GOMP_H
#define SIM_GOMP_H

#include "sim.h"

typedef unsigned long long ull;

enum { GOMP_SPANS = 1024, GOMP_DEPENDENCES = 32 };

/* What waiting is for. */
enum gomp_wait {
    GOMP_AT_BARRIER,
    GOMP_AT_TASKS,
    GOMP_AT_CRITICAL,
    GOMP_AT_LOCK,
    GOMP_IDLE,
    GOMP_WAITS
};

struct gomp_point {
    uint64_t useful, task; /* ns */
};

/* A wait in progress: from `came`, without what the thread executed meanwhile. */
struct gomp_waiting {
    uint64_t came;
    int n;
    struct {
        uint64_t begin, end;
    } spans[GOMP_SPANS];
};

struct gomp_group {
    struct gomp_group *outer;
    int tasks; /* that have not ended */
    uint64_t last;
    bool cancelled;
    struct gomp_point all;
};

enum gomp_state { GOMP_CREATED, GOMP_BEGUN, GOMP_BODY_ENDED, GOMP_ENDED };

struct gomp_task {
    struct gomp_task *parent, *next; /* next: of the same team, older */
    struct gomp_team *team;
    struct gomp_group *group; /* innermost; explicit: that it was created in */
    struct gomp_group *home;
    enum gomp_state state;
    bool explicit_one, final, detached, fulfilled;
    bool constructed; /* a function has copied its data: it is not discarded */
    int children;     /* that have not ended */
    int priority;
    uint64_t last_child, ended;
    void (*fn)(void *);
    void *data;
    int n_depend;
    struct {
        void *address;
        int type;
    } depend[GOMP_DEPENDENCES];
    struct gomp_point created, end, children_all;
    uint64_t clock, work;
};

struct gomp_barrier {
    int arrived;
    bool over;
    uint64_t last;      /* thread */
    uint64_t last_task; /* end of a task */
    struct gomp_point all;
};

struct gomp_share;

struct gomp_team {
    struct gomp_team *outer;
    struct gomp_thread *master;
    int n, level;
    void (*fn)(void *);
    void *data;
    struct gomp_barrier *barrier;      /* the one to come */
    int tasks_left, left;              /* tasks that have not ended; workers that are in it */
    struct gomp_task *tasks;           /* newest first */
    struct gomp_share *shares, *given; /* given: of a region that is a loop; NULL: none */
    void *copied;                      /* of `single copyprivate` */
    bool cancelled;
    uint64_t forked;
    struct gomp_point fork;
};

/* A thread; what belongs to its team is put aside while it forks another one. */
struct gomp_thread {
    int index;              /* in the order in which they first ran */
    struct gomp_team *team; /* NULL: none */
    int number;
    unsigned work; /* worksharing constructs of the team that it has come to */
    struct gomp_share *share;
    long chunk, rounds; /* of its loop: that it has, -1: none; taken (static schedule) */
    struct gomp_task *task;
    /* the truth: */
    uint64_t born, early, ended, seen, useful, own; /* early: forks before it was there */
    uint64_t entered, outside;                      /* the runtime; time in it outside of regions */
    uint64_t idle;                                  /* since when; 0: it is not */
    uint64_t waited[GOMP_WAITS];
    bool of_inner_team; /* it ends with it, and the next worker that is made goes on as this one */
    struct gomp_thread *next, *next_ended;
};

/* ---- sim_gomp_truth.c */

/* The calling thread's record. */
struct gomp_thread *gomp_self(void);
/* That of a new worker: of one that has ended, or its own. */
struct gomp_thread *gomp_new_worker(bool of_inner_team);
/* The program calls the runtime: what it did since gomp_out was its work. */
struct gomp_thread *gomp_in(void);
/* The runtime goes back to the program. */
void gomp_out(void);
/* Where the thread is now. */
struct gomp_point gomp_here(const struct gomp_thread *t);
/* `all` is behind this one, too. */
void gomp_join(struct gomp_point *all, struct gomp_point one);
/* The thread and its task go on behind that point. */
void gomp_after(struct gomp_thread *t, struct gomp_point point);
/* A wait begins. */
struct gomp_waiting gomp_comes(void);
/* It is over; it was for something that was there at `last`. */
void gomp_waited(struct gomp_thread *t, const struct gomp_waiting *w, enum gomp_wait kind,
                 uint64_t last);
/* The thread's task is over. */
void gomp_task_over(const struct gomp_task *task);
uint64_t gomp_now(void);
/* The runtime needs some time for itself: up to SIM_GOMP_COST ns. */
void gomp_takes_time(void);

/* ---- sim_gomp_tasks.c */

/* Which tasks the thread may execute while it waits. */
struct gomp_choice {
    const struct gomp_team *team;
    const struct gomp_task *parent; /* NULL: of any */
    const struct gomp_group *group; /* NULL: of any */
};
/* Executes tasks until `done`, a wait that began with `w`. */
void gomp_work_until(struct gomp_choice choice, bool (*done)(void *), void *data,
                     struct gomp_waiting *w);
/* Those that look for something look again. */
void gomp_wake(void);
struct gomp_task *gomp_task_new(struct gomp_task *parent, struct gomp_team *team);

/* ---- sim_gomp_team.c */

/* A region of `n` threads (0: the usual number); prepare: makes the loop that it is; NULL: none. */
typedef struct gomp_share *gomp_prepare(struct gomp_team *team, void *for_it);
void gomp_region(void (*fn)(void *), void *data, unsigned n, gomp_prepare *prepare, void *for_it);
/* The thread waits for its team; true: the region is cancelled. */
bool gomp_barrier(bool may_be_cancelled);

/* ---- sim_gomp_work.c */

/* The innermost loop of the thread: lets the next one in. */
void gomp_ordered_passes(struct gomp_thread *t);

#endif
