/* lines.tsv: the source lines that samples fell on, per call path, with the functions that the
 * compiler has put into the one that they are in. */
#ifndef LC_RUN_LINE_TABLE_H
#define LC_RUN_LINE_TABLE_H

#include "model/cubex_write.h"
#include "run/blame_table.h"
#include "run/sampled.h"
#include "run/tree.h"

enum { LC_LINES_OF_PATH = 64 }; /* most lines of a call path, those with most time */

/* Writes nothing where no line is known. values: model, definitions and symbols of it. Errors:
 * LC_ERR_NOMEM, and those of lc_cubex_writer_misc. */
enum lc_err lc_line_table_write(const struct lc_sampled *sampled, const struct lc_named_tree *tree,
                                const struct lc_raw_file *file, const struct lc_blame_table *values,
                                struct lc_cubex_writer *writer);

#endif
