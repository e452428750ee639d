#include "base/table_text.h"

#include <string.h>

#include "base/utf8.h"

static const char meaning[] = "\t\n\r\\", letter[] = "tnr\\";

void lc_table_put(struct lc_strbuf *out, const char *text) {
    while (*text != '\0') {
        int length = lc_utf8_length(text, NULL);
        const char *special = strchr(meaning, *text);
        if (length == 0)
            lc_strbuf_printf(out, "\\\\x%02x", (unsigned char)*text);
        else if (special != NULL)
            lc_strbuf_printf(out, "\\%c", letter[special - meaning]);
        else
            lc_strbuf_add(out, text, (size_t)length);
        text += length > 0 ? length : 1;
    }
}

void lc_table_unescape(char *cell) {
    char *to = cell;
    for (const char *from = cell; *from != '\0'; from++) {
        const char *special = *from == '\\' && from[1] != '\0' ? strchr(letter, from[1]) : NULL;
        if (special != NULL)
            from++;
        *to++ = special != NULL ? meaning[special - letter] : *from;
    }
    *to = '\0';
}
