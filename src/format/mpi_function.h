/* What a function of MPI is: to the clocks, traces, profiles, analyses and reports. It stands in
 * mpi_functions.tsv, one line for each function, whose columns have the enumerators below in lower
 * case; the measurement library has the same by number (lc_fn_facts). A large-count form
 * (MPI_Send_c) is what the plain one is. */
#ifndef LC_FORMAT_MPI_FUNCTION_H
#define LC_FORMAT_MPI_FUNCTION_H

#include <stdint.h>

/* How a call gets on with messages and with others; LC_MPI_KIND_NONE: neither. */
enum lc_mpi_kind {
    LC_MPI_KIND_NONE,
    LC_MPI_KIND_INIT,
    LC_MPI_KIND_FINALIZE,
    LC_MPI_KIND_SESSION_INIT,
    LC_MPI_KIND_SESSION_FINALIZE,
    LC_MPI_KIND_SEND,       /* may wait for the receiver */
    LC_MPI_KIND_SSEND,      /* waits for it */
    LC_MPI_KIND_LOCAL_SEND, /* buffered, ready: never waits */
    LC_MPI_KIND_RECV,
    LC_MPI_KIND_SENDRECV,
    LC_MPI_KIND_ISEND,       /* starts sends of the standard mode, as persistent ones also do */
    LC_MPI_KIND_ISSEND,      /* of the synchronous mode */
    LC_MPI_KIND_LOCAL_ISEND, /* of the others */
    LC_MPI_KIND_IRECV,
    LC_MPI_KIND_WAIT,
    LC_MPI_KIND_WAITANY,
    LC_MPI_KIND_WAITALL,
    LC_MPI_KIND_WAITSOME,
    LC_MPI_KIND_TEST,          /* tests, also for a message */
    LC_MPI_KIND_PROBE,         /* waits for a message, and leaves it where it is */
    LC_MPI_KIND_MATCHED_PROBE, /* ... and takes it, for a receive of its own */
    LC_MPI_KIND_WIN,
    LC_MPI_KIND_WIN_POST,
    LC_MPI_KIND_WIN_START,
    LC_MPI_KIND_WIN_COMPLETE,
    LC_MPI_KIND_WIN_WAIT,
    LC_MPI_KIND_FILE,
    LC_MPI_KIND_NEIGHBOR, /* a collective operation among neighbours */
    LC_MPI_KINDS
};

/* The role of the region, as Score-P gives it (OTF2_RegionRole); LC_MPI_ROLE_NONE: a function. */
enum lc_mpi_role {
    LC_MPI_ROLE_NONE,
    LC_MPI_ROLE_POINT2POINT,
    LC_MPI_ROLE_BARRIER,
    LC_MPI_ROLE_ONE2ALL,
    LC_MPI_ROLE_ALL2ONE,
    LC_MPI_ROLE_ALL2ALL,
    LC_MPI_ROLE_OTHER_COLLECTIVE,
    LC_MPI_ROLE_RMA,
    LC_MPI_ROLE_ATOMIC,
    LC_MPI_ROLE_FILE_IO,
    LC_MPI_ROLE_FILE_IO_METADATA,
    LC_MPI_ROLE_ALLOCATE,
    LC_MPI_ROLE_DEALLOCATE,
    LC_MPI_ROLES
};

/* The part of the time in MPI that its time is, as in Scalasca's tree of metrics. */
enum lc_mpi_time {
    LC_MPI_TIME_NONE, /* of MPI as a whole only */
    LC_MPI_TIME_INIT_EXIT,
    LC_MPI_TIME_MGMT_COMM,
    LC_MPI_TIME_MGMT_WIN,
    LC_MPI_TIME_MGMT_FILE,
    LC_MPI_TIME_SYNC_COLLECTIVE,
    LC_MPI_TIME_RMA_SYNCHRONIZATION,
    LC_MPI_TIME_POINT2POINT,
    LC_MPI_TIME_COLLECTIVE,
    LC_MPI_TIME_RMA_COMMUNICATION,
    LC_MPI_TIME_IO_INDIVIDUAL,
    LC_MPI_TIME_IO_COLLECTIVE,
    LC_MPI_TIMES
};

/* The wait state that is estimated from the shortest calls (docs/definitions/estimates.md), or, of
 * functions that synchronise without data, the one that clocks measure. */
