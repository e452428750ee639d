#include "run/counter_table.h"

#include <string.h>

#include "model/metrics.h"

_Static_assert((int)LC_COUNTERS <= (int)LC_SPARSE_VALUES, "a row holds all");

/* Of a program that died the library says nothing: a counter of the processor that is 0 everywhere
 * was not there. */
static uint32_t which_of(const struct lc_counter_table *table, const json_t *pop) {
    const json_t *names = json_object_get(json_object_get(pop, "counters"), "counted");
    uint32_t which = 0;
    size_t k;
    for (int i = 0; i < LC_COUNTERS && table->rows.n > 0; i++) {
        bool there = i >= LC_COUNTER_FAULTS;
        for (size_t row = 0; row < table->rows.n && !there; row++)
            there = table->rows.list[row].values[i] > 0;
        if (names != NULL)
            there = false;
        for (k = 0; k < json_array_size(names); k++) {
            const char *name = json_string_value(json_array_get(names, k));
            there = there || (name != NULL && strcmp(name, lc_raw_counters[i]) == 0);
        }
        which |= there ? 1u << i : 0;
    }
    return which;
}

enum lc_err lc_counter_table_read(struct lc_counter_table *table, const struct lc_raw_file *file,
                                  const struct lc_named_tree *tree, const uint32_t *column_of,
                                  const json_t *pop) {
    for (size_t part = 0; part < lc_raw_file_parts(file); part++) {
        size_t n;
        const struct lc_raw_row *rows = lc_raw_file_rows(file, part, &n);
        for (size_t i = 0; i < n; i++) {
            if (rows[i].size_class != LC_RAW_CLASS_COUNTERS)
                continue;
            const struct lc_sparse_row row = {
                .cnode = tree->cnode_of[rows[i].node],
                .column = column_of[rows[i].location],
                .values = {[LC_COUNTER_INSTRUCTIONS] = (double)rows[i].sum_ns,
                           [LC_COUNTER_CYCLES] = (double)rows[i].min_ns,
                           [LC_COUNTER_FAULTS] = (double)rows[i].max_ns,
                           [LC_COUNTER_SWITCHES] = (double)rows[i].bytes_sent,
                           [LC_COUNTER_BYTES] = (double)rows[i].bytes_rcvd}};
            LC_TRY(lc_sparse_add(&table->rows, &row));
        }
    }
    lc_sparse_sort(&table->rows);
    table->which = which_of(table, pop);
    return LC_OK;
}

void lc_counter_table_free(struct lc_counter_table *table) {
    lc_sparse_free(&table->rows);
}

enum lc_err lc_counter_table_metrics(const struct lc_counter_table *table, struct lc_model *model) {
    uint32_t id;
    for (int i = 0; i < LC_COUNTER_BYTES; i++)
        if (table->which & 1u << i)
            LC_TRY(lc_metrics_add(model, lc_raw_counters[i], &id));
    return LC_OK;
}

enum lc_err lc_counter_table_write(const struct lc_counter_table *table,
                                   const struct lc_model *model, double *columns, size_t n_columns,
                                   struct lc_cubex_writer *writer) {
    for (int i = 0; i < LC_COUNTER_BYTES; i++) {
        if (table->which & 1u << i)
            LC_TRY(lc_sparse_write(&table->rows, i, NULL,
                                   lc_model_find_metric(model, lc_raw_counters[i]), columns,
                                   n_columns, writer));
    }
    return LC_OK;
}

void lc_counter_table_sums(const struct lc_counter_table *table, const struct lc_named_tree *tree,
                           json_t *pop) {
    json_t *counters = json_object_get(pop, "counters");
    for (int mpi = 0; mpi < 2 && counters != NULL; mpi++) {
        json_t *sums = json_object();
        for (int i = 0; i < LC_COUNTERS; i++) {
            double sum = 0;
            for (size_t k = 0; k < table->rows.n; k++)
                if ((tree->mpi_name[table->rows.list[k].cnode] != LC_NONE) == mpi)
                    sum += table->rows.list[k].values[i];
            json_object_set_new(sums, lc_raw_counters[i],
                                table->which & 1u << i ? json_real(sum) : json_null());
        }
        json_object_set_new(counters, mpi ? "mpi" : "useful", sums);
    }
}
