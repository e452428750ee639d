/* The table of requests: handle -> what it stands for. Holds receives, sends that got a handle of
 * their own, collectives; persistent ones from their creation to MPI_Request_free, others until
 * they complete. Handles that MPI shares between requests (Open MPI's empty request, MPICH's
 * light-weight one) are never held. Two requests can have one handle for a moment: MPI frees it
 * inside a call that completes it, another thread gets it anew before the first thread has dropped
 * its record. So records are dropped by address, and a look-up finds the newest. */
#ifndef LC_MEASURE_MPI_REQUEST_H
#define LC_MEASURE_MPI_REQUEST_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "measure/mpi/operations.h"
#include "measure/core/core.h"
#include "measure/core/thread.h"

struct lc_comm;
struct lc_path;

enum lc_request_kind {
    LC_REQUEST_SEND,
    LC_REQUEST_RECV,
    LC_REQUEST_COLL,
    LC_REQUEST_FILE, /* of the trace; peer: number of the file */
    LC_REQUEST_OTHER /* MPI_Comm_idup, collective operations of files without a trace */
};

struct lc_parts {
    uint32_t number; /* of its communicator, peer, tag and direction, from 1: they match in order */
    uint32_t partitions;
    _Atomic uint32_t n_unready; /* sends, since the start */
};

/* So many requests of one call are looked at without memory of their own. */
enum { LC_FEW = 16 };

struct lc_request {
    struct lc_request *next;
    MPI_Request handle;
    uint8_t kind; /* enum lc_request_kind */
    bool persistent, active, cancelled, partitioned;
    bool synchronous; /* MPI_Issend */
    bool buffered;    /* MPI_Ibsend, MPI_Irsend: it never waits for its receiver */
    bool freed;
    bool exchange; /* receiving half of MPI_Isendrecv */
    uint32_t fn;   /* function that made it */
    struct lc_comm *comm;
    int32_t peer; /* rank in comm (MPI_ANY_SOURCE possible); root of a collective */
    int32_t tag;
    /* > 0, unique in this process; a new one for every start, ascending in post order within a
     * thread */
    uint64_t id;
    uint64_t bytes;      /* sends; collectives: sent */
    uint64_t bytes_rcvd; /* collectives */
    uint64_t posted_ticks;
    struct lc_path *path; /* of the call that started it */
    union lc_op_clocks clocks;
    uint64_t trace;
    /* receives, and sends that may be cancelled, where only windows are traced: the number of the
     * window in which it was begun (`trace` is set), or 1 more than that of the last one before */
    uint32_t gap;
    struct lc_request *pair; /* Isendrecv: the sending half; the request is the receiving one */
    union {
        struct lc_coll *coll;   /* persistent collectives */
        struct lc_parts *parts; /* partitioned messages */
    };
};
enum { LC_REQUEST_BITS = 12, LC_REQUEST_SHARD_BITS = 6 };
#define LC_REQUEST_SHARDS (1u << LC_REQUEST_SHARD_BITS)

struct lc_request_shard { /* a cache line each: of the handles with one hash's upper bits */
    _Alignas(64) atomic_flag busy;
    uint32_t count;
    struct lc_request *free;
};

struct lc_request_table {
    struct lc_request **buckets; /* 2^bits lists, by the hash's upper bits; at first `few` */
    uint32_t bits;               /* changed with all shards locked, looked at with one */
    struct lc_request *few[1 << LC_REQUEST_BITS];
    struct lc_request_shard shards[LC_REQUEST_SHARDS];
    /* the shared handle of complete requests, MPI_REQUEST_NULL if none is known */
    MPI_Request empty;
    MPI_Request shared[8]; /* others found at run time */
    _Atomic int n_shared;
    /* MPI_Request_get_status would make persistent requests that are complete inactive. */
    bool asking_ends_persistent;
};
extern struct lc_request_table lc_requests;

/* Fills the free list of the shard, whose lock is held, and returns its first record; NULL: no
 * memory (counted). */
struct lc_request *lc_request_refill(struct lc_request_shard *shard);
/* Notes a handle that MPI gives to several requests at a time. */
void lc_request_shared(MPI_Request handle);
/* Four times the lists; without memory they get longer. */
void lc_request_table_grow(void);

static inline uint64_t lc_request_hash(MPI_Request handle) {
    return lc_hash_key((uint64_t)(uintptr_t)handle);
}

static inline struct lc_request_shard *lc_request_shard_of(uint64_t hash) {
    return &lc_requests.shards[hash >> (64 - LC_REQUEST_SHARD_BITS)];
}

static inline struct lc_request **lc_request_bucket(uint64_t hash) {
    return &lc_requests.buckets[hash >> (64 - lc_requests.bits)];
}

static inline void lc_shard_lock(struct lc_request_shard *shard) {
    if (lc_unlikely(lc_core.multiple))
        while (atomic_flag_test_and_set_explicit(&shard->busy, memory_order_acquire))
            ;
}

