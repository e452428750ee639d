#include "bench/operation_size.h"

#include <stddef.h>
#include <string.h>

bool lc_bench_is_sized(const char *operation) {
    static const char *const unsized[] = {"empty", "MPI_Barrier", "MPI_Ibarrier", "MPI_Win_"};
    for (size_t i = 0; i < sizeof unsized / sizeof unsized[0]; i++)
        if (strncmp(operation, unsized[i], strlen(unsized[i])) == 0)
            return false;
    return true;
}
