#include "base/strbuf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool make_room(struct lc_strbuf *buf, size_t more) {
    if (buf->failed)
        return false;
    if (more >= (size_t)-1 / 2 - buf->length) {
        buf->failed = true;
        return false;
    }
    size_t need = buf->length + more + 1;
    if (need <= buf->capacity)
        return true;
    size_t target = buf->capacity * 2 > need ? buf->capacity * 2 : need + 32;
    char *grown = realloc(buf->text, target);
    if (grown == NULL) {
        buf->failed = true;
        return false;
    }
    buf->text = grown;
    buf->capacity = target;
    return true;
}

void lc_strbuf_add(struct lc_strbuf *buf, const char *text, size_t length) {
    if (!make_room(buf, length))
        return;
    if (length > 0)
        memcpy(buf->text + buf->length, text, length);
    buf->length += length;
    buf->text[buf->length] = '\0';
}

void lc_strbuf_puts(struct lc_strbuf *buf, const char *text) {
    lc_strbuf_add(buf, text, strlen(text));
}

void lc_strbuf_putc(struct lc_strbuf *buf, char c) {
    lc_strbuf_add(buf, &c, 1);
}

void lc_strbuf_printf(struct lc_strbuf *buf, const char *format, ...) {
    va_list args;
    va_start(args, format);
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length < 0)
        buf->failed = true;
    else if (make_room(buf, (size_t)length)) {
        vsnprintf(buf->text + buf->length, (size_t)length + 1, format, again);
        buf->length += (size_t)length;
    }
    va_end(again);
}

void lc_strbuf_clear(struct lc_strbuf *buf) {
    buf->length = 0;
    if (buf->text != NULL)
        buf->text[0] = '\0';
}

void lc_strbuf_free(struct lc_strbuf *buf) {
    free(buf->text);
    *buf = (struct lc_strbuf){0};
}

bool lc_strbuf_ok(const struct lc_strbuf *buf) {
    return !buf->failed;
}

const char *lc_strbuf_get(const struct lc_strbuf *buf) {
    return buf->text != NULL ? buf->text : "";
}

char *lc_strbuf_take(struct lc_strbuf *buf) {
    char *text = buf->failed ? NULL : buf->text;
    if (text == NULL) {
        bool failed = buf->failed;
        free(buf->text);
        *buf = (struct lc_strbuf){0};
        return failed ? NULL : strdup("");
    }
    *buf = (struct lc_strbuf){0};
    return text;
}
