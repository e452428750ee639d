/* What-if scenarios: factors of a call-tree node, one per scenario. */
#ifndef LC_MEASURE_CLOCKS_WHAT_IF_FACTORS_H
#define LC_MEASURE_CLOCKS_WHAT_IF_FACTORS_H

#include <stdbool.h>
#include <stdint.h>

struct lc_strbuf;

/* Reads the scenarios of the run. */
void lc_clk_whatif_init(void);
/* One scenario more, of our own: with a clock per task of OpenMP, so that this clock travels
 * between ranks as those of scenarios do. On all ranks or none. */
void lc_clk_whatif_add_tasks(void);
/* Its number; LC_WHATIF_MAX: there is none. */
uint32_t lc_clk_whatif_tasks_at(void);
/* How many scenarios are not our own: the first ones. */
uint32_t lc_clk_whatif_given(void);
/* The factors of a node, one per scenario. */
const float *lc_clk_whatif_of(uint32_t node);
/* Bits of the names that occurred in call paths of this rank. */
uint32_t lc_clk_whatif_seen(void);
/* The user's scenarios as facts; seen: bits of the names that occurred in call paths of some
 * rank. */
void lc_clk_whatif_facts(uint32_t seen, struct lc_strbuf *facts);

#endif
