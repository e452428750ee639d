#include "measure/core/core.h"

struct lc_core lc_core = {
    .rank = -1, .size = -1, .lock = PTHREAD_MUTEX_INITIALIZER, .comm = MPI_COMM_NULL};
