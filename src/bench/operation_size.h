/* Which operations have a size. */
#ifndef LC_BENCH_OPERATION_SIZE_H
#define LC_BENCH_OPERATION_SIZE_H

#include <stdbool.h>

/* Does the operation, or mock-up, move bytes, of which --bytes says how many? */
bool lc_bench_is_sized(const char *operation);

#endif
