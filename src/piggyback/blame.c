#include "piggyback/blame.h"

#include <math.h>
#include <stdlib.h>

/* Several processes: as if they had all waited for the same work. */
static double squares_of_both(double a, double b, bool merge) {
    return a + b + (merge && a > 0 && b > 0 ? 2 * sqrt(a * b) : 0);
}

static void add_to(struct lc_blame_row *is, const struct lc_blame_row *row, bool merge) {
    is->squares = squares_of_both(is->squares, row->squares, merge);
    is->traced_squares = squares_of_both(is->traced_squares, row->traced_squares, merge);
    is->ticks += row->ticks;
    is->error += row->error;
    is->missed += row->missed;
    is->indirect += row->indirect;
    is->indirect_error += row->indirect_error;
    is->traced += row->traced;
}

static bool is_same(const struct lc_blame_row *a, const struct lc_blame_row *b) {
    return a->wait_key == b->wait_key && a->late_rank == b->late_rank &&
           a->late_node == b->late_node && a->late_thread == b->late_thread;
}

/* The row that is this one, or NULL; smallest: the index of the row with fewest ticks then. */
static struct lc_blame_row *find(struct lc_blame *blame, const struct lc_blame_row *row,
                                 uint16_t **hash, uint32_t *smallest) {
    struct lc_blame_row *known =
        lc_blame_at(blame, row->wait_key, row->late_rank, row->late_node, row->late_thread, hash);
    if (known)
        return known;
    *smallest = 0;
    for (uint32_t i = 0; i < blame->n; i++) {
        struct lc_blame_row *is = &blame->rows[i];
        if (is_same(is, row)) {
            **hash = (uint16_t)(i + 1);
            return is;
        }
        if (is->ticks < blame->rows[*smallest].ticks)
            *smallest = i;
    }
    return NULL;
}

static void add(struct lc_blame *blame, const struct lc_blame_row *row, bool merge) {
    uint16_t *hash;
    uint32_t smallest;
    struct lc_blame_row *known = find(blame, row, &hash, &smallest);
    if (known) {
        add_to(known, row, merge);
        return;
    }
    if (row->ticks == 0)
        return;
    uint64_t inherited = 0, traced = 0, indirect = 0, gone = blame->gone;
    if (blame->n < LC_BLAME_ROWS) {
        smallest = blame->n++;
    } else {
        const struct lc_blame_row *goes = &blame->rows[smallest];
        inherited = goes->ticks;
        traced = goes->traced;
        indirect = goes->indirect;
        if (goes->ticks + goes->missed > gone)
            blame->gone = goes->ticks + goes->missed;
    }
    blame->rows[smallest] = *row;
    blame->rows[smallest].missed += gone > inherited ? gone - inherited : 0;
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

bool lc_blame_take(struct lc_blame *blame, uint64_t wait_key, uint32_t late_rank,
                   uint32_t late_node, uint64_t ticks, uint64_t *traced) {
    const struct lc_blame_row row = {
        .wait_key = wait_key, .late_rank = late_rank, .late_node = late_node};
    uint16_t *hash;
    uint32_t smallest;
    struct lc_blame_row *from = find(blame, &row, &hash, &smallest);
    *traced = 0;
    if (from == NULL || from->ticks - from->error < ticks)
        return false;
    uint64_t least = UINT64_MAX; /* in a full table: rows that had to go had no more than that */
    for (uint32_t i = 0; i < blame->n; i++)
        least = blame->rows[i].ticks < least ? blame->rows[i].ticks : least;
    if (blame->n == LC_BLAME_ROWS && from->ticks - ticks < least)
        return false;
    from->ticks -= ticks;
    *traced = from->traced > from->ticks ? from->traced - from->ticks : 0;
    from->traced -= *traced;
    from->squares -= (double)ticks * (double)ticks;
    from->traced_squares -= (double)*traced * (double)*traced;
    return true;
}

static bool has(const struct lc_blame *blame, const struct lc_blame_row *row) {
    for (uint32_t i = 0; i < blame->n && i < LC_BLAME_ROWS; i++)
        if (is_same(&blame->rows[i], row))
            return true;
    return false;
}

void lc_blame_merge(struct lc_blame *into, const struct lc_blame *from) {
    uint64_t gone = into->gone + from->gone;
    for (uint32_t i = 0; i < into->n && from->gone > 0; i++)
        if (!has(from, &into->rows[i]))
            into->rows[i].missed += from->gone;
    for (uint32_t i = 0; i < from->n && i < LC_BLAME_ROWS; i++)
        add(into, &from->rows[i], true);
    if (into->gone < gone)
        into->gone = gone;
}

static int by_ticks(const void *a, const void *b) {
    const struct lc_blame_row *x = a, *y = b;
    uint64_t sure_x = x->ticks - x->error, sure_y = y->ticks - y->error;
    if (sure_x != sure_y)
        return sure_x < sure_y ? 1 : -1;
    const uint64_t keys_x[] = {x->late_rank, x->late_thread, x->wait_key, x->late_node},
                   keys_y[] = {y->late_rank, y->late_thread, y->wait_key, y->late_node};
    for (size_t i = 0; i < sizeof keys_x / sizeof *keys_x; i++)
        if (keys_x[i] != keys_y[i])
            return keys_x[i] > keys_y[i] ? 1 : -1;
    return 0;
}

void lc_blame_sort(struct lc_blame *blame) {
    qsort(blame->rows, blame->n, sizeof *blame->rows, by_ticks);
}
