#include "bench/fingerprint_svg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/outfile.h"
#include "base/plural.h"
#include "base/strbuf.h"
#include "base/utf8.h"
#include "bench/fingerprint_text.h"

enum { WIDTH = 794, HEIGHT = 1123, MARGIN = 40, POINTS_MOST = 20000 };

/* By category: colours that people with any colour vision tell apart (Okabe and Ito). */
static const char *const colours[LC_CATEGORIES] = {"#cc79a7", "#e69f00", "#d55e00", "#0072b2"};

struct frame { /* a plot: where it is, and what its axes span */
    double x, y, width, height;
    double x_low, x_high, y_low, y_high;
    bool logarithmic; /* y */
};

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

static void label(struct lc_strbuf *out, double x, double y, const char *style, const char *text) {
    lc_strbuf_printf(out, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, style);
    put_text(out, text);
    lc_strbuf_puts(out, "</text>\n");
}

static void line(struct lc_strbuf *out, double x1, double y1, double x2, double y2,
                 const char *style) {
    lc_strbuf_printf(out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"%s\"/>\n",
                     x1, y1, x2, y2, style);
}

static double at_x(const struct frame *p, double x) {
    double part = (x - p->x_low) / (p->x_high - p->x_low);
    return p->x + p->width * fmin(fmax(part, 0), 1);
}

static double at_y(const struct frame *p, double y) {
    double part = p->logarithmic ? log(y / p->y_low) / log(p->y_high / p->y_low)
                                 : (y - p->y_low) / (p->y_high - p->y_low);
    return p->y + p->height * (1 - fmin(fmax(part, 0), 1));
}

/* A round step of 1, 2 or 5 for about five marks. */
static double step_for(double span) {
    double power = pow(10, floor(log10(span / 5))), part = span / 5 / power;
    return power * (part > 5 ? 10 : part > 2 ? 5 : part > 1 ? 2 : 1);
}

static void x_axis(struct lc_strbuf *out, const struct frame *p, bool times) {
    char text[32];
    double step = step_for(p->x_high - p->x_low);
    double first = ceil(p->x_low / step);
    for (int i = 0; (first + i) * step <= p->x_high; i++) {
        double x = (first + i) * step;
        line(out, at_x(p, x), p->y, at_x(p, x), p->y + p->height, "grid");
        if (times)
            lc_bench_time(x, text);
        else
            snprintf(text, sizeof text, "%.0f", x);
        label(out, at_x(p, x), p->y + p->height + 11, "mid small", text);
    }
}

static void y_axis(struct lc_strbuf *out, const struct frame *p, bool times) {
    char text[32];
    double step = p->logarithmic ? 0 : step_for(p->y_high - p->y_low);
    double y = p->logarithmic ? pow(10, ceil(log10(p->y_low))) : ceil(p->y_low / step) * step;
    for (int i = 0; y <= p->y_high && i < 20; i++, y = p->logarithmic ? y * 10 : y + step) {
        line(out, p->x, at_y(p, y), p->x + p->width, at_y(p, y), "grid");
        if (times)
            lc_bench_time(y, text);
        else
            snprintf(text, sizeof text, "%g", y);
        label(out, p->x - 4, at_y(p, y) + 3, "end small", text);
    }
}

static void frame(struct lc_strbuf *out, const struct frame *p, const char *title) {
    label(out, p->x, p->y - 6, "head", title);
    lc_strbuf_printf(out,
                     "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
                     "class=\"frame\"/>\n",
                     p->x, p->y, p->width, p->height);
}

