/* Who was late, merged over all ranks in MPI_Finalize. */
#ifndef LC_MEASURE_CLOCKS_BLAME_MERGE_H
#define LC_MEASURE_CLOCKS_BLAME_MERGE_H

#include <stdint.h>

struct lc_strbuf;

/* Blame and costs. Collective; the rows that are kept go to the state of the ranks they name, the
 * sums of waits and costs to the facts (rank 0). */
void lc_clk_merge_blame(struct lc_strbuf *facts);

/* Before the first of these: sums of the call sites are complete. */
void lc_clk_sites_close(void);

/* An index-ed value of a node in the state; what: enum lc_state_wait_what; late_thread: as in
 * struct lc_blame_row. */
void lc_clk_book_node(uint32_t node, uint64_t ticks, uint32_t what, uint64_t index,
                      uint32_t late_thread);

/* The same on all ranks for the same call path. */
uint64_t lc_clk_path_hash(uint32_t node);

#endif
