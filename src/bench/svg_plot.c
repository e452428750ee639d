#include "bench/svg_plot.h"

#include <math.h>
#include <stdio.h>

#include "base/outfile.h"
#include "base/utf8.h"
#include "bench/fingerprint_text.h"

const char *const lc_svg_colours[LC_CATEGORIES] = {"#cc79a7", "#e69f00", "#d55e00", "#0072b2"};

static const char style_sheet[] =
    "<style>text{font-family:'DejaVu Sans',Helvetica,sans-serif;fill:#222}.title{font-size:18px;"
    "font-weight:bold}.head{font-size:11px;font-weight:bold}.small{font-size:9px}.number{font-size:"
    "11px}.mid{text-anchor:middle}.end{text-anchor:end}.warning{font-size:9px;fill:#b00020;"
    "font-weight:bold}.grid{stroke:#ddd;stroke-width:.5}.frame{fill:none;stroke:#888}.cut{stroke:"
    "#222;stroke-width:1.2}.curve{stroke:#0072b2;stroke-width:1.2;fill:none}.dots{stroke-width:2;"
    "stroke-linecap:round}</style>\n";

void lc_svg_begin(struct lc_strbuf *out, int pages) {
    int height = pages * LC_SVG_HEIGHT;
    lc_strbuf_printf(out,
                     "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"210mm\" height=\"%dmm\" "
                     "viewBox=\"0 0 %d %d\">\n%s<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n",
                     297 * pages, LC_SVG_WIDTH, height, style_sheet, LC_SVG_WIDTH, height);
}

enum lc_err lc_svg_write(struct lc_strbuf *out, const char *file) {
    lc_strbuf_puts(out, "</svg>\n");
    enum lc_err err = lc_strbuf_ok(out)
                          ? lc_outfile_put(file, lc_strbuf_get(out), out->length)
                          : lc_fail(LC_ERR_NOMEM, "memory: cannot draw a fingerprint");
    lc_strbuf_free(out);
    return err;
}

/* Any text, as it is read. */
static void put_text(struct lc_strbuf *out, const char *text) {
    struct lc_strbuf clean = {0};
    lc_put_printable(&clean, text);
    for (const char *c = lc_strbuf_get(&clean); *c != '\0'; c++)
        if (*c == '<')
            lc_strbuf_puts(out, "&lt;");
        else if (*c == '&')
            lc_strbuf_puts(out, "&amp;");
        else
            lc_strbuf_putc(out, *c);
    lc_strbuf_free(&clean);
}

void lc_svg_label(struct lc_strbuf *out, double x, double y, const char *style, const char *text) {
    lc_strbuf_printf(out, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, style);
    put_text(out, text);
    lc_strbuf_puts(out, "</text>\n");
}

void lc_svg_line(struct lc_strbuf *out, double x1, double y1, double x2, double y2,
                 const char *style) {
    lc_strbuf_printf(out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"%s\"/>\n",
                     x1, y1, x2, y2, style);
}

double lc_svg_x(const struct lc_svg_frame *p, double x) {
    double part = (x - p->x_low) / (p->x_high - p->x_low);
    return p->x + p->width * fmin(fmax(part, 0), 1);
}

double lc_svg_y(const struct lc_svg_frame *p, double y) {
    double part = p->logarithmic ? log(y / p->y_low) / log(p->y_high / p->y_low)
                                 : (y - p->y_low) / (p->y_high - p->y_low);
    return p->y + p->height * (1 - fmin(fmax(part, 0), 1));
}

/* A round step of 1, 2 or 5 for about five marks. */
static double step_for(double span) {
    double power = pow(10, floor(log10(span / 5))), part = span / 5 / power;
    return power * (part > 5 ? 10 : part > 2 ? 5 : part > 1 ? 2 : 1);
}

void lc_svg_x_axis(struct lc_strbuf *out, const struct lc_svg_frame *p, bool times) {
    char text[32];
    double step = step_for(p->x_high - p->x_low);
    double first = ceil(p->x_low / step);
    for (int i = 0; (first + i) * step <= p->x_high; i++) {
        double x = (first + i) * step;
        lc_svg_line(out, lc_svg_x(p, x), p->y, lc_svg_x(p, x), p->y + p->height, "grid");
        if (times)
            lc_bench_time(x, text);
        else
            snprintf(text, sizeof text, "%.0f", x);
        lc_svg_label(out, lc_svg_x(p, x), p->y + p->height + 11, "mid small", text);
    }
}

void lc_svg_y_axis(struct lc_strbuf *out, const struct lc_svg_frame *p, bool times) {
    char text[32];
    double step = p->logarithmic ? 0 : step_for(p->y_high - p->y_low);
    double y = p->logarithmic ? pow(10, ceil(log10(p->y_low))) : ceil(p->y_low / step) * step;
    for (int i = 0; y <= p->y_high && i < 20; i++, y = p->logarithmic ? y * 10 : y + step) {
        lc_svg_line(out, p->x, lc_svg_y(p, y), p->x + p->width, lc_svg_y(p, y), "grid");
        if (times)
            lc_bench_time(y, text);
        else
            snprintf(text, sizeof text, "%g", y);
        lc_svg_label(out, p->x - 4, lc_svg_y(p, y) + 3, "end small", text);
    }
}

void lc_svg_draw_frame(struct lc_strbuf *out, const struct lc_svg_frame *p, const char *title) {
    lc_svg_label(out, p->x, p->y - 6, "head", title);
    lc_strbuf_printf(out,
                     "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
                     "class=\"frame\"/>\n",
                     p->x, p->y, p->width, p->height);
}
