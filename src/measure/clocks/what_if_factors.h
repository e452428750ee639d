/* What-if scenarios: factors of a call-tree node, one per scenario. */
#ifndef LC_MEASURE_CLOCKS_WHAT_IF_FACTORS_H
#define LC_MEASURE_CLOCKS_WHAT_IF_FACTORS_H

#include <stdbool.h>
#include <stdint.h>

struct lc_strbuf;

/* factors of a node, one per scenario */
void lc_clk_whatif_init(void);
const float *lc_clk_whatif_of(uint32_t node);
const char *lc_clk_whatif_text(uint32_t scenario);
bool lc_clk_whatif_no_mpi(uint32_t scenario);

/* Bits of the names that occurred in call paths of this rank; of those of no rank the JSON member
 * `unknown`. */
uint32_t lc_clk_whatif_seen(void);
void lc_clk_whatif_unknown(uint32_t scenario, uint32_t seen, struct lc_strbuf *out);

#endif
