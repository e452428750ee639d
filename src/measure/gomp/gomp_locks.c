#include "measure/core/core.h"
#include "measure/gomp/gomp.h"
#include "measure/openmp/mutexes.h"

const char lc_gomp_unnamed = 0, lc_gomp_atomic = 0;

void lc_gomp_lock_init(int kind, uint64_t wait, const void *code) {
    if (lc_gomp_self() != NULL)
        lc_omp_lock_init(kind, 0, 0, wait, code);
}

void lc_gomp_acquire(int kind, uint64_t wait, const void *code) {
    if (lc_gomp_self_known() != NULL)
        lc_omp_mutex_acquire(kind, 0, 0, wait, code);
}

void lc_gomp_acquired(int kind, uint64_t wait, const void *code) {
    if (lc_gomp_self_known() != NULL)
        lc_omp_mutex_acquired(kind, wait, code);
}

void lc_gomp_released(int kind, uint64_t wait, const void *code) {
    if (lc_gomp_self() != NULL)
        lc_omp_mutex_released(kind, wait, code);
}
