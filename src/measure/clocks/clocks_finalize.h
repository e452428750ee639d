/* What the clocks give, merged over all ranks in MPI_Finalize; JSON texts on rank 0. */
#ifndef LC_MEASURE_CLOCKS_CLOCKS_FINALIZE_H
#define LC_MEASURE_CLOCKS_CLOCKS_FINALIZE_H

#include <stdint.h>

#include "base/err.h"

struct lc_offset_ends;
struct lc_strbuf;

double lc_clk_global_s(const struct lc_offset_ends *c, uint64_t ticks);

const char *lc_clocks_pop_text(void);
const char *lc_clocks_meta_text(void); /* members without braces */

#endif
