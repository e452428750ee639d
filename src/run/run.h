/* `latecomer run` on one rank: the parent of the measured program.
 *
 * Nouns
 *   program  the measured program; child of this process, in the same process group
 *   state    memory that the library inside the program fills (format/state.h); a memfd of this
 *            process, so that nothing is ever left behind, and so that it outlives the program
 *   notify   a pipe by which the library notifies this process: 'i' MPI_Init is done, 'a' MPI_Abort
 *            is coming, 'f' MPI_Finalize has gathered the result
 *   peers    the states of all ranks of this node, found in the own state, mapped when the library
 *            has notified that they are known
 *   writer   the one process of a node that saves the result after the program died
 *
 * Invariants: the program behaves as without us: signals, exit status, files, process group. All
 * our descriptors are close-on-exec. Nothing that goes wrong here stops the program; at worst it
 * runs unmeasured, and one line says so. */
#ifndef LC_RUN_RUN_H
#define LC_RUN_RUN_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "job/launcher.h"
#include "run/binding.h"
#include "run/inspect.h"
#include "run/rundir.h"
#include "run/sentinel.h"

struct lc_state_header;

struct lc_mapped_state {
    struct lc_state_header *header; /* NULL: not there (any more) */
    size_t bytes;
    int32_t rank;
    int32_t pid; /* of the parent that holds it */
};

struct lc_peers {
    struct lc_mapped_state *states; /* ascending ranks; the own one included */
    size_t n_states;
    size_t own; /* index, or n_states if the own state is not among them */
};

struct lc_guard { /* guard.h */
    pid_t pid;    /* 0: none */
    int fd;       /* closed by our end, whatever it is */
};

struct lc_run {
    struct lc_launch launch;
    struct lc_program program;
    struct lc_rundir dir;
    char **argv;               /* of the program */
    char *library;             /* the stub to preload */
    char *openmp;              /* an OpenMP runtime to preload, or NULL */
    bool native_openmp;        /* what GCC's code calls of libgomp is seen */
    bool makes_tasks;          /* the program calls what creates explicit tasks of OpenMP */
    struct lc_binding binding; /* for that runtime */
    bool measure;              /* false: the program runs as if we were not here */
    bool result_saved;         /* in MPI_Finalize, or soon after it */
    bool result_told;          /* and a line has said so */
    uint64_t finalize_ns; /* the result is whole, and the program in MPI_Finalize; 0: not yet */
    bool is_apart; /* MPI sees this rank alone: a run of one rank, in a directory of its own */
    int threads;   /* wanted per process, by OMP_NUM_THREADS; 1: a program without OpenMP */
    int state_fd;
    int notify[2];
    int control_fd;                                   /* listening for `latecomer dump`, or -1 */
    int timer_fd;                                     /* --dump-every, or -1 */
    uint64_t dump_seen, dump_look_ns, dump_period_ns; /* control.h; 0: does not look */
    sigset_t mask; /* of signals, as we were given it: the program's */
    pid_t child;
    struct lc_sentinel sentinel;
    struct lc_guard guard;
    struct lc_peers peers;
    uint64_t begin_ns, end_ns; /* of the program, CLOCK_MONOTONIC_RAW */
    uint64_t counted_ns;       /* until then ranks were counted that still ran; 0: none */
    uint64_t begin_realtime_ns;
    int passed_signal;   /* last signal that was passed on to the program; 0: none */
    pid_t signal_sender; /* of that one; 0: unknown */
    bool leave_in_turn;  /* leave.c: not before the parents whose programs ended earlier */
    int wait_status;
};

/* Runs argv[0] and returns the exit status of this process; does not return if the program died of
 * a signal. `argv` ends with NULL. */
int lc_run_main(char **argv);

/* Steps of it. liblatecomer.so beside this program's folder; the caller frees the path. Errors:
 * LC_ERR_NOT_FOUND, LC_ERR_SYSTEM, LC_ERR_UNSUPPORTED. */
enum lc_err lc_run_find_library(char **path);
/* starts the program; all signals are blocked here already. Errors: LC_ERR_SYSTEM. */
enum lc_err lc_run_spawn(struct lc_run *run);
void lc_run_watch(struct lc_run *run);             /* until the program has ended */
void lc_run_write_start(const struct lc_run *run); /* .run.json: what is known before the run */
void lc_run_follow(struct lc_run *run); /* where the program goes, if MPI sees it alone */
/* dies by the program's signal or returns its status */
int lc_run_exit_like(const struct lc_run *run);
void lc_run_finish(struct lc_run *run); /* the result, after the end */
/* The result, by the guard of a parent that was killed. */
void lc_run_finish_killed(struct lc_run *run);
void lc_run_mark_saved(struct lc_run *run); /* tells the parents of the node */
/* True while other programs of this node that have not ended are sure to die of the signal by which
 * this one died, having been passed on to it, or may be yet to be sent it. */
bool lc_run_more_will_die(const struct lc_run *run);
void lc_run_leave(struct lc_run *run); /* waits for the own turn to end; may end here */
/* What the library left in the state that nobody claimed: "#<why it measures nothing>", or, if MPI
 * was called past it, "!<name of the MPI library>" after MPI_Finalize, with '?' before it. */
bool lc_run_left_mark(const struct lc_run *run, char *mark, size_t size);
/* The result of a run that called MPI past the library. Errors: LC_ERR_NOMEM, and those of
 * lc_cubex_writer_close. */
enum lc_err lc_run_write_passed_by(struct lc_run *run, const char *mark);
/* The result of one process in which nothing was there to be measured: its time. Errors: those of
 * lc_run_write_passed_by. */
enum lc_err lc_run_write_plain(struct lc_run *run);
/* The result so far, as profile.cubex. Errors: LC_ERR_NOT_FOUND: nothing was measured yet;
 * LC_ERR_EXISTS: the final result is being written; LC_ERR_NOMEM, LC_ERR_IO, LC_ERR_FORMAT. */
enum lc_err lc_run_dump(struct lc_run *run);
/* The result so far, while the program waits in MPI_Abort. */
void lc_run_save_before_abort(struct lc_run *run);
enum { LC_FINALIZE_PATIENCE_S = 5 };
void lc_run_save_in_finalize(struct lc_run *run); /* it takes longer than that */
/* The socket for `dump` and `top` in the result's directory. Never fails visibly. */
void lc_control_open(struct lc_run *run);
/* Answers one request that waits on the socket. */
void lc_control_serve(struct lc_run *run);
/* Closes and removes the socket. */
void lc_control_close(struct lc_run *run);
void lc_control_watch(struct lc_run *run); /* from now on looks for requests, if it is its turn */
/* When the next look is due, CLOCK_MONOTONIC_RAW; 0: never. */
uint64_t lc_control_due_ns(const struct lc_run *run);
/* Looks for requests that other nodes left as files. */
void lc_control_look(struct lc_run *run);

/* Maps the states of this node's ranks (again, if the own state knows more now). */
void lc_peers_map(struct lc_run *run);
/* Unmaps the states of the other ranks. */
void lc_peers_free(struct lc_peers *peers);

#endif
