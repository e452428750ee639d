/* Measured intervals of the process: between two of them measurement was off. */
#ifndef LC_MEASURE_CLOCKS_INTERVALS_H
#define LC_MEASURE_CLOCKS_INTERVALS_H

#include <stdint.h>

#include "piggyback/cpvec.h"

struct lc_clk_thread;

struct lc_interval {
    uint64_t begin, end; /* ticks */
    double outside_mpi;  /* sum of the spans of threads less their calls: useful_sum on its own */
    double useful_sum, useful_max, threads, process_max_sum, chain, outside_omp, in_mpi; /* ticks */
    double whatif[LC_WHATIF_MAX];
    struct lc_cp_item *items; /* of the thread with the longest chain */
    uint32_t n_items;
};
enum { LC_REPLY_SLOTS = 1024, LC_PENDING = 256, LC_INTERVALS_MAX = 4096 };
void lc_clk_interval_begin(uint64_t now);
void lc_clk_interval_end(uint64_t now);
void lc_clk_catch_up(struct lc_clk_thread *k, uint64_t now);

#endif
