/* What the page of `latecomer report` shows of a trace: who did what when, as shares of equal bins
 * of time per row; windows of full detail around the severest wait states; who waits for whom, and
 * who sends to whom. One file: a length of 8 bytes (little-endian), so many bytes of JSON that
 * describe what follows, then tables of numbers (web/src/timeline_data.ts reads them). */
#ifndef LC_ANALYZE_PAGE_TIMELINE_H
#define LC_ANALYZE_PAGE_TIMELINE_H

#include "analyze/trace.h"

/* Collective: rank 0 writes the file, after lc_waits_find with trace->keep_matches; it is the same
 * for any number of ranks. `windows`: more windows of detail, as seconds since the first event,
 * "T0:T1,T0:T1,.."; NULL: none. LC_ERR_USAGE: these are no windows; LC_ERR_IO, LC_ERR_NOMEM; what
 * there is of the file then stays. */
enum lc_err lc_page_timeline_write(const struct lc_trace *trace, const char *windows,
                                   const char *file);

#endif
