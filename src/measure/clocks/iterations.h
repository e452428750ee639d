/* Iterations of loops that were found in the run (callpath/loops.h), joined over all ranks in
 * MPI_Finalize. Loops of two ranks are one if their homes are the same call path, and as many loops
 * of that home came before. Of ranks that counted differently the least number counts. */
#ifndef LC_MEASURE_CLOCKS_ITERATIONS_H
#define LC_MEASURE_CLOCKS_ITERATIONS_H

struct lc_offset_ends;
struct lc_strbuf;

/* Collective; adds LC_FACT_LOOP on rank 0, each after its LC_FACT_FIELD, and the homes to the
 * state: value `loop.<k>` at the node of loop k (run/profile_convert.c names it). */
void lc_clk_iterations_put(const struct lc_offset_ends *c, struct lc_strbuf *facts);

#endif
