#include "bench/fingerprint_svg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/plural.h"
#include "base/strbuf.h"
#include "bench/fingerprint_text.h"
#include "bench/svg_plot.h"

enum { POINTS_MOST = 20000 };

/* Run time per repetition; of very many only those that fit on paper, and said so. */
static void plot_series(struct lc_strbuf *out, const struct lc_fingerprint *f, double y, bool all) {
    const struct lc_histogram *h = all ? &f->all : &f->zoom;
    struct lc_svg_frame p = {LC_SVG_MARGIN + 50,
                             y,
                             LC_SVG_WIDTH - 2 * LC_SVG_MARGIN - 50,
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
    lc_svg_draw_frame(out, &p, title);
    lc_svg_x_axis(out, &p, false);
    lc_svg_y_axis(out, &p, true);
    if (f->warmup.end != LC_NO_END)
        lc_svg_line(out, lc_svg_x(&p, (double)f->warmup.end), p.y,
                    lc_svg_x(&p, (double)f->warmup.end), p.y + p.height, "cut");
    for (int c = LC_CATEGORIES - 1; c >= 0; c--) {
        lc_strbuf_printf(out, "<path stroke=\"%s\" class=\"dots\" d=\"", lc_svg_colours[c]);
        for (size_t i = 0; i < f->n; i += stride)
            if (f->category[i] == c && f->runs[i] <= h->high_ns)
                lc_strbuf_printf(out, "M%.1f %.1fh0", lc_svg_x(&p, (double)i),
                                 lc_svg_y(&p, f->runs[i]));
        lc_strbuf_puts(out, "\"/>\n");
    }
}

static void plot_histogram(struct lc_strbuf *out, const struct lc_fingerprint *f, double x,
                           double y, bool all) {
    const struct lc_histogram *h = all ? &f->all : &f->zoom;
    size_t most = 1;
    for (int i = 0; i < LC_FINGERPRINT_BINS; i++)
        most = h->counts[i] > most ? h->counts[i] : most;
    struct lc_svg_frame p = {x,
                             y,
                             LC_SVG_WIDTH / 2.0 - LC_SVG_MARGIN - 50,
                             110,
                             h->low_ns,
                             h->high_ns,
                             0,
                             (double)most,
                             false};
    lc_svg_draw_frame(out, &p, all ? "Histogram, all data" : "Histogram without outliers");
    lc_svg_x_axis(out, &p, true);
    lc_svg_y_axis(out, &p, false);
    double width = p.width / LC_FINGERPRINT_BINS;
    for (int i = 0; i < LC_FINGERPRINT_BINS; i++) {
        size_t below = 0; /* good ones at the bottom, the others on them */
        for (int c = LC_CATEGORIES - 1; c >= 0; c--) {
            double low = lc_svg_y(&p, (double)below);
            below += h->of[i][c];
            double high = lc_svg_y(&p, (double)below);
            if (h->of[i][c] > 0)
                lc_strbuf_printf(out,
                                 "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" "
                                 "fill=\"%s\"/>\n",
                                 p.x + i * width, high, width * 0.95, low - high,
                                 lc_svg_colours[c]);
        }
    }
}

static double high_end(const struct lc_fingerprint *f) {
    double high = fmin(f->zoom.high_ns, f->box.high + 2 * (f->box.q3 - f->box.q1));
    return high > f->ascending[0] ? high : f->ascending[0] * 1.01;
}

static void plot_ecdf(struct lc_strbuf *out, const struct lc_fingerprint *f, double x, double y) {
    struct lc_svg_frame p = {
        x, y,    LC_SVG_WIDTH / 2.0 - LC_SVG_MARGIN - 50, 110, f->ascending[0], high_end(f), 0,
        1, false};
    lc_svg_draw_frame(out, &p, "Share of repetitions up to a run time (ECDF)");
    lc_svg_x_axis(out, &p, true);
    lc_svg_y_axis(out, &p, false);
    lc_strbuf_puts(out, "<path class=\"curve\" d=\"");
    size_t stride = f->n / 1000 + 1;
    for (size_t i = 0; i < f->n && f->ascending[i] <= p.x_high; i += stride)
        lc_strbuf_printf(out, "%s%.1f %.1f", i == 0 ? "M" : "L", lc_svg_x(&p, f->ascending[i]),
                         lc_svg_y(&p, (double)(i + 1) / (double)f->n));
    lc_strbuf_puts(out, "\"/>\n");
}

static void plot_box(struct lc_strbuf *out, const struct lc_fingerprint *f, double x, double y) {
    struct lc_svg_frame p = {x,
                             y,
                             LC_SVG_WIDTH / 2.0 - LC_SVG_MARGIN - 50,
                             110,
                             f->ascending[0] * 0.99,
                             high_end(f),
                             0,
                             1,
                             false};
    char text[96];
    lc_svg_draw_frame(out, &p, "Box plot (whiskers: 1.5 quartile distances)");
    lc_svg_x_axis(out, &p, true);
    double middle = p.y + p.height / 2;
    lc_svg_line(out, lc_svg_x(&p, f->box.low), middle, lc_svg_x(&p, f->box.high), middle, "curve");
    lc_strbuf_printf(out,
                     "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"40\" fill=\"#cfe3f2\" "
                     "stroke=\"#0072b2\"/>\n",
                     lc_svg_x(&p, f->box.q1), middle - 20,
                     fmax(lc_svg_x(&p, f->box.q3) - lc_svg_x(&p, f->box.q1), 1));
    lc_svg_line(out, lc_svg_x(&p, f->box.median), middle - 20, lc_svg_x(&p, f->box.median),
                middle + 20, "cut");
    for (int end = 0; end < 2; end++) {
        double at = lc_svg_x(&p, end == 0 ? f->box.low : f->box.high);
        lc_svg_line(out, at, middle - 10, at, middle + 10, "curve");
    }
    snprintf(text, sizeof text, "%zu repetition%s outside", f->box.outside,
             lc_plural((double)f->box.outside));
    lc_svg_label(out, p.x + p.width - 4, p.y + 12, "end small", text);
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
    size_t n = json_array_size(nodes), least = SIZE_MAX, most = 0;
    for (size_t i = 0; i < n; i++) {
        size_t tasks = json_array_size(json_object_get(json_array_get(nodes, i), "ranks"));
        least = tasks < least ? tasks : least;
        most = tasks > most ? tasks : most;
    }
    lc_strbuf_printf(out, "%u rank%s", f->ranks, lc_plural(f->ranks));
    if (n > 0 && least == most)
        lc_strbuf_printf(out, " on %zu node%s, %zu per node; nodes:", n, lc_plural((double)n),
                         most);
    else if (n > 0)
        lc_strbuf_printf(out, " on %zu nodes, %zu to %zu per node; nodes:", n, least, most);
    else
        lc_strbuf_puts(out, "; nodes:");
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
    lc_svg_label(out, LC_SVG_MARGIN, y, "title", lc_strbuf_get(&text));
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
        lc_svg_label(out, LC_SVG_MARGIN, y, row == 3 ? "warning" : "small", lc_strbuf_get(&text));
    }
    lc_strbuf_free(&text);
    return y;
}

