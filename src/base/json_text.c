#include "base/json_text.h"

#include "base/utf8.h"

void lc_json_put(struct lc_strbuf *out, const char *text) {
    lc_strbuf_putc(out, '"');
    while (*text != '\0') {
        int length = lc_utf8_length(text, NULL);
        if (length == 0)
            lc_strbuf_printf(out, "\\\\x%02x", (unsigned char)*text);
        else if (*text == '"' || *text == '\\')
            lc_strbuf_printf(out, "\\%c", *text);
        else if ((unsigned char)*text < 0x20)
            lc_strbuf_printf(out, "\\u%04x", (unsigned char)*text);
        else
            lc_strbuf_add(out, text, (size_t)length);
        text += length > 0 ? length : 1;
    }
    lc_strbuf_putc(out, '"');
}

void lc_json_write_string(FILE *out, const char *text) {
    struct lc_strbuf quoted = {0};
    lc_json_put(&quoted, text != NULL ? text : "");
    fputs(lc_strbuf_ok(&quoted) ? lc_strbuf_get(&quoted) : "null", out);
    lc_strbuf_free(&quoted);
}
