/* Does the trace fit into memory? Asked once the definitions have told how many events there are,
 * before the first of them is read; and again when the wait states are known, before their causes
 * are looked for. Called by read.c, pipeline.c. */
#ifndef LC_ANALYZE_FORECAST_H
#define LC_ANALYZE_FORECAST_H

#include "analyze/trace.h"

/* Collective. LC_ERR_NOMEM, with the figures, if the ranks of a node need more than it has: its
 * available memory, what is left of the limits of its control groups, and of a rank's limit of
 * address space. */
enum lc_err lc_forecast_check(const struct lc_trace *trace, const char *archive);

/* Bytes that root causes and gains need on this rank beside the events and wait states, about.
 * Collective. Errors: LC_ERR_NOMEM. */
enum lc_err lc_forecast_root_causes(const struct lc_trace *trace, uint64_t *bytes);
/* Do root causes and gains fit into memory, too? Collective. Errors: those of lc_forecast_check. */
enum lc_err lc_forecast_check_root_causes(const struct lc_trace *trace);

/* Size of a location's file in bytes; -1: there is none (archives may keep several locations in one
 * file, under other names). archive: path of the anchor file (traces.otf2) or its stem; suffix:
 * "evt" or "def". */
int64_t lc_archive_file_bytes(const char *archive, uint64_t location, const char *suffix);

#endif
