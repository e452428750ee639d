/* Facts: the numbers about a whole run that the measurement library gathers in MPI_Finalize, beside
 * the profile itself. The library writes them into the raw profile as records; the parent makes the
 * JSON and the sentences of the result of them (run/facts_text.h). So no text is made inside the
 * measured program.
 *
 * A record is a head, a struct that belongs to its kind (struct lc_fact_*), and, of some kinds,
 * arrays after it; padded to 8 bytes, in native byte order, as raw profiles are. Each kind occurs
 * at most once unless it says otherwise. Times are seconds. */
#ifndef LC_FORMAT_FACTS_H
#define LC_FORMAT_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "base/what_if_spec.h"
#include "format/bytes.h"
#include "format/chosen_clocks.h"
#include "format/trace_def_records.h"

enum lc_fact_kind {
    LC_FACT_PROCESS = 1, /* struct lc_fact_process */
    LC_FACT_RANKS,       /* struct lc_fact_rank, one per rank */
    LC_FACT_OBJECT,      /* struct lc_fact_object; several */
    LC_FACT_STEP,        /* struct lc_fact_step; several */
    LC_FACT_OPENMP,      /* struct lc_fact_openmp */
    LC_FACT_MISSING,     /* struct lc_fact_missing; several */
    LC_FACT_COUNTS,      /* struct lc_fact_counts */
    LC_FACT_CLOCKS,      /* struct lc_fact_clocks, then struct lc_fact_node, one per node */
    LC_FACT_WAITING,     /* struct lc_fact_waiting */
    LC_FACT_INTERVALS,   /* struct lc_fact_intervals, then n times max, then n times sum */
    LC_FACT_SCENARIO,    /* struct lc_fact_scenario; several, in their order */
    LC_FACT_UNKNOWN,     /* struct lc_fact_unknown; several */
    LC_FACT_PATHS,       /* struct lc_fact_path, LC_PATHS of them */
    LC_FACT_FIELD,       /* struct lc_fact_field, then its cells; of the next phase or loop */
    LC_FACT_PHASE,       /* struct lc_fact_phase, then n times max, then n times sum; several */
    LC_FACT_LOOP,     /* struct lc_fact_loop, then n times its columns; several, in their order */
    LC_FACT_PAIRS,    /* struct lc_fact_pairs, then struct lc_fact_pair */
    LC_FACT_LEFT_OUT, /* struct lc_fact_left_out */
    LC_FACT_COUNTERS  /* struct lc_fact_counters */
};

/* As in MPI_Init_thread, from the least on. */
enum lc_thread_level { LC_LEVEL_SINGLE, LC_LEVEL_FUNNELED, LC_LEVEL_SERIALIZED, LC_LEVEL_MULTIPLE };

/* Of the process that writes. */
struct lc_fact_process {
    char mpi[64], library[512]; /* library: what MPI says of itself, its first line */
    char python_unread[64];     /* the version of a Python whose stacks cannot be read; or "" */
    int32_t version, subversion;
    uint32_t required_level, provided_level; /* enum lc_thread_level */
    uint32_t without_mpi, callpath;          /* callpath: 0 unwound, 1 the caller only, 2 none */
    uint32_t paths_checked, unused;
    double budget; /* share of the program's time that the tool may take; 0: off */
};

