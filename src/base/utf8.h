/* Text from outside. Names of functions, regions and files, and arguments of programs, may hold any
 * bytes; what reads them later cannot.
 *
 * clean:     UTF-8 of characters that XML 1.0 and JSON can hold; every other byte is written \xNN.
 *            Models, tables and JSON hold clean text, so that a name is the same name everywhere.
 * printable: clean, and nothing in it moves the cursor, starts an escape sequence or turns the
 *            direction of writing: \t, \n, \r, \xNN, \u{NNNN} instead. Terminals get printable
 * text.
 */
#ifndef LC_BASE_UTF8_H
#define LC_BASE_UTF8_H

#include <stdint.h>

#include "base/strbuf.h"

/* Bytes of the character at `text` if clean text may hold it, else 0; `code` may be NULL. */
int lc_utf8_length(const char *text, uint32_t *code);

/* Appends `text` cleaned. */
void lc_put_clean(struct lc_strbuf *out, const char *text);
/* Appends `text` made printable. */
void lc_put_printable(struct lc_strbuf *out, const char *text);

/* A clean copy that the caller frees; NULL without memory. */
char *lc_clean_text(const char *text);

/* Characters of clean text: columns on a terminal, but for wide and combining characters. */
size_t lc_utf8_count(const char *text);

/* Appends printable text, with its middle cut out ("begin..end") where it has more than `width`
 * characters. */
void lc_put_cut(struct lc_strbuf *out, const char *printable, size_t width);

/* Appends text as lc_put_cut does, and keeps the characters from `at` on where the cut would hide
 * them: "begin..at that place..end". */
void lc_put_cut_around(struct lc_strbuf *out, const char *printable, size_t width, size_t at);

/* Appends printable text with its beginning cut off ("...end") where it has more than `width`
 * characters. For call paths. */
void lc_put_tail(struct lc_strbuf *out, const char *printable, size_t width);

#endif
