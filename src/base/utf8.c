#include "base/utf8.h"

#include <stdbool.h>
#include <string.h>

int lc_utf8_length(const char *text, uint32_t *code_out) {
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *p = (const unsigned char *)text;
    uint32_t code = p[0];
    int length = 1;
    if (p[0] >= 0x80) {
        length = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
        if (p[0] < 0xc2 || p[0] > 0xf4)
            return 0;
        code &= 0x7fu >> length;
        for (int i = 1; i < length; i++) {
            if ((p[i] & 0xc0) != 0x80)
                return 0;
            code = code << 6 | (p[i] & 0x3f);
        }
        if (code < smallest[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ||
            code == 0xfffe || code == 0xffff)
            return 0;
    } else if (code < 0x20 && code != '\t' && code != '\n' && code != '\r') {
        return 0;
    }
    if (code_out != NULL)
        *code_out = code;
    return length;
}

void lc_put_clean(struct lc_strbuf *out, const char *text) {
    while (*text != '\0') {
        int length = lc_utf8_length(text, NULL);
        if (length > 0)
            lc_strbuf_add(out, text, (size_t)length);
        else
            lc_strbuf_printf(out, "\\x%02x", (unsigned char)*text);
        text += length > 0 ? length : 1;
    }
}

/* C1 controls, marks and overrides of the direction, line and paragraph separators. */
static bool is_control(uint32_t code) {
    return (code >= 0x7f && code < 0xa0) || code == 0x61c || (code >= 0x200b && code <= 0x200f) ||
           (code >= 0x2028 && code <= 0x202e) || (code >= 0x2060 && code <= 0x206f) ||
           code == 0xfeff;
}

void lc_put_printable(struct lc_strbuf *out, const char *text) {
    while (*text != '\0') {
        uint32_t code = 0;
        int length = lc_utf8_length(text, &code);
        if (length == 0)
            lc_strbuf_printf(out, "\\x%02x", (unsigned char)*text);
        else if (code < 0x20)
            lc_strbuf_puts(out, code == '\t' ? "\\t" : code == '\n' ? "\\n" : "\\r");
        else if (code == 0x7f)
            lc_strbuf_puts(out, "\\x7f");
        else if (is_control(code))
            lc_strbuf_printf(out, "\\u{%x}", code);
        else
            lc_strbuf_add(out, text, (size_t)length);
        text += length > 0 ? length : 1;
    }
}

char *lc_clean_text(const char *text) {
    struct lc_strbuf out = {0};
    lc_put_clean(&out, text);
    return lc_strbuf_take(&out);
}

static bool is_begin(char c) {
    return ((unsigned char)c & 0xc0) != 0x80;
}

size_t lc_utf8_count(const char *text) {
    size_t n = 0;
    for (; *text != '\0'; text++)
        n += is_begin(*text);
    return n;
}

/* Bytes of the first `count` characters. */
static size_t bytes_of(const char *text, size_t count) {
    const char *at = text;
    for (size_t n = 0; *at != '\0'; at++)
        if (is_begin(*at) && n++ == count)
            break;
    return (size_t)(at - text);
}

void lc_put_cut(struct lc_strbuf *out, const char *printable, size_t width) {
    size_t count = lc_utf8_count(printable);
    if (count <= width || width < 4) {
        lc_strbuf_puts(out, printable);
        return;
    }
    size_t tail = (width - 2) / 2, head = width - 2 - tail;
    lc_strbuf_add(out, printable, bytes_of(printable, head));
    lc_strbuf_puts(out, "..");
    lc_strbuf_puts(out, printable + bytes_of(printable, count - tail));
}

void lc_put_cut_around(struct lc_strbuf *out, const char *printable, size_t width, size_t at) {
    size_t count = lc_utf8_count(printable), part = width > 4 ? (width - 4) / 3 : 0;
    bool hidden = at + 1 > (width - 2) / 2 && at + (width - 2) / 2 < count;
    if (count <= width || part < 4 || !hidden || at + part > count) {
        lc_put_cut(out, printable, width);
        return;
    }
    const char *middle = printable + bytes_of(printable, at);
    lc_strbuf_add(out, printable, bytes_of(printable, part));
    lc_strbuf_puts(out, "..");
    lc_strbuf_add(out, middle, bytes_of(middle, part));
    lc_strbuf_puts(out, "..");
    lc_strbuf_puts(out, printable + bytes_of(printable, count - part));
}

void lc_put_tail(struct lc_strbuf *out, const char *printable, size_t width) {
    size_t count = lc_utf8_count(printable);
    if (count > width) {
        lc_strbuf_puts(out, "...");
        for (size_t skip = count - width + 3; skip > 0; skip--)
            do
                printable++;
            while (((unsigned char)*printable & 0xc0) == 0x80);
    }
    lc_strbuf_puts(out, printable);
}
