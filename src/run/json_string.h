#ifndef LC_RUN_JSON_STRING_H
#define LC_RUN_JSON_STRING_H

#include <jansson.h>

/* A JSON string of any text, cleaned (base/utf8.h): arguments and file names may hold any bytes.
 * A new reference; NULL without memory. */
json_t *lc_meta_string(const char *text);

#endif
