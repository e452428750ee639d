/* Who waits for whom and sends to whom, of all ranks, in MPI_Finalize. */
#ifndef LC_MEASURE_CLOCKS_PAIR_ROWS_H
#define LC_MEASURE_CLOCKS_PAIR_ROWS_H

struct lc_strbuf;

/* Collective; adds `, "pairs": {"rows": [[from, to, waiting_s, messages, bytes], ..], "left_out":
 * {..}}` on rank 0. run/profile_convert.c makes a member of the result of it. */
void lc_clk_pairs_put(struct lc_strbuf *out);

#endif
