/* What the parts of page_timeline.c's file share. Each part appends a member to the JSON, and
 * numbers to the data; a table is described as {"at": byte offset in the data, "rows": N}. */
#ifndef LC_ANALYZE_PAGE_PARTS_H
#define LC_ANALYZE_PAGE_PARTS_H

#include "analyze/events.h"
#include "analyze/trace.h"

struct lc_page_file {
    const struct lc_trace *trace;
    struct lc_strbuf json, data;
};

/* Seconds since the first event of the trace. */
double lc_page_seconds(const struct lc_trace *trace, int64_t ticks);
/* The time in which a location waits: false if the entry is no wait state, or is empty. */
bool lc_page_wait(const struct lc_wait *wait, int64_t *begin, int64_t *end);
/* Appends numbers to the data. */
void lc_page_put(struct lc_page_file *page, const double *values, size_t n);
/* Pads the data to a multiple of 8 bytes; where the next table begins. */
size_t lc_page_align(struct lc_page_file *page);

#endif
