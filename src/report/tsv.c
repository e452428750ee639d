#include "report/tsv.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/table_text.h"

static size_t count(const char *text, char what) {
    size_t n = 0;
    for (; *text != '\0'; text++)
        n += *text == what;
    return n;
}

/* Cuts one line into at most n_columns cells; missing ones are empty. */
static void cut_line(char *line, char **cells, size_t n_columns) {
    static char empty[] = "";
    for (size_t i = 0; i < n_columns; i++) {
        char *cell = line != NULL ? strsep(&line, "\t") : NULL;
        cells[i] = cell != NULL ? cell : empty;
        if (cell != NULL)
            lc_table_unescape(cell);
    }
}

enum lc_err lc_tsv_parse(struct lc_tsv *tsv, const char *data, size_t bytes) {
    *tsv = (struct lc_tsv){0};
    LC_TRY(lc_alloc(&tsv->text, bytes + 1, 1));
    memcpy(tsv->text, data, bytes);
    size_t n_lines = count(tsv->text, '\n') + 1;
    char *rest = tsv->text, *line = strsep(&rest, "\n");
    tsv->n_columns = count(line, '\t') + 1;
    /* One cell per byte at most: what the text itself can hold. */
    enum lc_err err = lc_alloc(&tsv->cells, n_lines * tsv->n_columns, sizeof tsv->cells[0]);
    if (err != LC_OK) {
        lc_tsv_free(tsv);
        return err;
    }
    cut_line(line, tsv->cells, tsv->n_columns);
    while ((line = strsep(&rest, "\n")) != NULL)
        if (*line != '\0')
            cut_line(line, tsv->cells + ++tsv->n_rows * tsv->n_columns, tsv->n_columns);
    return LC_OK;
}

void lc_tsv_free(struct lc_tsv *tsv) {
    free(tsv->text);
    free(tsv->cells);
    *tsv = (struct lc_tsv){0};
}

int lc_tsv_column(const struct lc_tsv *tsv, const char *name) {
    for (size_t i = 0; i < tsv->n_columns; i++)
        if (strcmp(tsv->cells[i], name) == 0)
            return (int)i;
    return -1;
}

const char *lc_tsv_cell(const struct lc_tsv *tsv, size_t row, int column) {
    return column < 0 ? "" : tsv->cells[(row + 1) * tsv->n_columns + (size_t)column];
}

double lc_tsv_number(const struct lc_tsv *tsv, size_t row, int column) {
    return strtod(lc_tsv_cell(tsv, row, column), NULL);
}
