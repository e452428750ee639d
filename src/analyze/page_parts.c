#include "analyze/page_parts.h"

double lc_page_seconds(const struct lc_trace *trace, int64_t ticks) {
    return (double)(ticks - trace->t0) / (double)trace->ticks_per_second;
}

bool lc_page_wait(const struct lc_wait *wait, int64_t *begin, int64_t *end) {
    *begin = wait->start;
    *end = wait->release < wait->end ? wait->release : wait->end;
    return (wait->flags & LC_WAIT_STATE) && *end > *begin;
}

void lc_page_put(struct lc_page_file *page, const double *values, size_t n) {
    lc_strbuf_add(&page->data, (const char *)values, n * sizeof *values);
}

size_t lc_page_align(struct lc_page_file *page) {
    while (page->data.length % 8 != 0)
        lc_strbuf_putc(&page->data, 0);
    return page->data.length;
}
