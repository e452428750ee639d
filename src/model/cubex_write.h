/* Writing .cubex (docs/definitions/cubex.md). Rows are streamed: memory does not grow with their
 * number. The file appears under its final name only when closed without error. Order of calls:
 *   open, { metric, row.. }.., misc.., close   |   abort at any time */
#ifndef LC_MODEL_CUBEX_WRITE_H
#define LC_MODEL_CUBEX_WRITE_H

#include "model/model.h"

struct lc_cubex_writer;

/* `defs` must stay alive and unchanged, except attributes, until close. Call tree: cnode ids must
 * be in pre-order (checked, LC_ERR_RANGE). */
enum lc_err lc_cubex_writer_open(struct lc_cubex_writer **writer, const char *path,
                                 const struct lc_model *defs);
/* Starts the data of one metric (each at most once, any order). */
enum lc_err lc_cubex_writer_metric(struct lc_cubex_writer *writer, uint32_t metric);
/* One row: n_locations values. EXCLUSIVE metrics: any order of cnodes is an error, ascending only.
 * INCLUSIVE ones too: the writer reorders where the container wants another order. All-zero rows
 * may be passed and are dropped. */
enum lc_err lc_cubex_writer_row(struct lc_cubex_writer *writer, uint32_t cnode,
                                const double *values);
/* A miscellaneous member, e.g. "size_classes.tsv". */
enum lc_err lc_cubex_writer_misc(struct lc_cubex_writer *writer, const char *name, const void *data,
                                 size_t bytes);
/* Writes anchor.xml and renames into place. Frees the writer, also on error. */
enum lc_err lc_cubex_writer_close(struct lc_cubex_writer *writer);
void lc_cubex_writer_abort(struct lc_cubex_writer *writer);

#endif
