/* The numbers of a result in a page: one row per metric and call path that is not zero everywhere.
 *
 * A row is its exact sum (minimum, maximum where the metric is one), and values of 16 bits: the
 * n-th is n / 32767 of the largest of the row. Up to LC_PAGE_EXACT_LOCATIONS locations these are
 * the values of all of them, as the metric is stored; with more they are 17 quantiles (0, 1/16, ..,
 * 1) with the location of the largest, of values without (kind 1) and with (kind 2) the children of
 * the call path. web/src/rows.ts reads them. */
#ifndef LC_REPORT_PAGE_ROWS_H
#define LC_REPORT_PAGE_ROWS_H

#include "report/page_pack.h"
#include "report/view.h"

enum { LC_PAGE_EXACT_LOCATIONS = 256, LC_PAGE_QUANTILES = 17 };

/* All rows into the block, after a header of three numbers of 32 bits: locations, values of a row,
 * 1 where these are quantiles. Errors: those of reading rows, LC_ERR_NOMEM. */
enum lc_err lc_page_rows(struct lc_view *view, struct lc_page_block *block);

#endif
