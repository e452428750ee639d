/* Definitions of a trace in memory: everybody has all of them. */
#ifndef LC_ANALYZE_TRACE_DEFINITIONS_H
#define LC_ANALYZE_TRACE_DEFINITIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/none.h"

/* What a region is for the analysis, by paradigm, role and name. */
enum lc_fn {
    LC_FN_OTHER,
    LC_FN_MPI_OTHER, /* an MPI call of no special meaning */
    LC_FN_MPI_INIT,
    LC_FN_MPI_FINALIZE,
    LC_FN_MPI_SEND,  /* may wait for the receiver */
    LC_FN_MPI_SSEND, /* waits for it */
    LC_FN_MPI_SENDX, /* MPI_Bsend, MPI_Rsend, MPI_Sendrecv..: never */
    LC_FN_MPI_ISEND, /* MPI_Isend, MPI_Start..: standard mode */
    LC_FN_MPI_ISSEND,
    LC_FN_MPI_ISENDX,   /* MPI_Ibsend, MPI_Irsend: never */
    LC_FN_MPI_WAIT,     /* MPI_Wait, MPI_Waitany, MPI_Waitall: the largest candidate */
    LC_FN_MPI_WAITSOME, /* the smallest */
    LC_FN_MPI_TEST,     /* MPI_Test*, MPI_Request_get_status, MPI_Iprobe..: never waits */
    LC_FN_MPI_PROBE,
    LC_FN_MPI_MPROBE,
    LC_FN_MPI_WIN,      /* MPI_Win_*: construction of windows and everything else on them */
    LC_FN_MPI_IO,       /* MPI_File_* */
    LC_FN_MPI_NEIGHBOR, /* MPI_Neighbor_*, MPI_Ineighbor_* */
    LC_FN_OMP_PARALLEL,
    LC_FN_OMP_BARRIER,
    LC_FN_OMP_IBARRIER,
    LC_FN_OMP_CRITICAL,
    LC_FN_OMP_LOCK_API,
    LC_FN_OMP_TASKWAIT,
    LC_FN_OMP_TASK,
    LC_FN_OMP_OTHER,
    LC_FN_PTHREAD_LOCK,
    LC_FN_COUNT
};

/* An MPI call: only these have wait states of MPI, whatever else has such records. */
static inline bool lc_fn_is_mpi(uint32_t fn) {
    return fn >= LC_FN_MPI_OTHER && fn <= LC_FN_MPI_NEIGHBOR;
}

struct lc_an_region { /* one per name */
    const char *name; /* the region */
    const char *mangled, *file;
    const char *paradigm, *role; /* as in a .cubex */
    uint32_t begin_line, end_line;
    uint8_t fn;      /* enum lc_fn */
    bool mpi;        /* an MPI call */
    bool phase;      /* entries of it are phases of the run */
    bool special;    /* fn or phase need attention at Enter and Leave */
    bool artificial; /* stands for the whole program */
    bool sampled;    /* found by samples of the code between events */
    bool outlined;   /* ... and what the compiler made of an OpenMP construct */
};

struct lc_an_dim {
    uint32_t size;
    bool periodic;
};

struct lc_an_sources { /* that a member receives from in neighbourhood operations */
    const uint32_t *ranks;
    uint32_t n;
};

struct lc_an_comm {
    uint32_t n_members;
    /* process index per rank; LC_NONE: not in the trace; NULL for MPI_COMM_SELF */
    const uint32_t *members;
    uint32_t n_remote; /* inter-communicators: the other group (messages go there), else 0 */
    const uint32_t *remote;
    uint32_t n_dims; /* Cartesian topology, ranks in row-major order; 0: none known */
    const struct lc_an_dim *dims;
    const struct lc_an_sources *sources; /* per member; NULL: unknown (there may be dims) */
    bool self;                           /* MPI_COMM_SELF: everybody its own */
    bool window;                         /* not a communicator, but a window on one */
};

struct lc_an_process {
    int32_t rank;            /* as printed: rank in MPI_COMM_WORLD (order of location groups) */
    uint32_t first_location; /* its locations are consecutive */
    uint32_t n_locations;
    uint32_t system_node;
    uint32_t owner; /* analysis rank */
    /* region of its executable, the root of its call paths; LC_NONE: all run one, or unknown */
    uint32_t program;
    const char *name;
};

struct lc_an_location {
    uint64_t otf2_id;
    uint64_t n_events; /* as the archive says */
    uint32_t process;
    int32_t thread;
    const char *name;
};

struct lc_an_system_node {
    uint32_t parent;
    const char *name, *class_name;
};

struct lc_an_cnode {
    uint32_t parent; /* cnode or LC_NONE */
    uint32_t region; /* index into regions */
    uint32_t last;   /* the last descendant: [id, last] is the subtree */
    uint32_t exact;  /* itself, or the call path that samples have divided: entered and left */
};

#endif
