/* Numbering of collective instances: stream = (communicator, class); an instance is the k-th
 * operation of a stream (where members have not the same records: realign.h). Instance ids are
 * dense and equal on all ranks. Used by collective.c. */
#ifndef LC_ANALYZE_INSTANCES_H
#define LC_ANALYZE_INSTANCES_H

#include "analyze/instance_parts.h"

/* Numbers the instances of all collective records. Collective; errors are the same on all ranks:
 * LC_ERR_NOMEM. Freed with lc_instances_free, also after a failure. */
enum lc_err lc_instances_build(struct lc_instances *instances, struct lc_trace *trace);
/* Frees what it holds, not the struct. */
void lc_instances_free(struct lc_instances *instances);

#endif
