/* The ground of the simulator: a segment that all processes of a run share, turns, virtual time,
 * and the network. Only the task that has the turn touches the segment, so nothing in it needs a
 * lock.
 *
 *   task     a thread of a process of a rank. Its clock is virtual, in ns. It runs while it has the
 *            turn, else it sleeps on its futex.
 *   event    something that happens at a virtual time without a task: a message arrives, a request
 *            becomes complete.
 *   turn     always goes to the task or event that is earliest in virtual time, events first; among
 *            equals the seed draws. So whatever a task does in an MPI call at time t is done after
 *            all that happens before t, and a seed is one order of things.
 *
 * The segment lies at the same address in all processes: pointers into it hold everywhere. It is
 * the launcher's memory; the library libsim.so, preloaded into every process, maps it. */
#ifndef SIM_H
#define SIM_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { SIM_MOST_RANKS = 256, SIM_MOST_TASKS = 2048, SIM_MOST_EVENTS = 1 << 16, SIM_CLASSES = 40 };
enum { SIM_POLLS = 100 }; /* in a row; then the clock jumps to the next event */
enum { SIM_FAILED = 86 }; /* exit status: the simulation itself cannot go on */
#define SIM_NEVER UINT64_MAX

enum sim_state { SIM_FREE, SIM_WAITS, SIM_RUNS };

struct sim_task {
    enum sim_state state;
    int rank, thread;
    int next_of_rank;  /* 1 + index of another task of this rank; 0: none */
    pid_t pid, parent; /* parent: 0 if it is not in the simulation */
    uint64_t clock;    /* ns */
    uint64_t worked;   /* what it had of processors, ns: sim_work, and what the tool costs */
    uint64_t ready_at; /* when it may run again; SIM_NEVER: somebody has to wake it */
    uint64_t lot;      /* drawn each time that it begins to wait: who is first among equals */
    uint32_t turn;     /* futex: 1 if it is this task's turn */
    bool begun;        /* it has had a turn */
    bool outside;      /* waits for something that only the kernel knows of (a child, a signal) */
    bool calls_mpi;
    bool naps;             /* outside of MPI */
    bool looks;            /* looks for something in vain, see sim_poll */
    bool waits;            /* has done so for long since it did anything else but look */
    int polls, missed;     /* looks in vain so far; those before the call that it is in */
    const void *read_from; /* where the tool read the clock last */
    int reads;             /* of the clock by the program, without another call */
    char where[48];        /* the call that it is in */
};

/* What goes wrong, when. */
enum { SIM_MOST_FAULTS = 16, SIM_ABORTS = -1 };
struct sim_fault {
    enum { SIM_KILL, SIM_ABORT, SIM_ERROR, SIM_STEP, SIM_STALL, SIM_SYSTEM } kind;
    int rank;
    uint64_t at,
        seen;      /* its at-th MPI call, turn of its parent, or call of the system by the tool */
    bool moment;   /* SIM_KILL: at that time, whatever it does */
    int64_t value; /* SIM_ERROR: the class; SIM_STEP, SIM_STALL, SIM_SYSTEM (0: it fails): ns */
    char name[16]; /* SIM_SYSTEM: of the call */
};

/* How what members of a collective operation bring comes to the others: in one message each, all at
 * once; in one after the other; or along a binomial tree from each. */
enum sim_shape { SIM_AT_ONCE, SIM_ALL_TO_ALL, SIM_TREE, SIM_SHAPES };

/* What the seed and the command line say of machine and network. */
struct sim_model {
    uint64_t seed;
    int ranks, nodes;
    uint64_t latency_ns, node_latency_ns; /* within a node, between nodes */
    uint64_t jitter_ns;                   /* added to a message's, at most */
    uint64_t call_ns;                     /* of an MPI call, at most */
    uint64_t ns_per_kib, node_ns_per_kib; /* within a node, between nodes */
    uint64_t eager_bytes;
    uint64_t
        buffer_bytes; /* of messages of a rank that nobody has received yet: more have to wait */
    bool lazy;        /* a rank answers others, and passes on their data, in MPI calls only */
    enum sim_shape shape;
    bool cancels_sends;
    bool strict; /* every member of a collective operation waits for all others */
    /* Clocks of nodes but the first: by how much they differ at most. Every few ms the drift grows,
     * or shrinks again, by wobble_ppb. */
    uint64_t offset_ns, drift_ppb, wobble_ppb;
    /* what a stamp, a lock, a question to OpenMP's runtime costs the tool */
    uint64_t tool_read_ns, tool_lock_ns, tool_ask_ns;
    uint64_t switch_ns; /* the kernel stops and starts an event of the tool's */
    int n_faults;
    struct sim_fault faults[SIM_MOST_FAULTS];
};

