/* Numbering of collective instances: stream = (communicator, class); an instance is the k-th
 * operation of a stream (where members have not the same records: realign.h). Instance ids are
 * dense and equal on all ranks. Used by collective.c. */
#ifndef LC_ANALYZE_INSTANCES_H
#define LC_ANALYZE_INSTANCES_H

#include "analyze/instance_parts.h"

/* Collective. */
enum lc_err lc_instances_build(struct lc_instances *instances, struct lc_trace *trace);
void lc_instances_free(struct lc_instances *instances);

#endif
