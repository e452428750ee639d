/* What a call of MPI is about: a message, a collective operation; filled by the wrappers, read
 * by the hooks. */
#ifndef LC_MEASURE_MPI_OPERATIONS_H
#define LC_MEASURE_MPI_OPERATIONS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lc_clk_coll;
struct lc_clk_recv;
struct lc_comm;
struct lc_request;
struct lc_ring_entry;

/* What the hooks keep of a message, or of a request, from its begin to its end; all 0: nothing. Two
 * words, since what is written at once is read at once. */
union lc_op_clocks {
    uint64_t words[2];
    struct {
        union {
            struct lc_ring_entry *entry; /* in the receiver's ring; NULL: it is not in one */
            uint64_t id;                 /* where clocks lag behind the program (clocks/sends.c) */
        };
        uint64_t seq; /* of its entry, 0: none went with it; and LC_SENT_BUFFERED */
    } sent;
    struct {
        struct lc_clk_recv *recv; /* NULL: it is in no list */
        uint64_t notified;        /* the sender has been notified */
    } received;
    struct lc_clk_coll *coll;
};
#define LC_SENT_BUFFERED (UINT64_C(1) << 32) /* the send waits for nobody */

static inline void lc_op_clocks_clear(union lc_op_clocks *clocks) {
    clocks->words[0] = clocks->words[1] = 0;
}

static inline void lc_op_clocks_copy(union lc_op_clocks *to, const union lc_op_clocks *from) {
    to->words[0] = from->words[0];
    to->words[1] = from->words[1];
}

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
    uint64_t id; /* of nonblocking ones, as request->id (also without request) */
    union lc_op_clocks clocks;
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

/* What a call says of the data that it sends, or receives. */
struct lc_side {
    const void *counts; /* v and w forms, as passed; NULL: `count` for each partner */
    uint64_t count;
    MPI_Datatype type;
    const MPI_Datatype *types; /* w forms: of each partner */
};

/* A collective operation. */
struct lc_coll {
    struct lc_comm *comm;
    enum lc_coll_kind kind;
    bool nonblocking, persistent, large; /* large: counts are MPI_Count */
    int32_t root;                        /* as passed, or -1 */
    bool is_root;
    uint64_t bytes_sent, bytes_rcvd; /* of this member, by Score-P's formulas */
    struct lc_side send, recv;       /* v and w forms; of others `counts` is NULL */
    bool in_place;
    bool failed; /* while its end is handled: MPI returned an error */
    struct lc_request *request;
    uint64_t id;                /* of nonblocking ones */
    struct lc_clk_coll *clocks; /* of the hooks */
};

/* A message matched by MPI_Mprobe, until MPI_Mrecv. */
struct lc_matched {
    struct lc_matched *next;
    MPI_Message handle;
    struct lc_comm *comm;
    int32_t peer, tag;
    uint64_t bytes;
    struct lc_clk_recv *clocks; /* of the hooks */
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

/* Counts per member, of int or MPI_Count. */

/* The program's arrays are read before MPI has looked at them; what is counted of a call that it
 * then refuses is taken back (lc_coll_failed). */
static inline uint64_t lc_count_at(const void *counts, bool large, int i) {
    if (counts == NULL)
        return 0;
    if (large)
        return (uint64_t)((const MPI_Count *)counts)[i];
    return (uint64_t)((const int *)counts)[i];
}

static inline uint64_t lc_count_sum(const void *counts, bool large, int n) {
    uint64_t sum = 0;
    for (int i = 0; i < n; i++)
        sum += lc_count_at(counts, large, i);
    return sum;
}

#endif
