/* Writing .cubex (docs/definitions/cubex.md). Rows are streamed: memory does not grow with their
 * number. The file appears under its final name only when closed without error. Order of calls:
 *   open, { metric, row.. }.., misc.., close   |   abort at any time */
#ifndef LC_MODEL_CUBEX_WRITE_H
#define LC_MODEL_CUBEX_WRITE_H

#include "model/model.h"

struct lc_cubex_writer;

/* A writer, freed by lc_cubex_writer_close or _abort. `defs` must stay alive and unchanged, except
 * attributes, until close. Call tree: cnode ids must be in pre-order (checked, LC_ERR_RANGE).
 * Errors besides: LC_ERR_RANGE: locations not ordered by process, trees too deep; LC_ERR_IO: the
 * file cannot be created; LC_ERR_NOMEM. */
enum lc_err lc_cubex_writer_open(struct lc_cubex_writer **writer, const char *path,
                                 const struct lc_model *defs);
/* Starts the data of one metric (each at most once, any order). Errors, after which only
 * lc_cubex_writer_abort makes sense: LC_ERR_RANGE: unknown, or started already; LC_ERR_IO,
 * LC_ERR_NOMEM. */
enum lc_err lc_cubex_writer_metric(struct lc_cubex_writer *writer, uint32_t metric);
/* One row: n_locations values. EXCLUSIVE metrics: any order of cnodes is an error, ascending only.
 * INCLUSIVE ones too: the writer reorders where the container wants another order. All-zero rows
 * may be passed and are dropped. Errors: LC_ERR_RANGE: out of order; LC_ERR_IO. */
enum lc_err lc_cubex_writer_row(struct lc_cubex_writer *writer, uint32_t cnode,
                                const double *values);
/* A miscellaneous member, e.g. "size_classes.tsv". Where its size would be a multiple of 512 the
 * newline at its end is left out, or one is added if it ends in something else.
 * Errors: LC_ERR_RANGE: the name is empty or too long; LC_ERR_IO. */
enum lc_err lc_cubex_writer_misc(struct lc_cubex_writer *writer, const char *name, const void *data,
                                 size_t bytes);
/* Writes anchor.xml and renames into place. Frees the writer, also on error, when no file stays:
 * LC_ERR_IO, LC_ERR_NOMEM, LC_ERR_RANGE. */
enum lc_err lc_cubex_writer_close(struct lc_cubex_writer *writer);
/* Gives up: removes what was written and frees the writer. NULL is allowed. */
void lc_cubex_writer_abort(struct lc_cubex_writer *writer);

#endif