/* Quantiles, then categories and modes. */
static void put_numbers(struct lc_strbuf *out, const struct lc_fingerprint *f, double y) {
    char text[128], time[32];
    double column = (LC_SVG_WIDTH - 2.0 * LC_SVG_MARGIN) / (LC_FINGERPRINT_QUANTILES + 3);
    const struct {
        const char *name;
        double value;
    } others[] = {{"min", f->ascending[0]}, {"max", f->ascending[f->n - 1]}, {"mean", f->mean}};
    for (int q = 0; q < LC_FINGERPRINT_QUANTILES; q++) {
        double left = LC_SVG_MARGIN + column * (q + 1); /* after the least */
        snprintf(text, sizeof text, "%d %%", lc_fingerprint_percent[q]);
        lc_svg_label(out, left, y, "small", text);
        lc_svg_label(out, left, y + 14, "number", lc_bench_time(f->quantiles[q], time));
    }
    for (int i = 0; i < 3; i++) {
        double left = LC_SVG_MARGIN + column * (i == 0 ? 0 : LC_FINGERPRINT_QUANTILES + i);
        lc_svg_label(out, left, y, "small", others[i].name);
        lc_svg_label(out, left, y + 14, "number", lc_bench_time(others[i].value, time));
    }
    double x = LC_SVG_MARGIN;
    for (int c = 0; c < LC_CATEGORIES; c++) {
        snprintf(text, sizeof text, "%s %zu (%.1f %%)", lc_category_name((enum lc_category)c),
                 f->of[c].count, 100.0 * (double)f->of[c].count / (double)f->n);
        lc_strbuf_printf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\"/>\n", x + 4,
                         y + 29, lc_svg_colours[c]);
        lc_svg_label(out, x + 12, y + 32, "small", text);
        x += 110;
    }
    struct lc_strbuf modes = {0};
    lc_strbuf_puts(&modes, "modes:");
    for (size_t i = 0; i < f->modes.n; i++)
        lc_strbuf_printf(&modes, " %s (%.0f %%)", lc_bench_time(f->modes.mode[i].location_ns, time),
                         100 * f->modes.mode[i].weight);
    lc_svg_label(out, x + 12, y + 32, "small", lc_strbuf_get(&modes));
    lc_strbuf_free(&modes);
}

static void draw(struct lc_strbuf *out, const struct lc_fingerprint *f) {
    lc_svg_begin(out, 1);
    double y = put_head(out, f) + 24;
    put_numbers(out, f, y);
    y += 72;
    plot_series(out, f, y, true);
    plot_series(out, f, y + 185, false);
    y += 370;
    double right = LC_SVG_WIDTH / 2.0 + 50;
    plot_histogram(out, f, LC_SVG_MARGIN + 50, y, true);
    plot_histogram(out, f, right, y, false);
    plot_ecdf(out, f, LC_SVG_MARGIN + 50, y + 165);
    plot_box(out, f, right, y + 165);
}

enum lc_err lc_fingerprint_svg(const struct lc_fingerprint *f, const char *file) {
    struct lc_strbuf out = {0};
    draw(&out, f);
    return lc_svg_write(&out, file);
}
