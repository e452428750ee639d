/* Iterations of loops that were found in the run (callpath/loops.h), joined over all ranks in
 * MPI_Finalize. Loops of two ranks are one if their homes are the same call path, and as many loops
 * of that home came before. Of ranks that counted differently the least number counts. */
#ifndef LC_MEASURE_CLOCKS_ITERATIONS_H
#define LC_MEASURE_CLOCKS_ITERATIONS_H

#include <stddef.h>
#include <stdint.h>

#include "format/facts.h"

struct lc_offset_ends;
struct lc_strbuf;

/* Collective; adds LC_FACT_LOOP on rank 0, each after its LC_FACT_FIELD, and the homes to the
 * state: value `loop.<k>` at the node of loop k (run/profile_convert.c names it). */
void lc_clk_iterations_put(const struct lc_offset_ends *c, struct lc_strbuf *facts);

/* Iterations of every rank by themselves: how long each took, and how long the rank waited in it.
 */

struct lc_strbuf;

/* Collective; adds LC_FACT_FIELD on rank 0: means over blocks of iterations, a row for every few
 * ranks that follow each other (sums over those that have the iterations, and their number). n
 * values of this rank, NULL: it has none; a value stands for `unit` iterations. */
void lc_iterations_put_ranks(const double *elapsed_s, const double *waiting_s, size_t n,
                             size_t unit, struct lc_strbuf *facts);

/* Iterations of a loop that took longer than usual: those at its begin, and the costliest others.
 */

/* What the threads of a process do in iterations of loops that were found in the run. Seen by the
 * thread that is in the loop, which asks no other: one that works meanwhile is seen as it was at
 * its last event, and between events as working until now. */

struct lc_loop;

/* Brings loop->threads up to the visit at `now` (ticks); but for `outside_omp` nothing where a
 * thread is alone, or where clocks lag behind the program. */
void lc_clk_iteration_visit(struct lc_loop *loop, uint64_t now);

#endif
