/* The second sheet of a fingerprint: ranks; counters over repetitions and against the run time;
 * parameters. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/fingerprint_svg.h"
#include "bench/fingerprint_text.h"
#include "bench/svg_plot.h"

enum { RANKS_MOST = 24, COUNTERS_MOST = 40, POINTS_MOST = 5000, LINE = 10, COUNTER = 145 };

static double number_at(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

/* Each rank's own run times; returns where the plot ends. */
static double plot_ranks(struct lc_strbuf *out, const struct lc_fingerprint *f, double y) {
    const json_t *ranks = json_object_get(f->about, "per_rank"), *rank;
    size_t n = json_array_size(ranks), shown = n < RANKS_MOST ? n : RANKS_MOST;
    double low = INFINITY, high = 0;
    char text[128];
    for (size_t i = 0; i < shown; i++) {
        low = fmin(low, number_at(json_array_get(ranks, i), "min_ns"));
        high = fmax(high, number_at(json_array_get(ranks, i), "q95_ns"));
    }
    if (!(high > low))
        return y;
    struct lc_svg_frame p = {LC_SVG_MARGIN + 50,
                             y,
                             LC_SVG_WIDTH - 2 * LC_SVG_MARGIN - 50,
                             12.0 * (double)shown + 8,
                             low,
                             high,
                             0,
                             1,
                             false};
    snprintf(text, sizeof text,
             "Run time of %s%zu ranks: from the least to 95 %%, median across; how often the rank "
             "left last",
             shown < n ? "the first " : "", shown);
    lc_svg_draw_frame(out, &p, text);
    lc_svg_x_axis(out, &p, true);
    for (size_t i = 0; i < shown; i++) {
        double middle = y + 10 + 12 * (double)i;
        rank = json_array_get(ranks, i);
        double median = lc_svg_x(&p, number_at(rank, "median_ns"));
        lc_svg_line(out, lc_svg_x(&p, number_at(rank, "min_ns")), middle,
                    lc_svg_x(&p, number_at(rank, "q95_ns")), middle, "curve");
        lc_svg_line(out, median, middle - 4, median, middle + 4, "cut");
        snprintf(text, sizeof text, "rank %zu", i);
        lc_svg_label(out, p.x - 4, middle + 3, "end small", text);
        snprintf(text, sizeof text, "%.0f %%", 100 * number_at(rank, "last_share"));
        lc_svg_label(out, p.x + p.width - 4, middle + 3, "end small", text);
    }
    return y + p.height + 45;
}

struct chosen {
    const char *name;
    const json_t *counter;
    double weight; /* the largest coefficient, without sign */
};

static bool varies(const json_t *values) {
    for (size_t i = 1; i < json_array_size(values); i++)
        if (!json_equal(json_array_get(values, i), json_array_get(values, 0)))
            return true;
    return false;
}

/* Those that go with the run time most, first; returns how many. */
static size_t choose(const struct lc_fingerprint *f, struct chosen *list) {
    json_t *counters = json_object_get(f->about, "counters"), *counter, *value;
    const char *name, *group;
    size_t n = 0;
    json_object_foreach(counters, name, counter) {
        struct chosen one = {name, counter, 0};
        json_object_foreach(json_object_get(counter, "spearman"), group, value) one.weight =
            json_is_number(value) ? fmax(one.weight, fabs(json_number_value(value))) : one.weight;
        size_t at = n;
        while (at > 0 && list[at - 1].weight < one.weight)
            at--;
        if (!varies(json_object_get(counter, "values")) || at == COUNTERS_MOST)
            continue;
        n = n < COUNTERS_MOST ? n + 1 : n;
        memmove(list + at + 1, list + at, (n - at - 1) * sizeof list[0]);
        list[at] = one;
    }
    return n;
}

/* The repetitions that a counter has values of. */
struct points {
    const json_t *values, *runs, *at, *category; /* all but values NULL: those that count */
    const struct lc_fingerprint *f;
    size_t n;
};

