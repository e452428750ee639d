#include "piggyback/blame.h"

#include <math.h>
#include <stdlib.h>

static void add_to(struct lc_blame_row *is, const struct lc_blame_row *row, bool merge) {
    double both = is->squares * row->squares;
    is->squares += row->squares + (merge && both > 0 ? 2 * sqrt(both) : 0);
    is->ticks += row->ticks;
    is->error += row->error;
    is->indirect += row->indirect;
    is->indirect_error += row->indirect_error;
    is->traced += row->traced;
}

static void add(struct lc_blame *blame, const struct lc_blame_row *row, bool merge) {
    uint16_t *hash;
    struct lc_blame_row *known =
        lc_blame_at(blame, row->wait_key, row->late_rank, row->late_node, row->late_thread, &hash);
    if (known) {
        add_to(known, row, merge);
        return;
    }
    uint32_t smallest = 0;
    for (uint32_t i = 0; i < blame->n; i++) {
        struct lc_blame_row *is = &blame->rows[i];
        if (is->wait_key == row->wait_key && is->late_rank == row->late_rank &&
            is->late_node == row->late_node && is->late_thread == row->late_thread) {
            add_to(is, row, merge);
            *hash = (uint16_t)(i + 1);
            return;
        }
        if (is->ticks < blame->rows[smallest].ticks)
            smallest = i;
    }
    if (row->ticks == 0)
        return;
    uint64_t inherited = 0, traced = 0, indirect = 0;
    if (blame->n < LC_BLAME_ROWS) {
        smallest = blame->n++;
    } else {
        inherited = blame->rows[smallest].ticks;
        traced = blame->rows[smallest].traced;
        indirect = blame->rows[smallest].indirect;
    }
    blame->rows[smallest] = *row;
    blame->rows[smallest].ticks += inherited;
    blame->rows[smallest].error += inherited;
    blame->rows[smallest].traced += traced;
    blame->rows[smallest].indirect += indirect;
    blame->rows[smallest].indirect_error += indirect;
    *hash = (uint16_t)(smallest + 1);
}

void lc_blame_add(struct lc_blame *blame, const struct lc_blame_row *row) {
    add(blame, row, false);
}

void lc_blame_merge(struct lc_blame *into, const struct lc_blame *from) {
    for (uint32_t i = 0; i < from->n && i < LC_BLAME_ROWS; i++)
        add(into, &from->rows[i], true);
}

static int by_ticks(const void *a, const void *b) {
    const struct lc_blame_row *x = a, *y = b;
    uint64_t sure_x = x->ticks - x->error, sure_y = y->ticks - y->error;
    if (sure_x != sure_y)
        return sure_x < sure_y ? 1 : -1;
    return (x->late_rank > y->late_rank) - (x->late_rank < y->late_rank);
}

void lc_blame_sort(struct lc_blame *blame) {
    qsort(blame->rows, blame->n, sizeof *blame->rows, by_ticks);
}
