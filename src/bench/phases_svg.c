/* The third sheet of a fingerprint: the metrics by which the end of the warm-up is found, their
 * changes ([Roth 2021], figures 4.7 and 4.8), modes and patterns over time. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/plural.h"
#include "bench/cumulative.h"
#include "bench/fingerprint_svg.h"
#include "bench/fingerprint_text.h"
#include "bench/svg_plot.h"

enum { POINTS_MOST = 5000, METRICS_MOST = 8, LINE = 14 };

/* By metric: colours that people with any colour vision tell apart (Okabe and Ito). */
static const char *const colours[METRICS_MOST] = {"#009e73", "#56b4e9", "#000000", "#cc79a7",
                                                  "#e69f00", "#d55e00", "#0072b2", "#f0e442"};

struct curves {
    size_t n;
    const char *name[METRICS_MOST];
    struct lc_curve of[METRICS_MOST];
};

static enum lc_err fill(const struct lc_fingerprint *f, struct curves *curves) {
    for (const struct lc_cumulative *m = lc_cumulative; m->name != NULL; m++) {
        curves->name[curves->n] = m->name;
        LC_TRY(lc_curve_of(m, f->runs, f->n, &curves->of[curves->n]));
        if (++curves->n == METRICS_MOST)
            break;
    }
    return LC_OK;
}

static void put_curve(struct lc_strbuf *out, const struct lc_svg_frame *p, size_t metric,
                      const struct lc_curve *curve, const double *values, double unit) {
    lc_strbuf_printf(out, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"1.2\" d=\"",
                     colours[metric]);
    for (size_t k = 0; k < curve->n; k++)
        lc_strbuf_printf(out, "%s%.1f %.1f", k == 0 ? "M" : "L", lc_svg_x(p, (double)curve->at[k]),
                         lc_svg_y(p, values[k] * unit));
    lc_strbuf_puts(out, "\"/>\n");
}

static void put_end(struct lc_strbuf *out, const struct lc_svg_frame *p,
                    const struct lc_fingerprint *f) {
    double x = lc_svg_x(p, (double)f->warmup.end);
    if (f->warmup.end != LC_NO_END)
        lc_svg_line(out, x, p->y, x, p->y + p->height, "cut");
}

/* Run times as points, the metrics as lines. */
static void plot_metrics(struct lc_strbuf *out, const struct lc_fingerprint *f,
                         const struct curves *curves, double y) {
    double low = f->ascending[0], high = f->ascending[f->n - 1];
    struct lc_svg_frame p = {LC_SVG_MARGIN + 50,
                             y,
                             LC_SVG_WIDTH - 2 * LC_SVG_MARGIN - 50,
                             260,
                             0,
                             fmax((double)f->n - 1, 1),
                             low * 0.98,
                             high * 1.02,
                             high > 4 * low};
    size_t stride = f->n / POINTS_MOST + 1;
    lc_svg_draw_frame(out, &p,
                      p.logarithmic ? "Run times and metrics over repetitions (logarithmic)"
                                    : "Run times and metrics over repetitions");
    lc_svg_x_axis(out, &p, false);
    lc_svg_y_axis(out, &p, true);
    lc_strbuf_puts(out, "<path stroke=\"#ccc\" class=\"dots\" d=\"");
    for (size_t i = 0; i < f->n; i += stride)
        lc_strbuf_printf(out, "M%.1f %.1fh0", lc_svg_x(&p, (double)i), lc_svg_y(&p, f->runs[i]));
    lc_strbuf_puts(out, "\"/>\n");
    for (size_t m = 0; m < curves->n; m++)
        put_curve(out, &p, m, &curves->of[m], curves->of[m].value, 1);
    put_end(out, &p, f);
}

static void plot_changes(struct lc_strbuf *out, const struct lc_fingerprint *f,
                         const struct curves *curves, double y) {
    double low = 0, high = 0, unit = 100 / f->median.value;
    for (size_t m = 0; m < curves->n; m++)
        for (size_t k = 0; k < curves->of[m].n; k++) {
            low = fmin(low, fmax(curves->of[m].delta[k] * unit, -100));
            high = fmax(high, fmin(curves->of[m].delta[k] * unit, 100));
        }
    struct lc_svg_frame p = {
        LC_SVG_MARGIN + 50,        y,   LC_SVG_WIDTH - 2 * LC_SVG_MARGIN - 50, 260,  0,
        fmax((double)f->n - 1, 1), low, high > low ? high : low + 1,           false};
    lc_svg_draw_frame(out, &p,
                      "Change of each metric from one repetition to the next, in % of the median "
                      "(beyond 100 at the edge)");
    lc_svg_x_axis(out, &p, false);
    lc_svg_y_axis(out, &p, false);
    for (size_t m = 0; m < curves->n; m++)
        put_curve(out, &p, m, &curves->of[m], curves->of[m].delta, unit);
    put_end(out, &p, f);
}

static void put_legend(struct lc_strbuf *out, const struct curves *curves, double y) {
    for (size_t m = 0; m < curves->n; m++) {
        double x = LC_SVG_MARGIN + 50 + 130 * (double)m;
        char text[64];
        size_t i = 0;
        for (; curves->name[m][i] != '\0' && i < sizeof text - 1; i++)
            text[i] = curves->name[m][i] == '_' ? ' ' : curves->name[m][i];
        text[i] = '\0';
        lc_strbuf_printf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\"/>\n", x, y - 3,
                         colours[m]);
        lc_svg_label(out, x + 8, y, "small", text);
    }
}

/* Text as on a terminal, a line each. */
static void put_lines(struct lc_strbuf *out, const struct lc_fingerprint *f, double y) {
    const struct lc_bench_page page = {.width = 100,
                                       .utf8 = true,
                                       .bold = "",
                                       .alarm = "",
                                       .plain = "",
                                       .category = {"", "", "", ""}};
    char *text = lc_fingerprint_phases(f, &page), *rest = text;
    for (const char *line; rest != NULL && (line = strsep(&rest, "\n")) != NULL; y += LINE)
        lc_svg_label(out, LC_SVG_MARGIN, y, "number", line);
    free(text);
}

enum lc_err lc_phases_svg(const struct lc_fingerprint *f, const char *file) {
    struct lc_strbuf out = {0}, title = {0};
    struct curves *curves;
    LC_TRY(lc_alloc(&curves, 1, sizeof *curves));
    enum lc_err err = fill(f, curves);
    if (err == LC_OK) {
        lc_svg_begin(&out, 1);
        lc_strbuf_printf(&title, "%s, %llu byte%s: phases", f->operation,
                         (unsigned long long)f->bytes, lc_plural((double)f->bytes));
        lc_svg_label(&out, LC_SVG_MARGIN, 50, "title", lc_strbuf_get(&title));
        lc_strbuf_free(&title);
        put_legend(&out, curves, 75);
        plot_metrics(&out, f, curves, 100);
        plot_changes(&out, f, curves, 410);
        put_lines(&out, f, 720);
        err = lc_svg_write(&out, file);
    }
    free(curves);
    return err;
}
