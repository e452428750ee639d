#include "run/sparse_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static int compare(const void *a, const void *b) {
    const struct lc_sparse_row *x = a, *y = b;
    if (x->cnode != y->cnode)
        return x->cnode < y->cnode ? -1 : 1;
    return (x->column > y->column) - (x->column < y->column);
}

enum lc_err lc_sparse_add(struct lc_sparse_rows *rows, const struct lc_sparse_row *row) {
    LC_TRY(lc_grow(&rows->list, &rows->capacity, rows->n + 1, sizeof rows->list[0]));
    rows->list[rows->n++] = *row;
    return LC_OK;
}

void lc_sparse_sort(struct lc_sparse_rows *rows) {
    if (rows->n > 0)
        qsort(rows->list, rows->n, sizeof rows->list[0], compare);
}

enum lc_err lc_sparse_write(const struct lc_sparse_rows *rows, int i, double (*finish)(double),
                            uint32_t metric, double *columns, size_t n_columns,
                            struct lc_cubex_writer *writer) {
    LC_TRY(lc_cubex_writer_metric(writer, metric));
    for (size_t r = 0; r < rows->n;) {
        uint32_t cnode = rows->list[r].cnode;
        memset(columns, 0, n_columns * sizeof columns[0]);
        for (; r < rows->n && rows->list[r].cnode == cnode; r++)
            columns[rows->list[r].column] += rows->list[r].values[i];
        for (size_t c = 0; finish != NULL && c < n_columns; c++)
            columns[c] = finish(columns[c]);
        LC_TRY(lc_cubex_writer_row(writer, cnode, columns));
    }
    return LC_OK;
}

void lc_sparse_free(struct lc_sparse_rows *rows) {
    free(rows->list);
    *rows = (struct lc_sparse_rows){0};
}
