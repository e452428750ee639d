/* A growing string. Append never fails visibly: if memory runs out the buffer is marked and later
 * appends are no-ops; whoever takes the result checks lc_strbuf_ok once. Zero-initialise with {0}.
 */
#ifndef LC_BASE_STRBUF_H
#define LC_BASE_STRBUF_H

#include <stdbool.h>
#include <stddef.h>

struct lc_strbuf {
    char *text; /* NUL-terminated; NULL while empty */
    size_t length;
    size_t capacity;
    bool failed;
};

/* Appends so many bytes. Without memory this and the next three set `failed`, which stays.
 * Zero-initialise the struct. */
void lc_strbuf_add(struct lc_strbuf *buf, const char *text, size_t length);
/* Appends a text; without memory the buffer remembers that (lc_strbuf_ok). */
void lc_strbuf_puts(struct lc_strbuf *buf, const char *text);
/* Appends one character. */
void lc_strbuf_putc(struct lc_strbuf *buf, char c);
/* Appends a text as printf formats it. */
void lc_strbuf_printf(struct lc_strbuf *buf, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void lc_strbuf_clear(struct lc_strbuf *buf); /* keeps the memory */
/* Frees the text; the buffer is empty and usable again. */
void lc_strbuf_free(struct lc_strbuf *buf);
/* False: memory was missing for something that was appended. */
bool lc_strbuf_ok(const struct lc_strbuf *buf);
const char *lc_strbuf_get(const struct lc_strbuf *buf); /* never NULL */
char *lc_strbuf_take(struct lc_strbuf *buf);            /* the caller frees it; NULL if it failed */

#endif
