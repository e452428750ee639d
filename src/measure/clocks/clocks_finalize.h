/* What the clocks give, merged over all ranks in MPI_Finalize; JSON texts on rank 0. */
#ifndef LC_MEASURE_CLOCKS_CLOCKS_FINALIZE_H
#define LC_MEASURE_CLOCKS_CLOCKS_FINALIZE_H

#include <stdint.h>

#include "base/err.h"

struct lc_strbuf;

/* NULL: not on rank 0, or nothing is known; kept for ever */
const char *lc_clocks_pop_text(void);
const char *lc_clocks_meta_text(void); /* members without braces */

#endif
