/* Blocks of data in a page of HTML: compressed (gzip) and in base64, so that whatever is in them
 * the page only sees letters, digits and "+/=". A block is an element <script> of a type that no
 * browser runs, with a name; web/src/blocks.ts reads them. */
#ifndef LC_REPORT_PAGE_PACK_H
#define LC_REPORT_PAGE_PACK_H

#include <stdio.h>

#include "base/err.h"

struct lc_page_block;

/* Begins a block; `name` consists of letters, digits, '.', '/', '_'. lc_page_block_end ends and
 * frees it. LC_ERR_NOMEM. */
enum lc_err lc_page_block_begin(struct lc_page_block **block, const char *name, FILE *out);
/* Adds bytes; errors are kept and come back from lc_page_block_end. */
void lc_page_block_put(struct lc_page_block *block, const void *data, size_t bytes);
/* A stream whose text becomes that of the block; the caller closes it before the end of the block.
 * NULL without memory. */
FILE *lc_page_block_stream(struct lc_page_block *block);
/* LC_ERR_IO, LC_ERR_NOMEM. NULL is allowed. */
enum lc_err lc_page_block_end(struct lc_page_block *block);

#endif
