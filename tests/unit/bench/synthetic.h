/* Series of run times whose truth is known. */
#ifndef LC_TESTS_SYNTHETIC_H
#define LC_TESTS_SYNTHETIC_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "../first_seed.h"
#include "bench/random.h"

static uint64_t synthetic_state = 1;

static inline double uniform(void) {
    return (double)(lc_random_next(&synthetic_state) >> 11) * 0x1p-53;
}

static inline double gauss(void) {
    return sqrt(-2 * log(1 - uniform())) * cos(2 * M_PI * uniform());
}

/* Noise as of run times: skewed to the right, now and then far out; around 1. */
static inline double skewed(double spread) {
    double x = exp(spread * gauss()) + (uniform() < 0.05 ? spread * 4 * -log(1 - uniform()) : 0);
    return uniform() < 0.01 ? x * (2.5 + 3 * uniform()) : x;
}

#endif
