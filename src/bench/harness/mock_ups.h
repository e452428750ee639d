/* Mock-ups: other operations that do what a collective does, which therefore should not be faster
 * (performance guidelines, [Träff et al. 2010]). */
#ifndef LC_BENCH_HARNESS_MOCK_UPS_H
#define LC_BENCH_HARNESS_MOCK_UPS_H

#include "bench/harness/bench_operations.h"

/* "MPI_Allreduce~Reduce_Bcast": named after the collective, with the same arguments, and the same
 * result in the same place. "~larger": twice the bytes; "~parts": two halves one after the other
 * (blocks of several ranks lie side by side for each half). The last has no name. */
extern const struct lc_operation lc_mock_ups[];

/* How many times its bytes the buffers of an operation hold: 2 of "~larger", else 1. */
size_t lc_operation_room(const char *name);

/* By name: an operation as in its table, also with "+overlap" after a nonblocking one, or a
 * mock-up; NULL. */
const struct lc_operation *lc_operation_find(const char *name);

#endif
