/* Values of a metric that few call paths and locations have, collected in any order and written in
 * that of the result. Those of one call path and location are added up. */
#ifndef LC_RUN_SPARSE_ROWS_H
#define LC_RUN_SPARSE_ROWS_H

#include "model/cubex_write.h"

enum { LC_SPARSE_VALUES = 5 };

struct lc_sparse_row {
    uint32_t cnode, column;
    double values[LC_SPARSE_VALUES];
};

struct lc_sparse_rows {
    struct lc_sparse_row *list;
    size_t n, capacity;
};

/* LC_ERR_NOMEM. */
enum lc_err lc_sparse_add(struct lc_sparse_rows *rows, const struct lc_sparse_row *row);
/* Once, when all were added. */
void lc_sparse_sort(struct lc_sparse_rows *rows);
/* Writes value i as the metric of that name, which the model has; columns: room for the values of a
 * call path; finish: what becomes of each sum, NULL: nothing. Errors: those of
 * lc_cubex_writer_metric and lc_cubex_writer_row. */
enum lc_err lc_sparse_write(const struct lc_sparse_rows *rows, int i, double (*finish)(double),
                            uint32_t metric, double *columns, size_t n_columns,
                            struct lc_cubex_writer *writer);
/* Frees what it holds, not the struct. */
void lc_sparse_free(struct lc_sparse_rows *rows);

#endif