/* Run time per repetition; of very many only those that fit on paper, and said so. */
static void plot_series(struct lc_strbuf *out, const struct lc_fingerprint *f, double y, bool all) {
    const struct lc_histogram *h = all ? &f->all : &f->zoom;
    struct frame p = {MARGIN + 50,
                      y,
                      WIDTH - 2 * MARGIN - 50,
                      130,
                      0,
                      (double)f->n,
                      h->low_ns * 0.98,
                      h->high_ns * 1.02,
                      all && h->high_ns > 4 * h->low_ns};
    size_t stride = f->n / POINTS_MOST + 1;
    char title[96];
    snprintf(title, sizeof title, "Run time per repetition, %s%s%s",
             all ? "all data" : "without outliers", p.logarithmic ? " (logarithmic)" : "",
             stride > 1 ? ", a part of the repetitions" : "");
    frame(out, &p, title);
    x_axis(out, &p, false);
    y_axis(out, &p, true);
    if (f->warmup.end != LC_NO_END)
        line(out, at_x(&p, (double)f->warmup.end), p.y, at_x(&p, (double)f->warmup.end),
             p.y + p.height, "cut");
    for (int c = LC_CATEGORIES - 1; c >= 0; c--) {
        lc_strbuf_printf(out, "<path stroke=\"%s\" class=\"dots\" d=\"", colours[c]);
        for (size_t i = 0; i < f->n; i += stride)
            if (f->category[i] == c && f->runs[i] <= h->high_ns)
                lc_strbuf_printf(out, "M%.1f %.1fh0", at_x(&p, (double)i), at_y(&p, f->runs[i]));
        lc_strbuf_puts(out, "\"/>\n");
    }
}

static void plot_histogram(struct lc_strbuf *out, const struct lc_fingerprint *f, double x,
                           double y, bool all) {
    const struct lc_histogram *h = all ? &f->all : &f->zoom;
    size_t most = 1;
    for (int i = 0; i < LC_FINGERPRINT_BINS; i++)
        most = h->counts[i] > most ? h->counts[i] : most;
    struct frame p = {
        x, y, WIDTH / 2.0 - MARGIN - 50, 110, h->low_ns, h->high_ns, 0, (double)most, false};
    frame(out, &p, all ? "Histogram, all data" : "Histogram without outliers");
    x_axis(out, &p, true);
    y_axis(out, &p, false);
    double width = p.width / LC_FINGERPRINT_BINS;
    for (int i = 0; i < LC_FINGERPRINT_BINS; i++)
        if (h->counts[i] > 0)
            lc_strbuf_printf(out,
                             "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" "
                             "fill=\"#0072b2\"/>\n",
                             p.x + i * width, at_y(&p, (double)h->counts[i]), width * 0.95,
                             p.y + p.height - at_y(&p, (double)h->counts[i]));
}

static double high_end(const struct lc_fingerprint *f) {
    double high = fmin(f->zoom.high_ns, f->box.high + 2 * (f->box.q3 - f->box.q1));
    return high > f->ascending[0] ? high : f->ascending[0] * 1.01;
}

static void plot_ecdf(struct lc_strbuf *out, const struct lc_fingerprint *f, double x, double y) {
    struct frame p = {x, y,    WIDTH / 2.0 - MARGIN - 50, 110, f->ascending[0], high_end(f), 0,
                      1, false};
    frame(out, &p, "Share of repetitions up to a run time (ECDF)");
    x_axis(out, &p, true);
    y_axis(out, &p, false);
    lc_strbuf_puts(out, "<path class=\"curve\" d=\"");
    size_t stride = f->n / 1000 + 1;
    for (size_t i = 0; i < f->n && f->ascending[i] <= p.x_high; i += stride)
        lc_strbuf_printf(out, "%s%.1f %.1f", i == 0 ? "M" : "L", at_x(&p, f->ascending[i]),
                         at_y(&p, (double)(i + 1) / (double)f->n));
    lc_strbuf_puts(out, "\"/>\n");
}

static void plot_box(struct lc_strbuf *out, const struct lc_fingerprint *f, double x, double y) {
    struct frame p = {
        x, y, WIDTH / 2.0 - MARGIN - 50, 110, f->ascending[0] * 0.99, high_end(f), 0, 1, false};
    char text[96];
    frame(out, &p, "Box plot (whiskers: 1.5 quartile distances)");
    x_axis(out, &p, true);
    double middle = p.y + p.height / 2;
    line(out, at_x(&p, f->box.low), middle, at_x(&p, f->box.high), middle, "curve");
    lc_strbuf_printf(out,
                     "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"40\" fill=\"#cfe3f2\" "
                     "stroke=\"#0072b2\"/>\n",
                     at_x(&p, f->box.q1), middle - 20,
                     fmax(at_x(&p, f->box.q3) - at_x(&p, f->box.q1), 1));
    line(out, at_x(&p, f->box.median), middle - 20, at_x(&p, f->box.median), middle + 20, "cut");
    for (int end = 0; end < 2; end++) {
        double at = at_x(&p, end == 0 ? f->box.low : f->box.high);
        line(out, at, middle - 10, at, middle + 10, "curve");
    }
    snprintf(text, sizeof text, "%zu repetition%s outside", f->box.outside,
             lc_plural((double)f->box.outside));
    label(out, p.x + p.width - 4, p.y + 12, "end small", text);
}