enum sim_event_kind { SIM_ARRIVAL, SIM_COMPLETION, SIM_DEATH };

struct sim_event {
    uint64_t at, lot, number;
    enum sim_event_kind kind;
    void *what;
};

struct sim_message;
struct sim_request;

/* Of a rank: messages that nobody has asked for, and receives that have no message. */
struct sim_endpoint {
    struct sim_message *first, **last;
    struct sim_request *first_posted, **last_posted;
    struct sim_message *unanswered; /* matched, but their senders have not been told (lazy) */
    struct sim_request *held;       /* of others in collective operations that this one passes on */
    uint64_t buffered;              /* bytes sent that nobody has received yet */
    int64_t step_ns;                /* its clocks have jumped by that */
};

struct sim_segment {
    struct sim_model model;
    pid_t launcher;
    cpu_set_t cpus;            /* that the launcher may use: all tasks are bound to one of them */
    _Atomic uint64_t switches; /* changes whenever something happens: for the watchdog */
    _Atomic int holder;        /* index of the task that has the turn; -1: nobody */
    int n_tasks;
    struct sim_task tasks[SIM_MOST_TASKS];
    int first_of_rank[SIM_MOST_RANKS];        /* 1 + index of a task; 0: none */
    uint64_t lookers[SIM_MOST_TASKS / 64];    /* bits of tasks: those that look in vain, at least */
    uint16_t earliest[2][2 * SIM_MOST_TASKS]; /* who may run first, see set_ready in sim_turns.c */
    int n_outside;                            /* turns in a row of tasks that do not call MPI */
    int n_dying; /* processes that have ended in the simulation, and whom that concerns */
    struct sim_dying {
        pid_t pid, parent;
    } dying[SIM_MOST_TASKS];
    int n_events;
    uint64_t n_all_events;
    struct sim_event events[SIM_MOST_EVENTS];
    uint64_t random;
    uint64_t next_context;
    uint64_t n_messages, n_bytes; /* that were sent */
    _Atomic bool stuck;           /* nobody can go on */
    _Atomic int aborted;          /* 1 + exit status of MPI_Abort */
    int finalized;
    struct sim_endpoint endpoints[SIM_MOST_RANKS];
    uint64_t last_arrival[SIM_MOST_RANKS][SIM_MOST_RANKS];
    struct sim_meeting *meetings;
    void *free[SIM_CLASSES];
    char *next, *end;
};

/* Where the segment is, and how large at most: it is sparse. */
#define SIM_ADDRESS ((void *)0x6a0000000000)
#define SIM_BYTES   ((size_t)8 << 30)

extern struct sim_segment *sim; /* NULL: this process is not of a simulation */

static inline int sim_node_of(int rank) {
    return rank * sim->model.nodes / sim->model.ranks;
}

/* ---- launcher ---- */
void sim_segment_make(int fd, const struct sim_model *model); /* ends the process on failure */
void sim_start(void);                                         /* the first task gets the turn */
void sim_kill(const struct sim_fault *fault,
              uint64_t at);   /* the process of the rank that calls MPI */
void sim_release(int status); /* the simulation is over: who is left goes on in real time */
void sim_reap(pid_t pid);     /* this process has ended: its tasks are gone, its turn goes on */

/* ---- turns ---- */
/* This process is of the simulation from here on; a constructor, which others may run before. */
void sim_attach(void);
extern uint64_t sim_left_at;     /* when this process left it: what still runs then has this time */
struct sim_task *sim_self(void); /* of the calling thread */
struct sim_task *sim_task_new(int rank, pid_t pid, uint64_t clock);
void sim_become(struct sim_task *task); /* this thread is that task; waits for its turn */
void sim_end(struct sim_task *task);    /* the calling thread's, or of a thread that never ran */
_Noreturn void sim_wait_for_end(void);  /* the launcher ends all; in real time */
void sim_yield(uint64_t ready_at);      /* gives the turn up until then */
void sim_turn(void);                    /* goes on when everything earlier is done */
void sim_wait_until(bool (*done)(void *), void *data); /* gives the turn up until it is true */
void sim_wake_rank(int rank,
                   uint64_t at); /* those of its tasks that wait look again at that time */
