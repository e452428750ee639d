/* Critical paths by scope (all edges, those inside of a process, a thread alone) and by what counts
 * (useful work, time outside of MPI, time outside of OpenMP's runtime): how long the longest of
 * each kind is, and where it ends. Definitions: docs/definitions/efficiency-factors.md. */
#ifndef LC_MEASURE_CLOCKS_SCOPED_PATHS_H
#define LC_MEASURE_CLOCKS_SCOPED_PATHS_H

#include <stdint.h>

struct lc_strbuf;

/* Collective; adds LC_FACT_PATHS on rank 0, over the first n intervals of all ranks. */
void lc_clk_paths_put(uint32_t n, struct lc_strbuf *facts);

#endif
