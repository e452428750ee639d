/* Iterations of every rank by themselves: how long each took, and how long the rank waited in it.
 */
#ifndef LC_MEASURE_CLOCKS_ITERATION_RANKS_H
#define LC_MEASURE_CLOCKS_ITERATION_RANKS_H

#include <stddef.h>

struct lc_strbuf;

/* Collective; adds LC_FACT_FIELD on rank 0: means over blocks of iterations, a row for every few
 * ranks that follow each other (sums over those that have the iterations, and their number). n
 * values of this rank, NULL: it has none; a value stands for `unit` iterations. */
void lc_iterations_put_ranks(const double *elapsed_s, const double *waiting_s, size_t n,
                             size_t unit, struct lc_strbuf *facts);

#endif