static struct points points_of(const struct lc_fingerprint *f, const json_t *counter) {
    const char *series = json_string_value(json_object_get(counter, "series"));
    const json_t *counted = json_object_get(f->about, "counted");
    struct points p = {.values = json_object_get(counter, "values"), .f = f, .n = f->n};
    if (series != NULL && strcmp(series, "counted") == 0) {
        p.runs = json_object_get(counted, "runs_ns");
        p.at = json_object_get(counted, "at");
        p.category = json_object_get(counted, "category");
        p.n = json_array_size(p.runs);
    }
    p.n = json_array_size(p.values) < p.n ? json_array_size(p.values) : p.n;
    return p;
}

static double value_of(const struct points *p, size_t i) {
    return json_number_value(json_array_get(p->values, i));
}

static double run_of(const struct points *p, size_t i) {
    return p->runs != NULL ? json_number_value(json_array_get(p->runs, i)) : p->f->runs[i];
}

static double place_of(const struct points *p, size_t i) {
    return p->runs != NULL ? json_number_value(json_array_get(p->at, i)) : (double)i;
}

static bool is_of(const struct points *p, size_t i, enum lc_category category) {
    if (p->runs == NULL)
        return p->f->category[i] == category;
    const char *name = json_string_value(json_array_get(p->category, i));
    return name != NULL && strcmp(name, lc_category_name(category)) == 0;
}

/* One point per repetition, in the colours of categories, good ones below. */
static void draw_points(struct lc_strbuf *out, const struct lc_svg_frame *frame,
                        const struct points *p, double (*x)(const struct points *, size_t),
                        double (*y)(const struct points *, size_t)) {
    size_t stride = p->n / POINTS_MOST + 1;
    for (int c = LC_CATEGORIES - 1; c >= 0; c--) {
        lc_strbuf_printf(out, "<path stroke=\"%s\" class=\"dots\" d=\"", lc_svg_colours[c]);
        for (size_t i = 0; i < p->n; i += stride)
            if (is_of(p, i, (enum lc_category)c))
                lc_strbuf_printf(out, "M%.1f %.1fh0", lc_svg_x(frame, x(p, i)),
                                 lc_svg_y(frame, y(p, i)));
        lc_strbuf_puts(out, "\"/>\n");
    }
}

/* "Spearman: all +0.11, good +0.02; Pearson: .." */
static void put_coefficients(const json_t *counter, struct lc_strbuf *text) {
    static const char *const kinds[][2] = {{"spearman", "Spearman:"}, {"pearson", "   Pearson:"}};
    const char *group;
    json_t *value;
    for (int k = 0; k < 2; k++) {
        lc_strbuf_puts(text, kinds[k][1]);
        json_object_foreach(json_object_get(counter, kinds[k][0]), group,
                            value) if (json_is_number(value))
            lc_strbuf_printf(text, " %s %+.2f", group, json_number_value(value));
    }
}

static void plot_counter(struct lc_strbuf *out, const struct lc_fingerprint *f,
                         const struct chosen *chosen, double y) {
    struct points p = points_of(f, chosen->counter);
    double most = 0, low = INFINITY, high = 0, width = LC_SVG_WIDTH / 2.0 - LC_SVG_MARGIN - 50;
    struct lc_strbuf text = {0};
    for (size_t i = 0; i < p.n; i++) {
        most = fmax(most, value_of(&p, i));
        low = fmin(low, run_of(&p, i));
        high = fmax(high, run_of(&p, i));
    }
    if (!(most > 0 && high > 0))
        return;
    struct lc_svg_frame course = {LC_SVG_MARGIN + 50, y, width,       90,   0,
                                  (double)f->n,       0, most * 1.05, false};
    struct lc_svg_frame against = {
        LC_SVG_WIDTH / 2.0 + 50,  y, width, 90, 0, most * 1.05, low * 0.98, high * 1.02,
        high > 4 * low && low > 0};
    lc_strbuf_printf(&text, "%s over repetitions", chosen->name);
    lc_svg_draw_frame(out, &course, lc_strbuf_get(&text));
    lc_svg_x_axis(out, &course, false);
    lc_svg_y_axis(out, &course, false);
    draw_points(out, &course, &p, place_of, value_of);
    lc_svg_draw_frame(out, &against, "Run time against it");
    lc_svg_x_axis(out, &against, false);
    lc_svg_y_axis(out, &against, true);
    draw_points(out, &against, &p, value_of, run_of);
    lc_strbuf_clear(&text);
    put_coefficients(chosen->counter, &text);
    lc_svg_label(out, LC_SVG_MARGIN + 50, y + 115, "small", lc_strbuf_get(&text));
    lc_strbuf_free(&text);
}

