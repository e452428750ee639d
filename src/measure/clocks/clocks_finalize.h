/* What the clocks give, merged over all ranks in MPI_Finalize; as facts (format/facts.h) on
 * rank 0. */
#ifndef LC_MEASURE_CLOCKS_CLOCKS_FINALIZE_H
#define LC_MEASURE_CLOCKS_CLOCKS_FINALIZE_H

#include <stdint.h>

#include "base/err.h"

struct lc_strbuf;

/* Empty: not on rank 0, or nothing is known; kept for ever. */
const struct lc_strbuf *lc_clocks_facts(void);

/* Before the first value of a node: sums of the call sites are complete. */
void lc_clk_sites_close(void);
/* An index-ed value of a node in the state; what: enum lc_state_wait_what; late_thread: as in
 * struct lc_blame_row. */
void lc_clk_book_node(uint32_t node, uint64_t ticks, uint32_t what, uint64_t index,
                      uint32_t late_thread);

/* The same on all ranks for the same call path. */
uint64_t lc_clk_path_hash(uint32_t node);

/* The key of a hash that MPI_MAX orders as C does: MPICH 4.0 compares MPI_UINT64_T as if it had a
 * sign. Never 0. */
static inline uint64_t lc_clk_key(uint64_t hash) {
    uint64_t key = hash & INT64_MAX;
    return key != 0 ? key : 1;
}

/* Blame and costs. Collective; the rows that are kept go to the state of the ranks they name, the
 * sums of waits and costs to the facts (rank 0). */
void lc_clk_merge_blame(struct lc_strbuf *facts);
/* Who waits for whom and sends to whom. Collective; adds LC_FACT_PAIRS on rank 0: the heaviest
 * pairs of each rank, and what is left out. */
void lc_clk_pairs_put(struct lc_strbuf *facts);

#endif
