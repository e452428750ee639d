/* Memory of the entries of one thread's call-path cache: taken in blocks, given back as a whole; at
 * most its capacity. */
#ifndef LC_MEASURE_CALLPATH_POOL_H
#define LC_MEASURE_CALLPATH_POOL_H

#include <stddef.h>

struct lc_pool;

/* An empty pool; lc_pool_free frees it. NULL: no memory. */
struct lc_pool *lc_pool_new(size_t capacity_bytes);
/* The most bytes that the pool may take. */
size_t lc_pool_capacity(const struct lc_pool *pool);
/* A new limit, bytes; what is taken already stays. */
void lc_pool_set_capacity(struct lc_pool *pool, size_t bytes);
/* Bytes for one entry, not zeroed, which the pool owns; NULL: full, or no memory. */
void *lc_pool_take(struct lc_pool *pool, size_t bytes);
/* Frees the pool with all entries in it. */
void lc_pool_free(struct lc_pool *pool);

#endif
