/* Strings of JSON where it is written by hand: the library inside the program and the trace
 * analysis have no JSON library on these ways, and large results are written as they are read. */
#ifndef LC_BASE_JSON_TEXT_H
#define LC_BASE_JSON_TEXT_H

#include <stdio.h>

#include "base/strbuf.h"

/* Appends `text` in quotation marks, cleaned (base/utf8.h): always a string of valid JSON. */
void lc_json_put(struct lc_strbuf *out, const char *text);
/* Writes it to a stream, which keeps its errors; NULL is the empty string, and null what found no
 * memory. */
void lc_json_write_string(FILE *out, const char *text);

#endif
