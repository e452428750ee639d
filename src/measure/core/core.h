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

struct lc_state_header;
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
    LC_MODE_RECORD = 512,  /* inside a window of the trace (trace/trace_window.h) */
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

#endif
