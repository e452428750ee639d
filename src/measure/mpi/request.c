#include "measure/mpi/request.h"
#include "measure/core/core.h"

#include <stdlib.h>

struct lc_request_table lc_requests = {.buckets = lc_requests.few,
                                       .bits = LC_REQUEST_BITS,
                                       .empty = MPI_REQUEST_NULL,
                                       .asking_ends_persistent = true};

enum { REFILL = 64 };

/* Records are never given back to the system: their number is bounded by the largest number of
 * requests open at one time. */
LC_COLD struct lc_request *lc_request_refill(struct lc_request_shard *shard) {
    struct lc_request *block = calloc(REFILL, sizeof *block);
    if (block == NULL) {
        atomic_fetch_add_explicit(&lc_core.n_lost, 1, memory_order_relaxed);
        return NULL;
    }
    for (int i = 0; i < REFILL - 1; i++)
        block[i].next = &block[i + 1];
    shard->free = block;
    return block;
}

static void move_all(struct lc_request **to, uint32_t bits) {
    struct lc_request **from = lc_requests.buckets;
    size_t n_from = (size_t)1 << lc_requests.bits;
    lc_requests.buckets = to;
    lc_requests.bits = bits;
    for (size_t i = 0; i < n_from; i++) {
        struct lc_request *reversed = NULL;
        for (struct lc_request *r = from[i], *next; r != NULL; r = next) {
            next = r->next;
            r->next = reversed;
            reversed = r;
        }
        /* oldest first, so that the newest of a handle is again the first */
        for (struct lc_request *r = reversed, *next; r != NULL; r = next) {
            struct lc_request **list = lc_request_bucket(lc_request_hash(r->handle));
            next = r->next;
            r->next = *list;
            *list = r;
        }
    }
    if (from != lc_requests.few)
        free(from);
}

LC_COLD void lc_request_table_grow(void) {
    enum { BITS_MAX = 24 };
    uint32_t bits = lc_requests.bits + 2;
    struct lc_request **bigger =
        bits <= BITS_MAX ? calloc((size_t)1 << bits, sizeof(struct lc_request *)) : NULL;
    if (bigger == NULL)
        return;
    for (uint32_t i = 0; i < LC_REQUEST_SHARDS; i++)
        lc_shard_lock(&lc_requests.shards[i]);
    if (lc_requests.bits + 2 == bits)
        move_all(bigger, bits);
    else /* another thread has done it */
        free(bigger);
    for (uint32_t i = 0; i < LC_REQUEST_SHARDS; i++)
        lc_shard_unlock(&lc_requests.shards[i]);
}

/* Two open sends of one thread cannot have one handle, unless MPI shares it: from now on it is not
 * held. */
LC_COLD void lc_request_shared(MPI_Request handle) {
    int n = atomic_load_explicit(&lc_requests.n_shared, memory_order_relaxed);
    if (n < 8) {
        lc_requests.shared[n] = handle;
        atomic_store_explicit(&lc_requests.n_shared, n + 1, memory_order_release);
    }
}
