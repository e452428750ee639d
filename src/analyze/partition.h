/* --partition: which locations the user regards as one partition of the program (see indicators.h).
 */
#ifndef LC_ANALYZE_PARTITION_H
#define LC_ANALYZE_PARTITION_H

#include "analyze/trace.h"

/* "executable": processes with the same root of the call tree; "communicator": the first
 * communicator of a process that is smaller than the world and has more than one member; or a list
 * of ranks, as in "0,1/2-5" (ranks not named: one more partition). Fills partition[location], dense
 * from 0. Collective. Errors: LC_ERR_USAGE. */
enum lc_err lc_partition_find(const struct lc_trace *trace, const char *text, uint32_t *partition);

#endif
