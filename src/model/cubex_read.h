/* Reading .cubex: ours, and those of Score-P and Scalasca. Definitions are read at open, rows on
 * demand. Hostile input gives LC_ERR_FORMAT / LC_ERR_UNSUPPORTED and a line, never a crash. */
#ifndef LC_MODEL_CUBEX_READ_H
#define LC_MODEL_CUBEX_READ_H

#include "model/model.h"

struct lc_cubex;

/* Opens a file and reads its definitions; lc_cubex_close closes it. LC_ERR_NOT_FOUND,
 * LC_ERR_IO, LC_ERR_FORMAT, LC_ERR_RANGE, LC_ERR_UNSUPPORTED, LC_ERR_NOMEM. */
enum lc_err lc_cubex_open(struct lc_cubex **cube, const char *path);
/* NULL is allowed. */
void lc_cubex_close(struct lc_cubex *cube);
/* owned by the cube; cnode ids as in the file */
const struct lc_model *lc_cubex_model(const struct lc_cubex *cube);
/* Values of one metric at one cnode: n_locations doubles into `values`, zeros where nothing is
 * stored. As stored: inclusive along the call tree for INCLUSIVE metrics. Errors: LC_ERR_RANGE:
 * there is no such metric or cnode; LC_ERR_IO; LC_ERR_FORMAT, LC_ERR_UNSUPPORTED: the metric's data
 * are damaged or of a kind that is not read; LC_ERR_NOMEM. The cube can be used on. */
enum lc_err lc_cubex_row(struct lc_cubex *cube, uint32_t metric, uint32_t cnode, double *values);
/* How many metrics were skipped since they are derived by expressions. */
size_t lc_cubex_derived(const struct lc_cubex *cube);
/* A miscellaneous member; *data stays owned by the cube. LC_ERR_NOT_FOUND if absent. */
enum lc_err lc_cubex_misc(struct lc_cubex *cube, const char *name, const char **data,
                          size_t *bytes);

#endif
