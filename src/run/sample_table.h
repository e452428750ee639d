/* samples.tsv: per sampled call path the samples in it and in what it called, the seconds that it
 * got of the exact call path around it, those that lie on the critical path, and the standard
 * errors of both; and their imbalance. Called by the conversion of a raw profile. */
#ifndef LC_RUN_SAMPLE_TABLE_H
#define LC_RUN_SAMPLE_TABLE_H

#include "model/cubex_write.h"
#include "run/blame_table.h"
#include "run/sampled.h"
#include "run/tree.h"

/* values: those of the raw profile, and its model. Writes nothing where there are no samples.
 * Errors: LC_ERR_NOMEM, and those of lc_cubex_writer_misc. */
enum lc_err lc_sample_table_write(const struct lc_sampled *sampled,
                                  const struct lc_named_tree *tree,
                                  const struct lc_blame_table *values,
                                  struct lc_cubex_writer *writer);

/* The metric time_error, which the model has: of the own time of each sampled call path, by
 * location. column_of: by raw location; columns: room for the values of a call path. Errors:
 * LC_ERR_NOMEM, and those of the writer. */
enum lc_err lc_time_errors_write(const struct lc_sampled *sampled, const struct lc_named_tree *tree,
                                 const struct lc_model *model, const uint32_t *column_of,
                                 double *columns, size_t n_columns, struct lc_cubex_writer *writer);

#endif
