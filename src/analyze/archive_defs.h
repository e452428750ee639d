/* Global definitions of an archive: reads them with libotf2 and fills the definitions of struct
 * lc_trace; keeps what the event readers need. Every rank reads all of them, so all ids are the
 * same everywhere. Called once, by read.c.
 *
 * Invariant: windows are kept as communicators. */
#ifndef LC_ANALYZE_ARCHIVE_DEFS_H
#define LC_ANALYZE_ARCHIVE_DEFS_H

#include "analyze/definition_ids.h"

/* Fills trace->regions, comms, processes, locations, system_nodes, ticks_per_second, global_offset.
 * Errors: LC_ERR_NOMEM, LC_ERR_FORMAT. */
enum lc_err lc_defs_read(struct lc_defs *defs, OTF2_Reader *reader, struct lc_trace *trace);

#endif
