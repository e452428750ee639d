/* What the clocks give, merged over all ranks in MPI_Finalize; as facts (format/facts.h) on
 * rank 0. */
#ifndef LC_MEASURE_CLOCKS_CLOCKS_FINALIZE_H
#define LC_MEASURE_CLOCKS_CLOCKS_FINALIZE_H

#include <stdint.h>

#include "base/err.h"

struct lc_strbuf;

/* Empty: not on rank 0, or nothing is known; kept for ever. */
const struct lc_strbuf *lc_clocks_facts(void);

#endif
