/* Mock-ups: other operations that do what a collective does, which therefore should not be faster
 * (performance guidelines, [Träff et al. 2010]). */
#ifndef LC_BENCH_HARNESS_MOCK_UPS_H
#define LC_BENCH_HARNESS_MOCK_UPS_H

#include "bench/harness/bench_operations.h"

/* "MPI_Allreduce~Reduce_Bcast": named after the collective, with the same arguments, and the same
 * result in the same place. "~larger": twice the bytes; "~parts": two halves one after the other.
 * The last has no name. */
extern const struct lc_operation lc_mock_ups[];

/* By name: an operation as in its table, also with "+overlap" after a nonblocking one, or a
 * mock-up; NULL. */
const struct lc_operation *lc_operation_find(const char *name);

#endif
