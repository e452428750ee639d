/* Tables that results carry as miscellaneous members: tab-separated, names of the columns in the
 * first line. */
#ifndef LC_REPORT_TSV_H
#define LC_REPORT_TSV_H

#include <stddef.h>

#include "base/err.h"

struct lc_tsv {
    char *text; /* copy, cut into cells */
    char **cells;
    size_t n_columns, n_rows; /* without the first line */
};

/* Splits a table into rows and cells; lc_tsv_free frees it. LC_ERR_NOMEM. */
enum lc_err lc_tsv_parse(struct lc_tsv *tsv, const char *data, size_t bytes);
/* Frees what it holds, not the struct. */
void lc_tsv_free(struct lc_tsv *tsv);
int lc_tsv_column(const struct lc_tsv *tsv, const char *name); /* -1: none */
const char *lc_tsv_cell(const struct lc_tsv *tsv, size_t row,
                        int column); /* "" where there is none */
/* The number in a cell; 0 where there is none. */
double lc_tsv_number(const struct lc_tsv *tsv, size_t row, int column);

#endif
