/* What the parts of page_timeline.c's file share. Each part appends a member to the JSON, and
 * numbers to the data; a table is described as {"at": byte offset in the data, "rows": N}. Every
 * rank has the part of its own locations; what counts in the end are JSON and data of rank 0. */
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
/* Appends numbers to the data, or to rows of a table. */
void lc_page_put(struct lc_strbuf *data, const double *values, size_t n);
/* Pads the data to a multiple of 8 bytes; where the next table begins. */
size_t lc_page_align(struct lc_page_file *page);
/* Collective: rows (of so many numbers) of all ranks as the table `name`, in the order of the
 * location in column `by`, else as they were; lc_strbuf_free(rows) included. LC_ERR_NOMEM. */
enum lc_err lc_page_table(struct lc_page_file *page, const char *name, struct lc_strbuf *rows,
                          size_t columns, size_t by);

#endif