static void put_member(struct lc_strbuf *out, const struct lc_fingerprint *f, const char *object,
                       const char *key) {
    const json_t *value = json_object_get(json_object_get(f->about, object), key);
    if (json_is_string(value))
        lc_strbuf_puts(out, json_string_value(value));
    else if (json_is_integer(value))
        lc_strbuf_printf(out, "%lld", (long long)json_integer_value(value));
    else
        lc_strbuf_puts(out, "unknown");
}

static void put_nodes(struct lc_strbuf *out, const struct lc_fingerprint *f) {
    const json_t *nodes = json_object_get(f->about, "nodes"), *node;
    lc_strbuf_printf(out, "%u rank%s; nodes:", f->ranks, lc_plural(f->ranks));
    for (size_t i = 0; (node = json_array_get(nodes, i)) != NULL && i < 12; i++) {
        const char *name = json_string_value(json_object_get(node, "name"));
        lc_strbuf_printf(out, " %s (%zu)", name != NULL ? name : "?",
                         json_array_size(json_object_get(node, "ranks")));
    }
    lc_strbuf_puts(out, json_array_size(nodes) == 0   ? " unknown"
                        : json_array_size(nodes) > 12 ? " .."
                                                      : "");
}

static void put_parameters(struct lc_strbuf *out, const struct lc_fingerprint *f) {
    json_t *all = json_object_get(json_object_get(f->about, "mpi"), "parameters"), *value;
    const char *key;
    size_t begun = out->length;
    json_object_foreach(all, key, value) if (json_is_string(value) &&
                                             (strncmp(key, "OMPI_MCA_", 9) == 0 ||
                                              strncmp(key, "MPIR_CVAR_", 10) == 0 ||
                                              strncmp(key, "UCX_", 4) == 0) &&
                                             out->length < begun + 100)
        lc_strbuf_printf(out, "%s=%s ", key, json_string_value(value));
}

/* What stands above the plots; returns where it ends. */
static double put_head(struct lc_strbuf *out, const struct lc_fingerprint *f) {
    struct lc_strbuf text = {0};
    double y = 50;
    lc_strbuf_printf(&text, "%s, %llu byte%s", f->operation, (unsigned long long)f->bytes,
                     lc_plural((double)f->bytes));
    label(out, MARGIN, y, "title", lc_strbuf_get(&text));
    for (int row = 0; row < 4; row++) {
        lc_strbuf_clear(&text);
        if (row == 0) {
            put_nodes(&text, f);
            lc_strbuf_puts(&text, "; machine: ");
            put_member(&text, f, "machine", "processor");
        } else if (row == 1) {
            lc_strbuf_puts(&text, "MPI: ");
            put_member(&text, f, "mpi", "name");
            lc_strbuf_putc(&text, ' ');
            put_member(&text, f, "mpi", "version");
            lc_strbuf_puts(&text, "  ");
            put_parameters(&text, f);
        } else if (row == 2) {
            lc_strbuf_printf(&text, "Benchmark: %zu repetitions, ", f->n);
            put_member(&text, f, "benchmark", "invalid");
            lc_strbuf_puts(&text, " invalid, synchronised by ");
            put_member(&text, f, "benchmark", "sync");
            lc_strbuf_puts(&text, ", run time ");
            put_member(&text, f, "benchmark", "run_time");
            lc_strbuf_puts(&text, ", ");
            put_member(&text, f, "benchmark", "tool");
        } else {
            const json_t *warnings = json_object_get(f->about, "warnings"), *one;
            for (size_t i = 0; (one = json_array_get(warnings, i)) != NULL && i < 4; i++)
                lc_strbuf_printf(&text, "%s%s", i > 0 ? "; " : "Warning: ",
                                 json_is_string(one) ? json_string_value(one) : "?");
        }
        y += 14;
        label(out, MARGIN, y, row == 3 ? "warning" : "small", lc_strbuf_get(&text));
    }
    lc_strbuf_free(&text);
    return y;
}

