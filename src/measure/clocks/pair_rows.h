/* Who waits for whom and sends to whom, of all ranks, in MPI_Finalize. */
#ifndef LC_MEASURE_CLOCKS_PAIR_ROWS_H
#define LC_MEASURE_CLOCKS_PAIR_ROWS_H

struct lc_strbuf;

/* Collective; adds LC_FACT_PAIRS on rank 0: the heaviest pairs of each rank, and what is left out.
 */
void lc_clk_pairs_put(struct lc_strbuf *facts);

#endif
