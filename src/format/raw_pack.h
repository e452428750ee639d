/* A raw profile as bytes: what ranks send each other in MPI_Finalize, and the file of such
 * blocks. */
#ifndef LC_FORMAT_RAW_PACK_H
#define LC_FORMAT_RAW_PACK_H

#include "format/raw.h"

/* Definitions (modules, names, nodes) and, with all != 0, everything, as one block of bytes, which
 * the caller frees; the receiver checks every length. A block without nodes is a slice: its rows
 * and values refer to the definitions of another block, and whoever joins them checks. Errors:
 * LC_ERR_NOMEM. */
enum lc_err lc_raw_pack(const struct lc_raw *raw, int all, void **bytes, size_t *n_bytes);
/* Back; lc_raw_free frees it. LC_ERR_FORMAT: damaged; LC_ERR_NOMEM. */
enum lc_err lc_raw_unpack(struct lc_raw **raw, const void *bytes, size_t n_bytes);

/* The file: a sequence of packed blocks (one with definitions and locations first, then slices:
 * rows, values, and `meta` or `pop` that replace earlier ones). lc_raw_free frees *raw. Errors:
 * LC_ERR_IO: cannot be opened or mapped; LC_ERR_FORMAT: damaged; LC_ERR_NOMEM, LC_ERR_RANGE. */
enum lc_err lc_raw_read_file(struct lc_raw **raw, const char *path);

/* A packed file whose rows stay in the mapping: they are not taken into memory. Parts are numbered
 * 0 .. n_parts - 1 (the blocks of the file); rows and values of a part are checked against the
 * definitions when the file is opened. */
struct lc_raw_file;
/* lc_raw_file_close closes it. Errors: LC_ERR_IO, LC_ERR_FORMAT, LC_ERR_NOMEM, LC_ERR_RANGE. */
enum lc_err lc_raw_file_open(struct lc_raw_file **file, const char *path);
void lc_raw_file_close(struct lc_raw_file *file); /* unmaps all that came from it; may be NULL */
/* Rows and values: none. Whoever opened the file may change the texts. */
struct lc_raw *lc_raw_file_defs(const struct lc_raw_file *file);
size_t lc_raw_file_parts(const struct lc_raw_file *file); /* how many */
const struct lc_raw_row *lc_raw_file_rows(const struct lc_raw_file *file, size_t part,
                                          size_t *n_rows); /* in the mapping */
const struct lc_raw_value *lc_raw_file_values(const struct lc_raw_file *file, size_t part,
                                              size_t *n_values); /* in the mapping */

#endif
