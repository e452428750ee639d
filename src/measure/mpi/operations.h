/* What a call of MPI is about: a message, a collective operation; filled by the wrappers, read
 * by the hooks. */
#ifndef LC_MEASURE_MPI_OPERATIONS_H
#define LC_MEASURE_MPI_OPERATIONS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

struct lc_comm;
struct lc_request;

enum lc_send_kind { LC_SEND_STANDARD, LC_SEND_SYNC, LC_SEND_BUFFERED, LC_SEND_READY };

/* A point-to-point message, as seen by one side. */
struct lc_msg {
    struct lc_comm *comm;
    /* receives before completion: as posted, MPI_ANY_SOURCE and MPI_ANY_TAG possible; after: those
     * of the status */
    int32_t peer, tag;
    uint64_t bytes;         /* receives before completion: 0 */
    enum lc_send_kind kind; /* of sends; one word: what is written at once is read at once */
    /* nonblocking and persistent; NULL: blocking, or MPI gave a shared, complete handle */
    struct lc_request *request;
    uint64_t id;        /* of nonblocking ones, as request->id (also without request) */
    uint64_t clocks[2]; /* of the hooks: from before to after a blocking call */
};

enum lc_coll_kind {
    LC_COLL_BARRIER,
    LC_COLL_N2N,   /* all members to all members */
    LC_COLL_V2V,   /* alltoallv, alltoallw */
    LC_COLL_ONE2N, /* bcast, scatter */
    LC_COLL_N2ONE, /* reduce, gather */
    LC_COLL_SCAN,
    LC_COLL_EXSCAN,
    LC_COLL_NEIGHBOR,
    LC_COLL_SYNC /* every member waits for every member, without data: construction, fence, files */
};

/* A collective operation. */
struct lc_coll {
    struct lc_comm *comm;
    enum lc_coll_kind kind;
    bool nonblocking, persistent, large; /* large: counts are MPI_Count */
    int32_t root;                        /* as passed, or -1 */
    bool is_root;
    uint64_t bytes_sent, bytes_rcvd;           /* of this member, by Score-P's formulas */
    const void *sendcounts, *recvcounts;       /* v and w forms: as passed */
    MPI_Datatype sendtype, recvtype;           /* v forms */
    const MPI_Datatype *sendtypes, *recvtypes; /* w forms */
    bool in_place;
    bool failed; /* while its end is handled: MPI returned an error */
    struct lc_request *request;
    uint64_t id;        /* of nonblocking ones */
    uint64_t clocks[2]; /* of the hooks */
};

/* A message matched by MPI_Mprobe, until MPI_Mrecv. */
struct lc_matched {
    struct lc_matched *next;
    MPI_Message handle;
    struct lc_comm *comm;
    int32_t peer, tag;
    uint64_t bytes;
    uint64_t clocks[2];
};

/* What synchronises a window. */
enum lc_win_sync {
    LC_WIN_FENCE,
    LC_WIN_LOCK,
    LC_WIN_LOCK_ALL,
    LC_WIN_UNLOCK,
    LC_WIN_UNLOCK_ALL,
    LC_WIN_FLUSH,
    LC_WIN_FLUSH_ALL,
    LC_WIN_START,
    LC_WIN_POST,
    LC_WIN_COMPLETE,
    LC_WIN_WAIT
};

struct lc_win_epoch { /* what an operation of enum lc_win_sync was given */
    int32_t target;   /* -1: none */
    int32_t assertion;
    bool shared;
    MPI_Group group;
};

#endif
