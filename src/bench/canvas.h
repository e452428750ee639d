/* Points on a terminal: 2 x 4 per character with Braille patterns, else one. */
#ifndef LC_BENCH_CANVAS_H
#define LC_BENCH_CANVAS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/strbuf.h"

struct lc_canvas {
    size_t columns, rows; /* characters */
    size_t width, height; /* points */
    bool utf8;
    unsigned char *cells, *kinds; /* kinds: the lowest one of the points in a character */
};

/* An empty drawing of columns x rows characters; lc_canvas_free frees it. Errors: LC_ERR_NOMEM. */
enum lc_err lc_canvas_new(struct lc_canvas *canvas, size_t columns, size_t rows, bool utf8);
/* Frees what it holds, not the struct. */
void lc_canvas_free(struct lc_canvas *canvas);

/* Sets the point at x and y of [0, 1], y upwards; what lies outside is moved to the edge. kind: for
 * its colour. */
void lc_canvas_set(struct lc_canvas *canvas, double x, double y, unsigned char kind);

/* Appends one line of characters, the top one is 0; no line end. colours: by kind, escape sequences
 * or ""; each ends with `plain`. */
void lc_canvas_put_row(const struct lc_canvas *canvas, size_t row, const char *const *colours,
                       const char *plain, struct lc_strbuf *out);

#endif
