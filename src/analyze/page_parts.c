#include "analyze/page_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

double lc_page_seconds(const struct lc_trace *trace, int64_t ticks) {
    return (double)(ticks - trace->t0) / (double)trace->ticks_per_second;
}

bool lc_page_wait(const struct lc_wait *wait, int64_t *begin, int64_t *end) {
    *begin = wait->start;
    *end = wait->release < wait->end ? wait->release : wait->end;
    return (wait->flags & LC_WAIT_STATE) && *end > *begin;
}

void lc_page_put(struct lc_strbuf *data, const double *values, size_t n) {
    lc_strbuf_add(data, (const char *)values, n * sizeof *values);
}

size_t lc_page_align(struct lc_page_file *page) {
    while (page->data.length % 8 != 0)
        lc_strbuf_putc(&page->data, 0);
    return page->data.length;
}

struct row_at {
    double location;
    size_t index;
};

static int compare_rows(const void *a, const void *b) {
    const struct row_at *x = a, *y = b;
    if (x->location != y->location)
        return x->location < y->location ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* On rank 0. */
static enum lc_err put_sorted(struct lc_page_file *page, const double *rows, size_t n,
                              size_t columns, size_t by) {
    struct row_at *order;
    LC_TRY(lc_alloc(&order, n + 1, sizeof *order));
    for (size_t i = 0; i < n; i++)
        order[i] = (struct row_at){rows[i * columns + by], i};
    qsort(order, n, sizeof *order, compare_rows);
    for (size_t i = 0; i < n; i++)
        lc_page_put(&page->data, rows + order[i].index * columns, columns);
    free(order);
    return LC_OK;
}

enum lc_err lc_page_table(struct lc_page_file *page, const char *name, struct lc_strbuf *rows,
                          size_t columns, size_t by) {
    double *all = NULL;
    size_t bytes = 0, at = lc_page_align(page);
    enum lc_err err =
        lc_strbuf_ok(rows) ? LC_OK : lc_fail(LC_ERR_NOMEM, "memory: cannot hold rows of the page");
    err = lc_transport_agree(page->trace->comm, err);
    if (err == LC_OK)
        err = lc_transport_gather(page->trace->comm, lc_strbuf_get(rows), rows->length,
                                  (void **)&all, &bytes, NULL);
    size_t n = bytes / (columns * sizeof *all);
    if (err == LC_OK && n > 0)
        err = put_sorted(page, all, n, columns, by);
    lc_strbuf_printf(&page->json, ",\"%s\":{\"at\":%zu,\"rows\":%zu}", name, at, n);
    free(all);
    lc_strbuf_free(rows);
    return lc_transport_agree(page->trace->comm, err);
}
