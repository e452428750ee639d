#include "run/blame_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"

enum { MOST_ROWS = 65536 }; /* the library keeps far fewer: what is beyond is not from it */

struct blame {
    uint32_t wait_cnode, late_cnode; /* LC_NONE: has not come */
    int32_t late_rank;
    double seconds;
};

static bool is_wait_metric(const char *name) {
    static const char *const waits[] = {"mpi_latesender",   "mpi_latereceiver",  "mpi_wait_nxn",
                                        "mpi_barrier_wait", "mpi_latebroadcast", "mpi_earlyreduce",
                                        "mpi_earlyscan"};
    for (size_t i = 0; i < sizeof waits / sizeof waits[0]; i++)
        if (strcmp(name, waits[i]) == 0)
            return true;
    return false;
}

/* "blame.<k>.wait" or "blame.<k>.late". */
static bool parse_name(const char *name, size_t *k, bool *wait) {
    char *end;
    if (strncmp(name, "blame.", 6) != 0 || name[6] < '0' || name[6] > '9')
        return false;
    *k = strtoul(name + 6, &end, 10);
    *wait = strcmp(end, ".wait") == 0;
    return *k < MOST_ROWS && (*wait || strcmp(end, ".late") == 0);
}

static enum lc_err collect(const struct lc_blame_table *table, struct blame **rows, size_t *n_rows,
                           double *all) {
    size_t capacity = 0;
    for (size_t i = 0; i < table->n_values; i++) {
        const struct lc_raw_value *value = table->values[i];
        const char *name = table->defs->names[value->metric];
        size_t k;
        bool wait;
        if (is_wait_metric(name))
            *all += value->value;
        if (!parse_name(name, &k, &wait))
            continue;
        LC_TRY(lc_grow(rows, &capacity, k + 1, sizeof **rows));
        for (; *n_rows <= k; ++*n_rows)
            (*rows)[*n_rows] = (struct blame){.wait_cnode = LC_NONE, .late_cnode = LC_NONE};
        struct blame *row = &(*rows)[k];
        if (wait) {
            row->wait_cnode = table->cnodes[i];
            row->seconds += value->value;
        } else {
            row->late_cnode = table->cnodes[i];
            row->late_rank = table->defs->locations[value->location].rank;
        }
    }
    return LC_OK;
}

static int compare_rows(const void *a, const void *b) {
    const struct blame *x = a, *y = b;
    if (x->seconds != y->seconds)
        return x->seconds < y->seconds ? 1 : -1;
    return (x->late_rank > y->late_rank) - (x->late_rank < y->late_rank);
}

static enum lc_err print_row(const struct lc_blame_table *table, const struct blame *row,
                             double all, struct lc_strbuf *text) {
    char *wait = lc_model_callpath(table->model, row->wait_cnode);
    char *late = lc_model_callpath(table->model, row->late_cnode);
    enum lc_err err = wait != NULL && late != NULL ? LC_OK : LC_ERR_NOMEM;
    if (err == LC_OK)
        lc_strbuf_printf(text, "%s\t%d\t%s\t%.9f\t%.9f\n", wait, row->late_rank, late, row->seconds,
                         all > 0.0 ? row->seconds / all : 0.0);
    free(wait);
    free(late);
    return err;
}

enum lc_err lc_blame_table_write(const struct lc_blame_table *table,
                                 struct lc_cubex_writer *writer) {
    struct blame *rows = NULL;
    size_t n_rows = 0;
    double all = 0.0;
    struct lc_strbuf text = {0};
    enum lc_err err = collect(table, &rows, &n_rows, &all);
    if (n_rows > 0)
        qsort(rows, n_rows, sizeof rows[0], compare_rows);
    lc_strbuf_puts(&text, "waiting_callpath\tlate_rank\tlate_callpath\tseconds\tshare\n");
    size_t n_complete = 0;
    for (size_t i = 0; err == LC_OK && i < n_rows; i++)
        if (rows[i].wait_cnode != LC_NONE && rows[i].late_cnode != LC_NONE &&
            rows[i].seconds > 0.0) {
            n_complete++;
            err = print_row(table, &rows[i], all, &text);
        }
    if (err == LC_OK && !lc_strbuf_ok(&text))
        err = lc_fail(LC_ERR_NOMEM, "memory: cannot hold the table of blame");
    if (err == LC_OK && n_complete > 0)
        err = lc_cubex_writer_misc(writer, "blame.tsv", lc_strbuf_get(&text), text.length);
    lc_strbuf_free(&text);
    free(rows);
    return err;
}
