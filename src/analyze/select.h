/* Order statistics of values that lie on many ranks. */
#ifndef LC_ANALYZE_SELECT_H
#define LC_ANALYZE_SELECT_H

#include "analyze/transport.h"

/* values[] (none is negative) of all ranks together: the ones at positions at[0..n_at) of their
 * ascending order. Collective; at must be below the total count. Errors: LC_ERR_RANGE for more
 * than 8 positions, before anything is sent. */
enum lc_err lc_select_i64(const struct lc_transport *comm, const int64_t *values, size_t count,
                          const int64_t *at, size_t n_at, int64_t *found);

#endif
