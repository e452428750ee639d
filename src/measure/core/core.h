/* What the parts of the measurement core share. The core is one shared object per MPI flavour,
 * opened by the preloaded stub (stub/stub.c) in the process that calls MPI; its wrappers (generated
 * from format/mpi_functions.tsv) are all that the program ever calls.
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
#ifndef LC_MEASURE_CORE_CORE_H
#define LC_MEASURE_CORE_CORE_H

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>

#include "measure/mpi_real.h" /* generated: enum lc_fn, struct lc_real */
#include "base/timer.h"
#include "format/facts.h"
#include "format/mpi_function.h"
#include "format/state.h"
#include "base/err.h"

struct lc_stub;
struct lc_thread;

#define lc_likely(x)   __builtin_expect(!!(x), 1)
#define lc_unlikely(x) __builtin_expect(!!(x), 0)
#define LC_COLD        __attribute__((noinline, cold))
#ifndef LC_ALONE
#define LC_ALONE 0 /* the core of programs without MPI (alone/) */
#endif

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
    LC_MODE_RECORD = 512,  /* inside a window of the trace (trace/trace_area.h) */
    LC_MODE_WINDOW = 1024, /* a window of the trace was opened or closed */
    LC_MODE_FLUSH = LC_MODE_FLUSH_PATHS | LC_MODE_FLUSH_TYPES | LC_MODE_FLUSH_COMMS |
                    LC_MODE_RESUMED | LC_MODE_WINDOW
};
enum lc_callpath { LC_CALLPATH_UNWIND, LC_CALLPATH_CALLER, LC_CALLPATH_NONE };

/* By enum lc_fn, generated: the name, "MPI_Send", and what is known of the function. */
extern const char *const lc_fn_names[];
extern const struct lc_mpi_function lc_fn_facts[];

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
    bool filtered_before; /* system calls were filtered when MPI_Init ended (seccomp) */
    /* all ranks are measured with the same options: collective work of our own is allowed */
    bool agreed;
    bool several_nodes; /* while agreed: not all ranks share memory */
    bool openmp;        /* a runtime of OpenMP has started, and is measured */
    int32_t rank, size;
    MPI_Comm comm; /* private duplicate of MPI_COMM_WORLD while agreed, else MPI_COMM_NULL */
    _Atomic uint32_t mode; /* of new threads */
    const char *dir;       /* the experiment's directory, NULL if none */
    const char *notify;    /* LATECOMER_NOTIFY */
    const char *parent;    /* LATECOMER_STATE */
    pthread_mutex_t lock;  /* of everything cold: tables of the state, threads, communicators */
    struct lc_thread *threads;
    uint32_t n_threads;
    _Atomic uint64_t n_pcontrol_ignored, n_region_errors, n_in_callbacks, n_spawned;
    struct lc_path_counts counts; /* of threads that ended */
    uint64_t n_switches;
    int required_level, provided_level;
    uint64_t init_ticks;            /* end of MPI_Init; without MPI: start of the process */
    uint64_t sample_period_ns;      /* of samples of the code between events; 0: none are taken */
    _Atomic uint32_t samples_rarer; /* every so many periods one, by what each takes */
    /* --counters: those that were asked for, and those that all threads so far can read; a bit each
     * of enum lc_counter. */
    uint32_t counters_asked;
    _Atomic uint32_t counters;
    struct lc_stub *stub;
    _Atomic uint64_t n_lost;
};
extern struct lc_core lc_core;
extern struct lc_real lc_real;

/* Collective: is it so on all ranks of `comm`? One that has no memory, say, says no, and none
 * begins what needs all of them. */
static inline bool lc_on_all(bool own, MPI_Comm comm) {
    int mine = own, all = 0;
    return lc_real.Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, comm) == MPI_SUCCESS && all != 0;
}

/* Collective over lc_core.comm: is it so on rank 0? What the others say counts for nothing. */
static inline bool lc_on_first(bool own) {
    int first = own;
    lc_real.Bcast(&first, 1, MPI_INT, 0, lc_core.comm);
    return first != 0;
}

/* What `latecomer run` asks of the core, in variables LATECOMER_* of the environment as it was at
 * the start; and the one line that the core may write to standard error. */

/* Copies the variables LATECOMER_* of the environment; once, when the core starts. Without memory
 * for one it is as if it were not set. */
void lc_options_keep(void);

/* The value of a variable LATECOMER_NAME as it was at the start, or NULL; kept for ever. */
const char *lc_option(const char *name);

