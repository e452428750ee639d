#include "run/json_string.h"

#include <stdlib.h>

#include "base/utf8.h"

json_t *lc_meta_string(const char *text) {
    char *clean = lc_clean_text(text);
    json_t *string = clean != NULL ? json_string(clean) : NULL;
    free(clean);
    return string;
}
