/* The definition stream word by word: types of definitions, and the heads of their payloads. */
#ifndef LC_FORMAT_TRACE_DEF_RECORDS_H
#define LC_FORMAT_TRACE_DEF_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/timer.h"

/* Archives: this and the number of a communicator is the name of a location property; its value are
 * ranks, separated by blanks. */
#define LC_NEIGHBOURS_PROPERTY "latecomer::neighbours::"
/* Archives: a property of location groups; its value is the name of the program of the process. */
#define LC_PROGRAM_PROPERTY "Executable"
/* Archives of windows only: a property of the archive, the windows as the user named them; */
#define LC_WINDOW_PROPERTY "LATECOMER::WINDOW"
/* and an attribute (64 bits) of a message's half or a member's part in a collective: how many of
 * the same channel (struct lc_def_left_out) the process began before it, outside of windows. */
#define LC_LEFT_OUT_ATTRIBUTE "latecomer::left_out"
/* Names of interrupt generators: samples at equal times on the processor; and those that say that
 * the thread has left it, until the next one of this generator. */
#define LC_SAMPLE_CLOCK     "time on the processor"
#define LC_SAMPLE_SCHEDULER "scheduler"
/* The region that stands for the time outside of windows. */
#define LC_NOT_TRACED "(not traced)"

enum lc_def_type {
    LC_DEF_PROCESS = 1, /* struct lc_def_process, host \0 program \0 arguments \0 build id \0 */
    LC_DEF_THREAD,      /* u32 thread, u32 tid, u64 begin ticks since base */
    LC_DEF_COMM,        /* struct lc_def_comm, i32 world ranks (local, remote), name \0 */
    LC_DEF_NAME,        /* u32 1 for windows, u32 id, name \0: a later MPI_Comm_set_name */
    LC_DEF_WIN,         /* u32 id, u32 comm */
    LC_DEF_GROUP,       /* u32 id, u32 n, i32 world ranks */
    LC_DEF_STRING,      /* u32 id, u32 enum lc_def_string, text \0 */
    LC_DEF_FILE,        /* struct lc_def_file: an open file */
    LC_DEF_SITE,        /* struct lc_trace_site */
    LC_DEF_BEND,        /* struct lc_def_bend: tests only */
    /* u64 ticks since base, i64 offset in ticks (global - local), u64 standard deviation in
     * ticks */
    LC_DEF_CLOCK,
    LC_DEF_RATE, /* u64 ticks since base, u64 ns since base_ns: the end of the run on both clocks */
    LC_DEF_TREE, /* struct lc_def_tree, nodes, modules (path \0 build id \0), names (\0) */
    LC_DEF_MAP,  /* u32 enum lc_union_type, u32 n, u32 global numbers */
    LC_DEF_NEIGHBOURS, /* u32 comm, u32 n, i32 ranks of the communicator that this one receives from
                          in neighbourhood operations, MPI_PROC_NULL among them */
    LC_DEF_GRID,       /* struct lc_def_grid: the Cartesian topology of a communicator */
    LC_DEF_WINDOWS,    /* text \0: which windows are recorded; absent: everything */
    LC_DEF_LEFT_OUT,   /* struct lc_def_left_out, any number of them; equal ones are added up */
    LC_DEF_TYPES
};

struct lc_def_process {
    int32_t rank, size, pid;
    uint32_t flavour;
    uint64_t base_ticks, base_ns; /* the same instant */
    double ns_per_tick;
    uint64_t begin_realtime_ns;
    uint32_t thread_level;
    uint32_t sized;    /* the program left out messages by size */
    uint32_t contexts; /* call paths are calling contexts: --trace-callpath=context */
    uint32_t unused;
    uint64_t sample_period_ns; /* of the clock that takes samples; 0: none are taken */
};

enum lc_def_string { LC_STRING_PHASE = 1, LC_STRING_FILE = 2 }; /* what it is used as */

struct lc_def_file { /* made by MPI_File_open */
    uint32_t id, comm, ordinal /* among those of its communicator */, name /* string */;
};

/* The clock that the process was made to believe in: stamps become those of that clock. */
struct lc_def_bend {
    uint64_t base_ticks;
    double ns_per_tick;
    struct lc_timer_bend bend;
};

enum lc_def_half { LC_HALF_SEND, LC_HALF_RECEIVE, LC_HALF_COLL, LC_HALF_ICOLL };

/* Halves of messages, and parts in collectives, begun outside of windows; the first four members
 * are the channel: what matches in order. */
struct lc_def_left_out {
    uint32_t comm, peer, tag; /* of collectives: 0, 0 */
    uint32_t half;            /* enum lc_def_half */
    uint32_t gap;             /* how many windows had been opened */
    int32_t count;
};

enum { LC_COMM_INTER = 1, LC_COMM_SELF = 2, LC_COMM_WORLD = 4 };

struct lc_def_comm {
    uint32_t id, parent; /* parent: LC_NONE if unknown */
    uint32_t flags, unused;
    uint32_t n_local, n_remote;
    uint64_t uid; /* same on all members, 0: none agreed */
};

enum { LC_GRID_DIMS = 8 };

struct lc_def_grid {
    uint32_t comm, n_dims; /* n_dims 0: none */
    int32_t dims[LC_GRID_DIMS], periodic[LC_GRID_DIMS];
};

struct lc_def_tree {
    uint32_t n_nodes, n_modules, n_names, unused;
};

#endif