/* One line to standard error, once per process; not with LATECOMER_QUIET. Keeps errno. */
void lc_say_once(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What the program's resource limits (ulimit) leave for the library. The program needs what there
 * is: where a limit is set, the library takes a small part of what is left or does without. */

/* May a file have so many bytes? Beyond the limit, growing it would raise SIGXFSZ. */
bool lc_limits_file(uint64_t bytes);

/* Bytes of address space that are left; UINT64_MAX: no limit. */
uint64_t lc_limits_room(void);

/* Is this mapping at most 1/64 of the address space that is left? */
bool lc_limits_memory(size_t bytes);

/* Appends all of it; false: errno says why. Within the limit of file size: writing beyond it would
 * end the program by SIGXFSZ. */
bool lc_write_all(int fd, const void *bytes, size_t n_bytes);

/* Changes of what the threads do per call (LC_MODE_*, core.h). */

/* Clears, then sets bits of LC_MODE_* in all threads, and for new ones (not LC_MODE_FLUSH_*: they
 * have nothing to forget). A thread sees it at its next call. Takes lc_core.lock. */
void lc_mode_change(uint32_t clear, uint32_t set);

/* The parts of the library beside the core: call paths, samples, OpenMP, clocks, trace, profile.
 * Each says what it does when the process and its threads begin and end; the core knows none by
 * name.
 *
 * The order stands once, in start/core_start.c: parts begin in that order, and a thread leaves them
 * in the opposite one. Members that are NULL are nothing to do. */

struct lc_call;

struct lc_part {
    /* LC_MODE_CLOCKS, ..: init, thread_new, thread_end and finalize are called only where the mode
     * of the call has it; 0: always. */
    uint32_t mode;
    /* The library starts: options are read, the state is there. */
    void (*start)(struct lc_stub *stub);
    /* After MPI_Init, collective if lc_core.agreed; call->end is its end. */
    void (*init)(struct lc_call *call);
    /* Memory of the calling thread, which is no location yet. An error: it is not measured. */
    enum lc_err (*thread_make)(struct lc_thread *t);
    void (*thread_free)(struct lc_thread *t);
    /* The calling thread has become a location, at call->begin. */
    void (*thread_new)(struct lc_call *call);
    /* It ends, at call->begin. */
    void (*thread_end)(struct lc_call *call);
    /* Does the location of the calling thread, which ends, stay for the next one that takes its
     * place? Then the thread leaves it, and another one goes on with it. */
    bool (*keeps)(void);
    void (*thread_leaves)(struct lc_thread *t);
    void (*thread_takes_over)(struct lc_thread *t);
    /* Measurement is about to stop in this process, at call->begin. */
    void (*stops)(struct lc_call *call);
    /* Before the results are gathered in MPI_Finalize: collective if lc_core.agreed. */
    void (*finalize)(struct lc_call *call);
    /* After finalize of all parts: what they know together. */
    void (*finalized)(void);
    /* The measurement is over: writes what is known. Collective if lc_core.agreed. */
    void (*write)(void);
    /* In a child that the process has made, which is not measured; t: the thread that made it. */
    void (*fork)(struct lc_thread *t);
};

/* Once; `parts` ends with NULL. */
void lc_parts_register(const struct lc_part *const *parts);

/* All parts start, in their order. */
void lc_parts_start(struct lc_stub *stub);
/* MPI_Init is over: all parts begin, in their order. */
void lc_parts_init(struct lc_call *call);
/* Memory of all parts for the calling thread. LC_ERR_NOMEM: all that was made is free again. */
enum lc_err lc_parts_thread_make(struct lc_thread *t);
/* Frees what lc_parts_thread_make made. */
void lc_parts_thread_free(struct lc_thread *t);
/* The calling thread has become a location. */
void lc_parts_thread_new(struct lc_call *call);
/* The calling thread ends: the last part first. */
void lc_parts_thread_end(struct lc_call *call);
/* Does a part want the location of the calling thread, which ends, to stay? */
bool lc_parts_keep(void);
/* The calling thread leaves its location, which stays. */
void lc_parts_thread_leaves(struct lc_thread *t);
/* The calling thread goes on with this location, which another one has left. */
void lc_parts_thread_takes_over(struct lc_thread *t);
/* Measurement is about to stop in this process. */
void lc_parts_stop(struct lc_call *call);
/* The measurement ends, before results are gathered. */
void lc_parts_finalize(struct lc_call *call);
/* The measurement is over: all parts write what they know, in their order. */
void lc_parts_write(void);
/* This process is a child of the measured one; t: the thread that made it. */
void lc_parts_fork(struct lc_thread *t);

#endif
