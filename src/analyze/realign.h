/* Collective records are matched by their number (the k-th of every member, instances.h). Where a
 * member lacks a record, or has one too many, all its later ones would meet the wrong partners:
 * such members are found here, and aligned with the longest one (align.h). Called by instances.c.
 */
#ifndef LC_ANALYZE_REALIGN_H
#define LC_ANALYZE_REALIGN_H

#include "analyze/instance_parts.h"

/* Sets lc_run.slots where the number of a record is not its place. Collective; errors are the
 * same on all ranks: LC_ERR_NOMEM. */
enum lc_err lc_realign(struct lc_instances *instances, struct lc_trace *trace);

#endif
