/* Cells of the tables inside results (blame.tsv, critical_path.tsv, size_classes.tsv): columns are
 * separated by tabs, rows by newlines, and names may hold both. In a cell a tab is \t, a newline
 * \n, a carriage return \r, a backslash \\; all else is as it is, cleaned (base/utf8.h). */
#ifndef LC_BASE_TABLE_TEXT_H
#define LC_BASE_TABLE_TEXT_H

#include "base/strbuf.h"

/* Appends a text as a cell of a table: tabs, line ends and backslashes as escapes. */
void lc_table_put(struct lc_strbuf *out, const char *text);

/* Turns a cell back into its text, in place: it never gets longer. */
void lc_table_unescape(char *cell);

#endif
