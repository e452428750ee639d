/* Memory of the entries of one thread's call-path cache: taken in blocks, given back as a whole; at
 * most its capacity. */
#ifndef LC_MEASURE_PATHS_POOL_H
#define LC_MEASURE_PATHS_POOL_H

#include <stddef.h>

struct lc_pool;

struct lc_pool *lc_pool_new(size_t capacity_bytes); /* NULL: no memory */
size_t lc_pool_capacity(const struct lc_pool *pool);
void lc_pool_set_capacity(struct lc_pool *pool, size_t bytes);
void *lc_pool_take(struct lc_pool *pool, size_t bytes); /* NULL: full */
void lc_pool_free(struct lc_pool *pool);

#endif
