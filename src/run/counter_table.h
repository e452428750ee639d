/* Counters along the way (--counters): rows LC_RAW_CLASS_COUNTERS as metrics of the result, and
 * their sums for useful work and MPI as `pop.counters`. Called by the conversion of a raw profile.
 */
#ifndef LC_RUN_COUNTER_TABLE_H
#define LC_RUN_COUNTER_TABLE_H

#include <jansson.h>

#include "format/raw_pack.h"
#include "model/cubex_write.h"
#include "run/sparse_rows.h"
#include "run/tree.h"

struct lc_counter_table {
    struct lc_sparse_rows rows; /* values: enum lc_counter */
    uint32_t which;             /* a bit for each that was counted everywhere */
};

/* Reads the rows of the file; column_of: by location. pop: what the library says of them, or NULL.
 * lc_counter_table_free frees it. LC_ERR_NOMEM. */
enum lc_err lc_counter_table_read(struct lc_counter_table *table, const struct lc_raw_file *file,
                                  const struct lc_named_tree *tree, const uint32_t *column_of,
                                  const json_t *pop);
/* Frees what it holds, not the struct. */
void lc_counter_table_free(struct lc_counter_table *table);
/* Adds the metrics that were counted. Errors: LC_ERR_NOMEM, LC_ERR_RANGE. */
enum lc_err lc_counter_table_metrics(const struct lc_counter_table *table, struct lc_model *model);
/* Writes them; columns: room for the values of a call path. Errors: those of
 * lc_sparse_write. */
enum lc_err lc_counter_table_write(const struct lc_counter_table *table,
                                   const struct lc_model *model, double *columns, size_t n_columns,
                                   struct lc_cubex_writer *writer);
/* Sums of calls of MPI and of all else, into pop.counters, where that is. */
void lc_counter_table_sums(const struct lc_counter_table *table, const struct lc_named_tree *tree,
                           json_t *pop);

#endif