/* Of the call-path cache of a thread; all words are sums. */
struct lc_path_counts {
    uint64_t made, unwinds;
    uint64_t by_libunwind;      /* unwinds that remembered rules could not do */
    uint64_t uncacheable;       /* paths that had to be unwound at each call */
    uint64_t recycled;          /* paths that were forgotten for want of memory */
    uint64_t remade;            /* those that came back */
    uint64_t remade_ticks;      /* what that cost */
    uint64_t own_ticks;         /* of rare work between two calls: unwinding, new communicators */
    uint64_t interrupted_ticks; /* of own_ticks: the thread had no processor, as it seems */
    uint64_t sampling_ticks;    /* of which for samples of the code between events */
    uint64_t openmp_ticks;      /* estimate: at events of OpenMP, beside own_ticks */
    /* threads that were not sampled: the kernel had no room, or too many had come before */
    uint64_t refused_threads, short_threads;
    uint64_t sampled_calls, call_ticks; /* calls that samples stand for, what these cost */
    uint64_t counted; /* calls that were counted, not timed, of libraries that went away */
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

/* The largest Cartesian grid of a process's communicators. */
struct lc_grid {
    uint32_t n_dims;   /* 0: none */
    uint32_t size;     /* positions */
    uint32_t position; /* of this process; the last dimension counts fastest */
    int32_t dims[LC_GRID_DIMS], periodic[LC_GRID_DIMS];
};

enum { LC_GROUPS_MOST = 32 };

/* Groups of ranks that communicators of a process had. */
struct lc_known_group {
    uint64_t hash; /* of its world ranks in their order */
    uint32_t size;
    uint32_t position; /* of this process */
    uint32_t number;   /* among those of its size, from 1 */
    uint32_t unused;
};
struct lc_groups {
    uint32_t n, unused;
    struct lc_known_group group[LC_GROUPS_MOST];
};

struct lc_fact_rank {
    char host[64];
    char cpus[128]; /* that the threads that compute may use together, as "0-3,8" */
    uint64_t calls, lost;
    struct lc_path_counts paths;
    uint64_t region_errors, pcontrol_ignored, switches, in_callbacks, spawned;
    double cost_ns;    /* of one measured call: mean of samples, calibrated where there are none */
    double counted_ns; /* of one that is counted only, calibrated */
    double own_s;      /* of rare work between calls */
    double sampling_s; /* of which for samples of the code between events */
    double remade_s;   /* of which for call paths that had been forgotten */
    double ns_per_tick;
    uint32_t samples_rarer; /* by the budget: so many times, of the thread with most; 0: no */
    uint32_t by_counter;    /* the clock is the processor's */
    double sample_rate;     /* per second of the first thread's time; 0: none are taken */
    /* of the whole process, measured or not: have a tenth of the CPU time of the busiest one; 0:
     * unknown */
    uint32_t busy_threads;
    struct lc_grid grid;
    struct lc_groups groups;
};

/* An object that calls MPI past the wrappers. */
struct lc_fact_object {
    uint64_t symbols;
    char name[256];    /* of the file; "": the program */
    char example[128]; /* a function that it calls so */
};

/* Of polls that are not all timed: one of so many is at first, and at last. */
enum { LC_POLL_EVERY = 8, LC_POLL_EVERY_MOST = 64 };

/* Where clocks carry less (LC_DETAIL_RARER), microseconds: windows of which one in
 * LC_RARER_ONE_OF is drawn for vectors of call paths, rounded down to a power of two of ticks;
 * shorter waits are not traced to where they began; sends of less than 4 KiB wait for nobody. */
enum { LC_RARER_US = 256, LC_RARER_ONE_OF = 16, LC_RARER_TRACE_US = 16 };

/* Call sites that the budget took detail from. */
enum lc_detail {
    LC_DETAIL_FULL,
    LC_DETAIL_CALLER,
    LC_DETAIL_COUNTED,
    LC_DETAIL_SOME,    /* of polls: some are timed, and stand for the others */
    LC_DETAIL_PLAIN,   /* of parallel regions of one thread: what is in them is not told apart */
    LC_DETAIL_UNTIMED, /* of these: they are counted only */
    LC_DETAIL_RARER    /* of no site: what clocks carry is carried less often */
};
struct lc_fact_step {
    char function[64];
    uint32_t detail; /* enum lc_detail */
    uint32_t ranks;
    uint64_t sites; /* most of one rank */
};

struct lc_fact_openmp {
    char runtime[128];
    uint64_t tasks, edges_lost;
};
struct lc_fact_missing { /* an event that the runtime does not always report */
    char event[64];
};

/* Sums over all ranks but for events_most. unseen: messages and collectives over communicators that
 * were not seen made. records to combined: messages and collectives of the tool's own; packed:
 * replies that went with others. vectors: that were published; windows: in which the critical path
 * was noted where not all of it was. edges_late: edges that were added after clocks were published;
 * by how much these were too low (late_*, ns). */
struct lc_fact_counts {
    uint64_t messages, taken, absent, unsure, mispaired, late, void_entries, lost, violations;
    uint64_t collectives, skipped, overwritten, waited;
    uint64_t vectors, windows;
    uint64_t records, replies, packets, packed, record_bytes, shadows, combined, unresolved, unseen;
    uint64_t forced, edges_late, late_useful, late_whatif[LC_WHAT_IF_SCENARIOS], whatif_lost;
    uint64_t events_most; /* the most of a rank */
};

struct lc_fact_clocks {
    double error_s, wait_error_s, largest_violation_s;
    uint32_t nodes, during_run; /* during_run: how often they were compared again */
};
struct lc_fact_node { /* its clock against that of rank 0 */
    double offset_begin_s, offset_end_s, drift_ppm;
};

/* What the waits cost, by cause; both sums are given so that one can see that they are equal. */
struct lc_fact_waiting {
    double waits_s, costs_s, direct_s, indirect_s, unknown_direct_s, unknown_indirect_s;
};

/* Counters along the way (--counters): which were asked for and which all threads could read, a bit
 * each of enum lc_counter (format/raw.h), and what was counted on the critical path. */
struct lc_fact_counters {
    uint32_t asked, counted, path_known, unused;
    uint64_t path[5];
};

/* Per measured interval: the largest of all ranks, and sums over them. */
enum {
    LC_INTERVAL_BEGIN, /* negative: the earliest */
    LC_INTERVAL_END,
    LC_INTERVAL_USEFUL,
    LC_INTERVAL_CHAIN,
    LC_INTERVAL_OMP,
    LC_INTERVAL_THREADS,
    LC_INTERVAL_PROCESS,
    LC_INTERVAL_TASK,
    LC_INTERVAL_MPI,      /* negative: the least */
    LC_INTERVAL_NODE_MPI, /* negative: the least of the nodes' means */
    LC_INTERVAL_WHATIF,
    LC_INTERVAL_MAXIMA = LC_INTERVAL_WHATIF + LC_WHAT_IF_SCENARIOS
};
enum {
    LC_INTERVAL_SUM_THREADS,
    LC_INTERVAL_SUM_USEFUL,
    LC_INTERVAL_SUM_OUTSIDE,
    LC_INTERVAL_SUM_ALIVE,
    LC_INTERVAL_SUM_PROCESS,
    LC_INTERVAL_SUM_MPI,
    LC_INTERVAL_SUM_PRESENT,
    LC_INTERVAL_SUMS
};

struct lc_fact_intervals {
    uint64_t n;
    uint32_t one_rank;            /* clocks of tasks do not leave it */
    uint32_t n_whatif, given;     /* scenarios; of which the user's, unless they were chosen */
    uint32_t tasks_at;            /* the scenario with a clock per task */
    uint32_t chosen, unused;      /* enum lc_chosen_clocks */
    double attributed_s, outer_s; /* of the critical path: has call paths; further out than spent */
};

struct lc_fact_scenario {
    char text[LC_WHAT_IF_SCENARIO];
    uint32_t no_mpi, no_omp;
};
/* A name of a scenario that occurred in no call path. */
struct lc_fact_unknown {
    uint32_t scenario, unused;
    char name[LC_WHAT_IF_NAME];
};

/* Critical paths by scope and by what counts as their length: docs/definitions. */
enum lc_path_scope {
    LC_PATH_GLOBAL,      /* useful work, over all edges */
    LC_PATH_PROCESS,     /* useful work, over edges inside of a process */
    LC_PATH_THREAD,      /* useful work of a thread */
    LC_PATH_OUTSIDE_MPI, /* time of the first thread of a process outside of MPI */
    LC_PATH_OUTSIDE_OMP, /* time outside of OpenMP's runtime, over all edges */
    LC_PATHS
};
struct lc_fact_path { /* of all intervals together; where it ended in the one with the longest */
    double seconds;
    int32_t rank, thread; /* thread -1: not known */
};

/* Iterations by rank: rows of `ranks` ranks, blocks of `block` values of `unit` iterations each. */
enum { LC_FIELD_ELAPSED, LC_FIELD_WAITING, LC_FIELD_PRESENT, LC_FIELD_VALUES };
struct lc_fact_field {
    uint64_t rows, blocks, block, unit, ranks;
};

/* Per iteration of a phase, as of intervals. */
enum {
    LC_PHASE_BEGIN, /* negative: the earliest */
    LC_PHASE_END,
    LC_PHASE_USEFUL,
    LC_PHASE_CHAIN,
    LC_PHASE_PROCESS,
    LC_PHASE_TASK,
    LC_PHASE_OUTSIDE,
    LC_PHASE_OUTSIDE_BEFORE,
    LC_PHASE_THREADS,
    LC_PHASE_MAXIMA
};
enum { LC_PHASE_SUM_THREADS, LC_PHASE_SUM_USEFUL, LC_PHASE_SUM_PROCESS, LC_PHASE_SUMS };
enum { LC_PHASE_TEXT = 256 };
struct lc_fact_phase {
    char name[LC_PHASE_TEXT];
    uint64_t count, n; /* iterations; those that are kept */
    uint32_t one_rank, unused;
};

enum { LC_ITERATION_OUTLIERS = 8 };

struct lc_iteration_run { /* of unusual values: [from, until) */
    uint64_t from, until;
    int64_t rank; /* that worked longest in most of them; -1: none */
    double excess_s;
};

/* A loop that was found in the run; columns of n values each. */
enum {
    LC_LOOP_ELAPSED, /* of the slowest rank */
    LC_LOOP_CHAIN,   /* longest chain of useful time, over edges inside a process */
    LC_LOOP_USEFUL,  /* of the threads that worked, of all ranks; these: */
    LC_LOOP_THREADS,
    LC_LOOP_PROCESS, /* useful time of the thread with most of it times threads, over ranks */
    LC_LOOP_MOST,    /* of the rank with most of it */
    LC_LOOP_COLUMNS
};
struct lc_fact_loop {
    uint64_t number, n, stride; /* stride: iterations that one value stands for */
    double start_s, elapsed_s, total_s, outside_omp_s;
    double median_s; /* of the elapsed time */
    uint64_t warm_up, n_runs;
    struct lc_iteration_run runs[LC_ITERATION_OUTLIERS];
    int32_t ranks;
    uint32_t unused;
};

/* Loops that were found, but of which nothing is told since others cover more time, and the most
 * that one of them covers; transitions from call sites that could not be watched, so that a loop
 * may be there that was not found. Of the rank with most of each. */
struct lc_fact_left_out {
    uint64_t loops, unwatched;
    double most_s;
};

struct lc_fact_pairs { /* what has no row */
    double pairs, waiting_s, messages, bytes;
};
struct lc_fact_pair {
    double from, to, waiting_s, messages, bytes;
};

/* Begins a record with its struct; arrays are appended by lc_strbuf_add. Returns what
 * lc_facts_end wants. */
size_t lc_facts_begin(struct lc_strbuf *facts, enum lc_fact_kind kind, const void *fact,
                      size_t bytes);
/* Ends the record that begins at `begin`. */
void lc_facts_end(struct lc_strbuf *facts, size_t begin);
/* A record of one struct. */
void lc_facts_put(struct lc_strbuf *facts, enum lc_fact_kind kind, const void *fact, size_t bytes);

struct lc_fact_record {
    uint32_t kind;
    const void *data; /* aligned to 8 bytes as the whole is */
    size_t bytes;
};
/* The next record; false: the end, or what follows is damaged (bad is set then). */
bool lc_facts_next(struct lc_byte_reader *reader, struct lc_fact_record *fact);
/* The struct of a record, after which `n` elements of so many bytes follow at least; NULL: it is
 * too short. */
const void *lc_fact_of(const struct lc_fact_record *fact, size_t bytes, uint64_t n,
                       size_t element_bytes);

#endif
