#include "measure/openmp/attached.h"

struct lc_omp_attached lc_omp_attached;
