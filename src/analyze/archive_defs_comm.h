/* Groups, communicators, windows, files and topologies among the definitions: a part of
 * archive_defs.c. */
#ifndef LC_ANALYZE_ARCHIVE_DEFS_COMM_H
#define LC_ANALYZE_ARCHIVE_DEFS_COMM_H

#include "analyze/raw_defs.h"

/* The group that lists the locations of a paradigm's ranks; it belongs to `defs`. NULL: none. */
const struct lc_def_group *lc_defs_rank_list(const struct lc_defs *defs, OTF2_Paradigm paradigm);

/* Registers what reads groups, communicators, windows and files. */
void lc_defs_comm_callbacks(OTF2_GlobalDefReaderCallbacks *callbacks);

/* Communicators, windows and topologies of the trace, once its processes are known. Errors:
 * LC_ERR_NOMEM. */
enum lc_err lc_defs_build_comms(struct lc_def_raw *raw);

#endif
