#include "measure/calls/request.h"
#include "measure/core.h"

#include <stdlib.h>

struct lc_request_table lc_requests = {.empty = MPI_REQUEST_NULL, .asking_ends_persistent = true};

enum { REFILL = 64 };

/* Records are never given back to the system: their number is bounded by the largest number of
 * requests open at one time. */
LC_COLD struct lc_request *lc_request_refill(uint32_t shard) {
    struct lc_request *block = calloc(REFILL, sizeof *block);
    if (block == NULL) {
        atomic_fetch_add_explicit(&lc_core.n_lost, 1, memory_order_relaxed);
        return NULL;
    }
    for (int i = 0; i < REFILL - 1; i++)
        block[i].next = &block[i + 1];
    lc_requests.shards[shard].free = block;
    return block;
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
