/* samples.tsv: per sampled call path the samples in it and in what it called, the seconds that it
 * got of the exact call path around it, and their standard error. Called by the conversion of a raw
 * profile. */
#ifndef LC_RUN_SAMPLE_TABLE_H
#define LC_RUN_SAMPLE_TABLE_H

#include "model/cubex_write.h"
#include "run/sampled.h"
#include "run/tree.h"

/* Writes nothing where there are no samples. */
enum lc_err lc_sample_table_write(const struct lc_sampled *sampled,
                                  const struct lc_named_tree *tree, const struct lc_model *model,
                                  struct lc_cubex_writer *writer);

#endif
