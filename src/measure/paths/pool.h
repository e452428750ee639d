/* Memory of the entries of one thread's call-path cache: taken in blocks, given back as a whole; at
 * most LC_POOL_BYTES. */
#ifndef LC_MEASURE_PATHS_POOL_H
#define LC_MEASURE_PATHS_POOL_H

#include <stddef.h>

enum { LC_POOL_BYTES = 8 << 20 };

struct lc_pool;

struct lc_pool *lc_pool_new(void);                      /* NULL: no memory */
void *lc_pool_take(struct lc_pool *pool, size_t bytes); /* NULL: full */
void lc_pool_free(struct lc_pool *pool);

#endif