enum lc_mpi_wait {
    LC_MPI_WAIT_NONE,
    /* estimated with the minimum of the process */
    LC_MPI_WAIT_LATE_SENDER,
    LC_MPI_WAIT_LATE_RECEIVER,
    /* MPI_Wait: late sender if the call completed a receive, late receiver if it completed sends
     * only */
    LC_MPI_WAIT_COMPLETION,
    /* Those that may complete several requests, and return when the last or the first of them is
     * complete: their shortest call says nothing of the others */
    LC_MPI_WAIT_COMPLETIONS,
    /* estimated with the minimum of all processes */
    LC_MPI_WAIT_NXN,
    LC_MPI_WAIT_BARRIER,
    LC_MPI_WAIT_LATE_BROADCAST, /* calls that are not root */
    LC_MPI_WAIT_EARLY_REDUCE,   /* root calls */
    /* measured */
    LC_MPI_WAIT_COMMUNICATOR,
    LC_MPI_WAIT_COLLECTIVE_IO,
    LC_MPI_WAIT_WIN_CREATE,
    LC_MPI_WAIT_WIN_FREE,
    LC_MPI_WAIT_WIN_FENCE,
    LC_MPI_WAIT_EARLY_WAIT,
    LC_MPI_WAIT_LATE_POST,
    LC_MPI_WAITS
};

/* How calls count as messages, and where their bytes count. Calls that can move several messages
 * count these in rows of their own (LC_RAW_CLASS_MESSAGES). */
enum lc_mpi_traffic {
    LC_MPI_TRAFFIC_NONE,
    LC_MPI_TRAFFIC_SEND,
    LC_MPI_TRAFFIC_RECV,
    LC_MPI_TRAFFIC_COMPLETE,         /* receives, where the row says that the call completed one */
    LC_MPI_TRAFFIC_RMA,              /* bytes only */
    LC_MPI_TRAFFIC_OTHER_COLLECTIVE, /* nonblocking, neighbourhood: bytes only */
    LC_MPI_TRAFFIC_COLLECTIVE
};

/* Collective operations by OTF2's numbers (OTF2_CollectiveOp), which are part of its format; also
 * of neighbourhood, nonblocking and persistent forms. */
enum lc_mpi_operation {
    LC_MPI_OP_BARRIER,
    LC_MPI_OP_BCAST,
    LC_MPI_OP_GATHER,
    LC_MPI_OP_GATHERV,
    LC_MPI_OP_SCATTER,
    LC_MPI_OP_SCATTERV,
    LC_MPI_OP_ALLGATHER,
    LC_MPI_OP_ALLGATHERV,
    LC_MPI_OP_ALLTOALL,
    LC_MPI_OP_ALLTOALLV,
    LC_MPI_OP_ALLTOALLW,
    LC_MPI_OP_ALLREDUCE,
    LC_MPI_OP_REDUCE,
    LC_MPI_OP_REDUCE_SCATTER,
    LC_MPI_OP_SCAN,
    LC_MPI_OP_EXSCAN,
    LC_MPI_OP_REDUCE_SCATTER_BLOCK,
    LC_MPI_OP_NONE = 255
};

enum { /* lc_mpi_function.flags */
       /* neither requests nor logical clocks need to know of it, and it waits for nobody */
       LC_MPI_LOCAL = 1,
       /* blocking collective: all members give and get as many bytes, and all wait for all */
       LC_MPI_UNIFORM = 2,
       LC_MPI_POLLED = 4,         /* how often it is called depends on chance */
       LC_MPI_KEEPS_CAUSE = 8,    /* does not end the code that makes a rank late */
       LC_MPI_NO_PROGRESS = 16,   /* MPI is to be asked nothing at its end */
       LC_MPI_OTHER_MEMBERS = 32, /* of a new communicator than those of the one that is given */
       /* a poll that changes nothing: neither requests nor clocks need to know of each */
       LC_MPI_ONLY_ASKS = 64,
       LC_MPI_TRIED_FIRST = 128 /* MPI may be called before it is known what it will be */
};

struct lc_mpi_function {
    uint8_t kind, role, time, wait, traffic, operation, flags;
};

/* Calls that only ask, one after the other, which take less than one part in so many of the time
 * from the first to the last are made beside other work: they wait for nobody
 * (docs/definitions/wait-states.md, 2.2). What they waited is told at so many call paths. */
enum { LC_POLLS_CLOSELY = 4, LC_POLLED_PATHS = 4 };

/* By the C name ("MPI_Send"). Never NULL: nothing is known of other names, and all is NONE. */
const struct lc_mpi_function *lc_mpi_find(const char *name);
/* By a name of a trace, in which functions called from Fortran may be "MPI_SEND" or "mpi_send_". */
const struct lc_mpi_function *lc_mpi_find_region(const char *name);

/* The wait state is estimated with the minimum of the own process: a wait that is in every call of
 * a process hides there. */
static inline int lc_mpi_estimated_locally(const struct lc_mpi_function *facts) {
    return facts->wait >= LC_MPI_WAIT_LATE_SENDER && facts->wait <= LC_MPI_WAIT_COMPLETION;
}

#endif
