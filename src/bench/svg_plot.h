/* Plots on sheets of A4 size, as SVG that needs nothing else. Lengths are units of 1/96 inch from
 * the upper left corner. */
#ifndef LC_BENCH_SVG_PLOT_H
#define LC_BENCH_SVG_PLOT_H

#include <stdbool.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "bench/categories.h"

enum { LC_SVG_WIDTH = 794, LC_SVG_HEIGHT = 1123, LC_SVG_MARGIN = 40 };

/* By category: colours that people with any colour vision tell apart (Okabe and Ito). */
extern const char *const lc_svg_colours[LC_CATEGORIES];

struct lc_svg_frame { /* a plot: where it is, and what its axes span: high above low */
    double x, y, width, height;
    double x_low, x_high, y_low, y_high;
    bool logarithmic; /* y */
};

/* Begins a sheet of so many pages, one below the other. Classes of texts and lines: title, head,
 * small, number, mid, end, warning; grid, frame, cut, curve, dots. */
void lc_svg_begin(struct lc_strbuf *out, int pages);
/* Ends it, writes the file, first under another name, and frees `out`. LC_ERR_IO, LC_ERR_NOMEM. */
enum lc_err lc_svg_write(struct lc_strbuf *out, const char *file);

/* A text that begins (class end: ends, mid: has its middle) at a place. */
void lc_svg_label(struct lc_strbuf *out, double x, double y, const char *style, const char *text);
/* A line of a class. */
void lc_svg_line(struct lc_strbuf *out, double x1, double y1, double x2, double y2,
                 const char *style);

/* Where a value stands; what is beyond an axis stands at its end. */
double lc_svg_x(const struct lc_svg_frame *p, double x);
/* Where a value stands on the upright axis; what is beyond it stands at its end. */
double lc_svg_y(const struct lc_svg_frame *p, double y);
/* Marks and the lines of a grid; `times`: the values are ns. */
void lc_svg_x_axis(struct lc_strbuf *out, const struct lc_svg_frame *p, bool times);
/* Marks and the lines of a grid of the upright axis; `times`: the values are ns. */
void lc_svg_y_axis(struct lc_strbuf *out, const struct lc_svg_frame *p, bool times);
/* The title of a plot, and a box around it. */
void lc_svg_draw_frame(struct lc_strbuf *out, const struct lc_svg_frame *p, const char *title);

#endif
