/* A result in the formats of other viewers: one walk over the call tree, one writer per format.
 * Formats: folded (stacks of flame graphs), speedscope, csv (long form), hatchet (the literal of
 * GraphFrame.from_literal). */
#ifndef LC_REPORT_EXPORT_H
#define LC_REPORT_EXPORT_H

#include <stdio.h>

#include "report/view.h"

/* The names of the formats; `n`: how many. */
const char *const *lc_export_formats(size_t *n);

/* Writes to `out`, at most `most_bytes` (0: no limit). Errors: LC_ERR_USAGE (no such format),
 * LC_ERR_NOT_FOUND (the result has no such metric), LC_ERR_RANGE (more bytes than allowed),
 * LC_ERR_IO. */
enum lc_err lc_export_write(struct lc_view *view, const char *format, const char *metric,
                            uint64_t most_bytes, FILE *out);

#endif
