/* Random numbers that are the same on every machine for one seed (splitmix64, Steele et al. 2014):
 * for the bootstrap and the order of jobs. */
#ifndef LC_BENCH_RANDOM_H
#define LC_BENCH_RANDOM_H

#include <stdint.h>

/* 64 random bits; `state`: any number to begin with. */
static inline uint64_t lc_random_next(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Even in [0, n), n > 0. */
static inline uint64_t lc_random_below(uint64_t *state, uint64_t n) {
    return (uint64_t)(((unsigned __int128)lc_random_next(state) * n) >> 64);
}

#endif