static inline void lc_shard_unlock(struct lc_request_shard *shard) {
    if (lc_unlikely(lc_core.multiple))
        atomic_flag_clear_explicit(&shard->busy, memory_order_release);
}

/* Unique in this process, ascending per thread. */
static inline uint64_t lc_request_id(struct lc_thread *t) {
    return ++t->next_request;
}

static inline struct lc_request *lc_request_find(MPI_Request handle) {
    uint64_t hash = lc_request_hash(handle);
    struct lc_request_shard *shard = lc_request_shard_of(hash);
    lc_shard_lock(shard);
    struct lc_request *r = *lc_request_bucket(hash);
    while (r != NULL && r->handle != handle)
        r = r->next;
    lc_shard_unlock(shard);
    return r;
}

/* NULL: the handle is shared, or there is no memory. */
static inline struct lc_request *lc_request_insert(struct lc_thread *t, MPI_Request handle,
                                                   enum lc_request_kind kind) {
    if (lc_unlikely(handle == MPI_REQUEST_NULL || handle == lc_requests.empty))
        return NULL;
    int n_shared = atomic_load_explicit(&lc_requests.n_shared, memory_order_acquire);
    for (int i = 0; lc_unlikely(i < n_shared); i++)
        if (lc_requests.shared[i] == handle)
            return NULL;
    uint64_t hash = lc_request_hash(handle);
    struct lc_request_shard *shard = lc_request_shard_of(hash);
    lc_shard_lock(shard);
    if (lc_unlikely(shard->count >> (lc_requests.bits - LC_REQUEST_SHARD_BITS) > 1)) {
        lc_shard_unlock(shard);
        lc_request_table_grow();
        lc_shard_lock(shard);
    }
    struct lc_request **list = lc_request_bucket(hash), *old = *list;
    while (lc_unlikely(old != NULL) && old->handle != handle)
        old = old->next;
    struct lc_request *r = NULL;
    if (lc_unlikely(old != NULL && old->kind == LC_REQUEST_SEND && kind == LC_REQUEST_SEND &&
                    old->id >> 40 == t->next_request >> 40 && !old->persistent)) {
        lc_request_shared(handle);
    } else {
        r = shard->free;
        if (lc_unlikely(r == NULL))
            r = lc_request_refill(shard);
        if (lc_likely(r != NULL)) {
            shard->free = r->next;
            *r = (struct lc_request){.handle = handle, .kind = (uint8_t)kind, .next = *list};
            *list = r;
            shard->count++;
        }
    }
    lc_shard_unlock(shard);
    return r;
}

static inline void lc_request_drop(struct lc_request *r) {
    uint64_t hash = lc_request_hash(r->handle);
    struct lc_request_shard *shard = lc_request_shard_of(hash);
    lc_shard_lock(shard);
    struct lc_request **at = lc_request_bucket(hash);
    while (*at != NULL && *at != r)
        at = &(*at)->next;
    if (*at != NULL) {
        *at = r->next;
        r->next = shard->free;
        shard->free = r;
        shard->count--;
    }
    lc_shard_unlock(shard);
}

/* Of a handle that the program gave: NULL where that is NULL, MPI_REQUEST_NULL or not known. */
static inline struct lc_request *lc_request_of_handle(const MPI_Request *request) {
    return request == NULL || *request == MPI_REQUEST_NULL ? NULL : lc_request_find(*request);
}

/* What a status of MPI says, without calling MPI. */

/* Output arguments are read only when MPI has accepted the call: before, they may be anything. */
static inline bool lc_flag_is_set(int result, const int *flag) {
    return result == MPI_SUCCESS && *flag != 0;
}

static inline MPI_Status *lc_own_status(MPI_Status *status, MPI_Status *own) {
    return status == MPI_STATUS_IGNORE ? own : status;
}

/* Bytes of a received message; fields of the status where MPI_Get_count with MPI_BYTE would return
 * the same. */
static inline uint64_t lc_status_bytes(const MPI_Status *status) {
#if defined(LC_FLAVOUR_OPENMPI)
    return status->_ucount;
#else
    return (uint64_t)(uint32_t)status->count_lo |
           (uint64_t)((uint32_t)status->count_hi_and_cancelled >> 1) << 32;
#endif
}

static inline bool lc_status_cancelled(const MPI_Status *status) {
#if defined(LC_FLAVOUR_OPENMPI)
    return status->_cancelled != 0;
#else
    return (status->count_hi_and_cancelled & 1) != 0;
#endif
}

/* MPICH (4.0) leaves the status of MPI_Isendrecv as it was: what stands there may be anything. */
static inline bool lc_status_is_set(const struct lc_request *r, const MPI_Status *status) {
    return lc_likely(!r->exchange) || (status->MPI_TAG == r->tag && status->MPI_SOURCE == r->peer);
}

#endif
