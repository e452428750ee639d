#include "analyze/event_order.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

typedef int compare_fn(const void *a, const void *b);

static int compare_waits(const void *a, const void *b) {
    const struct lc_wait *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return (y->flags & LC_WAIT_STATE) - (x->flags & LC_WAIT_STATE);
}

static int compare_syncs(const void *a, const void *b) {
    const struct lc_sync *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    if (x->instance != y->instance)
        return x->instance < y->instance ? -1 : 1;
    return x->group < y->group ? -1 : x->group > y->group;
}

static size_t run_end(const char *items, size_t count, size_t bytes, size_t from, compare_fn *cmp) {
    size_t i = from + 1;
    while (i < count && cmp(items + (i - 1) * bytes, items + i * bytes) <= 0)
        i++;
    return i < count ? i : count;
}

/* Natural merge sort, stable: the passes that filled the array were each in order, so there are few
 * runs. */
static enum lc_err sort(void *array, size_t count, size_t bytes, compare_fn *cmp) {
    char *items = array, *scratch;
    if (run_end(items, count, bytes, 0, cmp) >= count)
        return LC_OK;
    LC_TRY(lc_alloc(&scratch, count, bytes));
    for (;;) {
        size_t at = 0, n_runs = 0;
        while (at < count) {
            size_t mid = run_end(items, count, bytes, at, cmp);
            size_t end = mid < count ? run_end(items, count, bytes, mid, cmp) : count;
            size_t a = at, b = mid;
            for (size_t k = at; k < end; k++) {
                size_t from =
                    b >= end || (a < mid && cmp(items + a * bytes, items + b * bytes) <= 0) ? a++
                                                                                            : b++;
                memcpy(scratch + k * bytes, items + from * bytes, bytes);
            }
            n_runs++;
            at = end;
        }
        memcpy(items, scratch, count * bytes);
        if (n_runs <= 1)
            break;
    }
    free(scratch);
    return LC_OK;
}

enum lc_err lc_order_waits(struct lc_loc *loc) {
    return sort(loc->waits, loc->n_waits, sizeof *loc->waits, compare_waits);
}

enum lc_err lc_order_syncs(struct lc_loc *loc) {
    return sort(loc->syncs, loc->n_syncs, sizeof *loc->syncs, compare_syncs);
}
