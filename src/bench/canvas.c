#include "bench/canvas.h"

#include <stdlib.h>

#include "base/mem.h"

enum { ACROSS = 2, DOWN = 4, BRAILLE = 0x2800 };

enum lc_err lc_canvas_new(struct lc_canvas *canvas, size_t columns, size_t rows, bool utf8) {
    *canvas = (struct lc_canvas){.columns = columns, .rows = rows, .utf8 = utf8};
    canvas->width = utf8 ? ACROSS * columns : columns;
    canvas->height = utf8 ? DOWN * rows : rows;
    LC_TRY(lc_alloc(&canvas->cells, 2 * columns * rows, 1));
    canvas->kinds = canvas->cells + columns * rows;
    return LC_OK;
}

void lc_canvas_free(struct lc_canvas *canvas) {
    free(canvas->cells);
    canvas->cells = canvas->kinds = NULL;
}

static size_t place(double part, size_t points) {
    double at = part * (double)points;
    return !(at > 0) ? 0 : at >= (double)points ? points - 1 : (size_t)at;
}

void lc_canvas_set(struct lc_canvas *canvas, double x, double y, unsigned char kind) {
    /* dots of a Braille pattern by column and row */
    static const unsigned char dots[ACROSS][DOWN] = {{1, 2, 4, 64}, {8, 16, 32, 128}};
    size_t across = place(x, canvas->width);
    size_t down = canvas->height - 1 - place(y, canvas->height);
    size_t at = canvas->utf8 ? down / DOWN * canvas->columns + across / ACROSS
                             : down * canvas->columns + across;
    if (canvas->cells[at] == 0 || kind < canvas->kinds[at])
        canvas->kinds[at] = kind;
    canvas->cells[at] |= canvas->utf8 ? dots[across % ACROSS][down % DOWN] : 1;
}

static void put_cell(const struct lc_canvas *canvas, unsigned char cell, struct lc_strbuf *out) {
    unsigned code = BRAILLE + cell;
    if (cell == 0 || !canvas->utf8)
        lc_strbuf_putc(out, cell == 0 ? ' ' : '*');
    else
        lc_strbuf_printf(out, "%c%c%c", 0xe0 | (int)(code >> 12), 0x80 | (int)(code >> 6 & 0x3f),
                         0x80 | (int)(code & 0x3f));
}

void lc_canvas_put_row(const struct lc_canvas *canvas, size_t row, const char *const *colours,
                       const char *plain, struct lc_strbuf *out) {
    const char *colour = "";
    for (size_t i = 0; i < canvas->columns; i++) {
        size_t at = row * canvas->columns + i;
        const char *its = canvas->cells[at] != 0 ? colours[canvas->kinds[at]] : colour;
        if (its != colour) {
            lc_strbuf_puts(out, *colour != '\0' ? plain : "");
            lc_strbuf_puts(out, its);
            colour = its;
        }
        put_cell(canvas, canvas->cells[at], out);
    }
    lc_strbuf_puts(out, *colour != '\0' ? plain : "");
}