void sim_wake(struct sim_task *task, uint64_t at);
void sim_set_ready(struct sim_task *task, uint64_t at); /* whenever it was ready before */
/* The tasks of a rank: for (t = sim_task_of(rank); t != NULL; t = sim_task_after(t)) */
struct sim_task *sim_task_of(int rank);
struct sim_task *sim_task_after(const struct sim_task *task);
void sim_wake_outside(int rank, uint64_t at); /* those that wait for the kernel */
void sim_gone(
    pid_t pid); /* that process has ended, or is about to; not the one that has the turn */
void sim_preempted(uint64_t ns); /* another thread has the processor for so long */
uint64_t sim_local_clock(void);  /* what the clock of this task's node shows; costs 1 ns */
uint64_t sim_true_clock(void);   /* the same time for all nodes, for tests; costs nothing */
void sim_is_asked(const void *return_address); /* OpenMP's runtime; costs the tool --tool-cost */
void sim_poll(void);               /* it has looked for something in vain; its clock may jump */
uint64_t sim_draw(uint64_t below); /* 0: 0 */
/* An MPI call begins. What it has to give: 0, an error class, or SIM_ABORTS. */
int sim_enter(const char *where);
_Noreturn void sim_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

void *sim_alloc(size_t bytes); /* in the segment, zeroed; never NULL */
void sim_free(void *memory);

/* ---- events ---- */
void sim_event_add(uint64_t at, uint64_t channel, enum sim_event_kind kind, void *what);
void sim_event_run(const struct sim_event *event); /* sim_transport.c */

/* ---- messages ---- */
struct sim_message {
    uint64_t context;
    int from, to; /* ranks of the world */
    int source;   /* rank of the sender in its communicator */
    int tag;
    bool waits; /* the sender waits until it is matched */
    bool has_arrived, cancelled;
    bool buffered; /* in sim_endpoint.buffered of the sender */
    uint64_t sent_at, arrives_at;
    struct sim_request *sender;
    struct sim_message *next;
    size_t bytes;
    char data[];
};

enum sim_request_kind { SIM_SEND, SIM_RECEIVE, SIM_MEETING };

struct sim_request {
    enum sim_request_kind kind;
    int rank; /* owner */
    bool complete, cancelled, orphan;
    uint64_t complete_at;
    uint64_t context;
    int source, tag; /* wanted; MPI's wildcards */
    uint64_t posted_at;
    struct sim_message *message;
    struct sim_meeting *meeting;
    struct sim_request *next;
};

struct sim_envelope {
    uint64_t context;
    int to, source, tag;
};

/* A copy of the data travels; the request is complete when the buffer may be used again. */
struct sim_request *sim_send(struct sim_envelope envelope, const void *data, size_t bytes,
                             bool synchronous, bool buffered);
struct sim_request *sim_receive(uint64_t context, int source, int tag);
struct sim_request *sim_receive_message(struct sim_message *message); /* of sim_take */
/* The first that has arrived and fits, or NULL; take: nobody else gets it. */
struct sim_message *sim_look(uint64_t context, int source, int tag, bool take);
void sim_progress(void);          /* the calling task is in an MPI call */
extern void (*sim_deliver)(void); /* data of receives into memory of the process; NULL: none yet */
bool sim_cancel(struct sim_request *request);       /* false: too late */
void sim_request_free(struct sim_request *request); /* with its message; may still be under way */

/* ---- meetings: collective operations ---- */
struct sim_part {
    bool joined, left;
    int rank; /* of the world */
    uint64_t at;
    const unsigned char *needs; /* by member; NULL: all */
    struct sim_request *request;
    size_t bytes;
    char *data;
};

struct sim_meeting {
    uint64_t context, number;
    int n, n_joined, n_left;
    uint64_t latency_ns;
    uint64_t fresh; /* numbers for new communicators: n of them from here on */
    const char *name;
    char what[32];
    struct sim_meeting *next;
    struct sim_part parts[];
};

/* Member `me` of n comes to a collective operation, the `number`-th of this context, with data. The
 * request is complete a latency after all those have come whom it needs (a copy is made; NULL:
 * all). All that come must name the same operation. */
struct sim_request *sim_meet(uint64_t context, uint64_t number, int n, int me, const char *what,
                             uint64_t latency_ns, const void *data, size_t bytes,
                             const unsigned char *needs);
void sim_leave(struct sim_meeting *meeting, int me); /* has read what it wants */

#endif