/* A name and its value in as much room as there is; what is cut is whole in the JSON. */
static void put_setting(struct lc_strbuf *out, double x, double y, const char *key,
                        const char *value) {
    enum { KEY = 44, VALUE = 30 };
    char text[128];
    snprintf(text, sizeof text, "%.*s%s = %.*s%s", KEY, key, strlen(key) > KEY ? ".." : "", VALUE,
             value, strlen(value) > VALUE ? ".." : "");
    lc_svg_label(out, x, y, "small", text);
}

/* A setting of the benchmark as text; false: it has parts, or none. */
static bool setting_text(const json_t *value, char text[64]) {
    if (json_is_string(value))
        snprintf(text, 64, "%s", json_string_value(value));
    else if (json_is_boolean(value))
        snprintf(text, 64, "%s", json_is_true(value) ? "yes" : "no");
    else if (json_is_number(value))
        snprintf(text, 64, "%.10g", json_number_value(value));
    else
        return false;
    return true;
}

/* Those of the benchmark, all of the MPI, and variables, in two columns, from y on the page on;
 * further pages where there is no room. Returns how many pages there are. */
static int put_parameters(struct lc_strbuf *out, const struct lc_fingerprint *f, int page,
                          double y) {
    json_t *all[] = {json_object_get(f->about, "benchmark"),
                     json_object_get(json_object_get(f->about, "mpi"), "parameters"),
                     json_object_get(f->about, "environment")},
           *value;
    const char *key;
    char set[64];
    double top = y, bottom = page * LC_SVG_HEIGHT - LC_SVG_MARGIN, x = LC_SVG_MARGIN;
    if (json_object_size(all[0]) + json_object_size(all[1]) + json_object_size(all[2]) == 0)
        return page;
    if (y < bottom)
        lc_svg_label(out, x, y - 4, "head",
                     "Settings of the benchmark, parameters of the MPI, variables");
    for (int i = 0; i < 3; i++)
        json_object_foreach(all[i], key, value) {
            if (!setting_text(value, set))
                continue;
            y += LINE;
            while (y > bottom) { /* the other column, then the next page */
                bool right = x > LC_SVG_MARGIN;
                page += right;
                top = right ? (page - 1) * LC_SVG_HEIGHT + LC_SVG_MARGIN : top;
                bottom = page * LC_SVG_HEIGHT - LC_SVG_MARGIN;
                x = LC_SVG_MARGIN + (right ? 0 : LC_SVG_WIDTH / 2.0 - LC_SVG_MARGIN);
                y = top + LINE;
            }
            put_setting(out, x, y, key, set);
        }
    return page;
}

static int draw_details(struct lc_strbuf *out, const struct lc_fingerprint *f) {
    struct lc_strbuf title = {0};
    struct chosen chosen[COUNTERS_MOST + 1];
    double y = 50;
    int page = 1;
    lc_strbuf_printf(&title, "%s, %llu bytes: ranks, counters, parameters", f->operation,
                     (unsigned long long)f->bytes);
    lc_svg_label(out, LC_SVG_MARGIN, y, "title", lc_strbuf_get(&title));
    lc_strbuf_free(&title);
    y = plot_ranks(out, f, y + 35);
    size_t n = choose(f, chosen);
    for (size_t i = 0; i < n; i++, y += COUNTER) {
        if (y + COUNTER > page * LC_SVG_HEIGHT)
            y = page++ * LC_SVG_HEIGHT + LC_SVG_MARGIN + 20;
        plot_counter(out, f, &chosen[i], y);
    }
    return put_parameters(out, f, page, y + LINE);
}

enum lc_err lc_details_svg(const struct lc_fingerprint *f, const char *file) {
    struct lc_strbuf out = {0}, body = {0};
    lc_svg_begin(&out, draw_details(&body, f));
    if (lc_strbuf_ok(&body))
        lc_strbuf_add(&out, lc_strbuf_get(&body), body.length);
    bool whole = lc_strbuf_ok(&body);
    lc_strbuf_free(&body);
    if (whole)
        return lc_svg_write(&out, file);
    lc_strbuf_free(&out);
    return lc_fail(LC_ERR_NOMEM, "memory: cannot draw a fingerprint");
}
