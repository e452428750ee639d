/* --partition: which locations the user regards as one partition of the program (see indicators.h).
 */
#ifndef LC_ANALYZE_PARTITION_H
#define LC_ANALYZE_PARTITION_H

#include <stdbool.h>

#include "analyze/trace.h"

/* "executable": processes that run the same program, or with the same root of the call tree;
 * "communicator": the first communicator of a process that is smaller than the world and has more
 * than one member; or a list of ranks, as in "0,1/2-5" (ranks not named: one more partition). Fills
 * partition[location], dense from 0. Collective. Errors: LC_ERR_USAGE. */
enum lc_err lc_partition_find(const struct lc_trace *trace, const char *text, uint32_t *partition);
/* True if the archive says that processes run different programs: then these are the partitions,
 * unless the user gives others. Collective; the same on all ranks. False without memory. */
bool lc_partition_has_programs(const struct lc_trace *trace);
/* labels: by process, the region at the root of its call tree, that of its program where it is
 * known; -1: it has no events. The caller frees it. Collective. Errors: LC_ERR_NOMEM. */
enum lc_err lc_partition_executables(const struct lc_trace *trace, int64_t **labels);

#endif
