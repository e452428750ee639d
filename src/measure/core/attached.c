#include "measure/core/attached.h"

struct lc_omp_attached lc_omp_attached;