/* Quantiles, then categories and modes. */
static void put_numbers(struct lc_strbuf *out, const struct lc_fingerprint *f, double y) {
    char text[128], time[32];
    double column = (WIDTH - 2.0 * MARGIN) / (LC_FINGERPRINT_QUANTILES + 3);
    const struct {
        const char *name;
        double value;
    } others[] = {{"min", f->ascending[0]}, {"max", f->ascending[f->n - 1]}, {"mean", f->mean}};
    for (int q = 0; q < LC_FINGERPRINT_QUANTILES; q++) {
        double left = MARGIN + column * (q + 1); /* after the least */
        snprintf(text, sizeof text, "%d %%", lc_fingerprint_percent[q]);
        label(out, left, y, "small", text);
        label(out, left, y + 14, "number", lc_bench_time(f->quantiles[q], time));
    }
    for (int i = 0; i < 3; i++) {
        double left = MARGIN + column * (i == 0 ? 0 : LC_FINGERPRINT_QUANTILES + i);
        label(out, left, y, "small", others[i].name);
        label(out, left, y + 14, "number", lc_bench_time(others[i].value, time));
    }
    double x = MARGIN;
    for (int c = 0; c < LC_CATEGORIES; c++) {
        snprintf(text, sizeof text, "%s %zu (%.1f %%)", lc_category_name((enum lc_category)c),
                 f->of[c].count, 100.0 * (double)f->of[c].count / (double)f->n);
        lc_strbuf_printf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\"/>\n", x + 4,
                         y + 29, colours[c]);
        label(out, x + 12, y + 32, "small", text);
        x += 110;
    }
    struct lc_strbuf modes = {0};
    lc_strbuf_puts(&modes, "modes:");
    for (size_t i = 0; i < f->modes.n; i++)
        lc_strbuf_printf(&modes, " %s (%.0f %%)", lc_bench_time(f->modes.mode[i].location_ns, time),
                         100 * f->modes.mode[i].weight);
    label(out, x + 12, y + 32, "small", lc_strbuf_get(&modes));
    lc_strbuf_free(&modes);
}

static const char style[] =
    "<style>text{font-family:'DejaVu Sans',Helvetica,sans-serif;fill:#222}.title{font-size:18px;"
    "font-weight:bold}.head{font-size:11px;font-weight:bold}.small{font-size:9px}.number{font-size:"
    "11px}.mid{text-anchor:middle}.end{text-anchor:end}.warning{font-size:9px;fill:#b00020;"
    "font-weight:bold}.grid{stroke:#ddd;stroke-width:.5}.frame{fill:none;stroke:#888}.cut{stroke:"
    "#222;stroke-width:1.2}.curve{stroke:#0072b2;stroke-width:1.2;fill:none}.dots{stroke-width:2;"
    "stroke-linecap:round}</style>\n";

static void draw(struct lc_strbuf *out, const struct lc_fingerprint *f) {
    lc_strbuf_printf(out,
                     "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"210mm\" height=\"297mm\" "
                     "viewBox=\"0 0 %d %d\">\n%s<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n",
                     WIDTH, HEIGHT, style, WIDTH, HEIGHT);
    double y = put_head(out, f) + 24;
    put_numbers(out, f, y);
    y += 72;
    plot_series(out, f, y, true);
    plot_series(out, f, y + 185, false);
    y += 370;
    double right = WIDTH / 2.0 + 50;
    plot_histogram(out, f, MARGIN + 50, y, true);
    plot_histogram(out, f, right, y, false);
    plot_ecdf(out, f, MARGIN + 50, y + 165);
    plot_box(out, f, right, y + 165);
    lc_strbuf_puts(out, "</svg>\n");
}

enum lc_err lc_fingerprint_svg(const struct lc_fingerprint *f, const char *file) {
    struct lc_strbuf out = {0};
    draw(&out, f);
    enum lc_err err = lc_strbuf_ok(&out)
                          ? lc_outfile_put(file, lc_strbuf_get(&out), out.length)
                          : lc_fail(LC_ERR_NOMEM, "memory: cannot draw a fingerprint");
    lc_strbuf_free(&out);
    return err;
}
