/* What is known about a run besides its measurements: meta.json, before and after. */
#ifndef LC_RUN_RUN_META_H
#define LC_RUN_RUN_META_H

#include <jansson.h>

#include "run/run.h"

/* At the start: program, command, versions, environment, machine. A new reference;
 * NULL without memory. */
json_t *lc_meta_start(const struct lc_run *run);
/* After the end (or now): begin, end, wall time, oversubscription, endings of the ranks of this
 * node. A new reference; NULL without memory. */
json_t *lc_meta_end(const struct lc_run *run, const char *ending, bool complete);

#endif
