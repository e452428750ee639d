#include "bench/fingerprint_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "base/stats.h"
#include "base/utf8.h"
#include "bench/canvas.h"
#include "bench/operation_size.h"

/* What chance makes less often than this (p) is told. */
#define LC_SHOWN_BELOW 0.001
/* Call paths with a smaller share of the time are in the JSON only. */
#define LC_SHARE_SHOWN 0.02

enum { LABEL = 12, PLOT_ROWS = 6, BARS = 10 };

const char *const lc_bench_terminal_colours[LC_CATEGORIES] = {"\033[35m", "\033[33m", "\033[31m",
                                                              "\033[34m"};

const char *lc_bench_time(double ns, char buffer[32]) {
    if (fabs(ns) >= 1e9)
        snprintf(buffer, 32, "%.4g s", ns / 1e9);
    else if (fabs(ns) >= 1e6)
        snprintf(buffer, 32, "%.4g ms", ns / 1e6);
    else if (fabs(ns) >= 1e3)
        snprintf(buffer, 32, "%.4g us", ns / 1e3);
    else
        snprintf(buffer, 32, "%.4g ns", ns);
    return buffer;
}

static void heading(const struct lc_bench_page *page, const char *title, const char *remark) {
    fprintf(page->out, "\n%s%s%s%s%s\n", page->bold, title, page->plain, *remark ? "  " : "",
            remark);
}

static void print_printable(const struct lc_bench_page *page, const char *text) {
    struct lc_strbuf out = {0};
    lc_put_printable(&out, text);
    fputs(lc_strbuf_get(&out), page->out);
    lc_strbuf_free(&out);
}

static const char *text_at(const json_t *about, const char *object, const char *key) {
    const char *text = json_string_value(json_object_get(json_object_get(about, object), key));
    return text != NULL ? text : "";
}

/* "1000 repetitions"; of fewer than wanted why: "65 of 1000 repetitions (its time was over)". */
static void print_repetitions(const struct lc_fingerprint *f, const json_t *benchmark,
                              const struct lc_bench_page *page) {
    static const char *const ends[][2] = {{"time", "its time was over"},
                                          {"precision", "precise enough"},
                                          {"interrupted", "interrupted"},
                                          {"the job died", "the job died"}};
    const json_t *wanted = json_object_get(benchmark, "repetitions_wanted");
    const char *stopped = text_at(f->about, "benchmark", "stopped");
    bool fewer = (double)f->n < json_number_value(wanted);
    fprintf(page->out, ", %zu", f->n);
    if (fewer)
        fprintf(page->out, " of %lld", (long long)json_integer_value(wanted));
    fputs(" repetitions", page->out);
    for (size_t i = 0; fewer && i < sizeof ends / sizeof ends[0]; i++)
        if (strcmp(stopped, ends[i][0]) == 0)
            fprintf(page->out, " (%s)", ends[i][1]);
}

/* "2 ranks on 1 node, Open MPI 4.1.4, 1000 repetitions, roundtime (12 invalid, done again)" */
static void print_setting(const struct lc_fingerprint *f, const struct lc_bench_page *page) {
    const json_t *benchmark = json_object_get(f->about, "benchmark");
    const char *mpi = text_at(f->about, "mpi", "name");
    const char *sync = text_at(f->about, "benchmark", "sync");
    size_t nodes = json_array_size(json_object_get(f->about, "nodes"));
    fprintf(page->out, "  %u rank%s", f->ranks, lc_plural(f->ranks));
    if (nodes > 0)
        fprintf(page->out, " on %zu node%s", nodes, lc_plural((double)nodes));
    if (*mpi != '\0') {
        fputs(", ", page->out);
        print_printable(page, mpi);
        fputc(' ', page->out);
        print_printable(page, text_at(f->about, "mpi", "version"));
    }
    print_repetitions(f, benchmark, page);
    if (*sync != '\0') {
        long long invalid = (long long)json_integer_value(json_object_get(benchmark, "invalid"));
        fputs(", ", page->out);
        print_printable(page, sync);
        if (invalid > 0)
            fprintf(page->out, " (%lld invalid, done again)", invalid);
    }
    fputc('\n', page->out);
    const json_t *warnings = json_object_get(f->about, "warnings"), *warning;
    for (size_t i = 0; (warning = json_array_get(warnings, i)) != NULL; i++) {
        if (!json_is_string(warning))
            continue;
        fprintf(page->out, "  %s!%s ", page->alarm, page->plain);
        print_printable(page, json_string_value(warning));
        fputc('\n', page->out);
    }
}

static void print_quantiles(const struct lc_fingerprint *f, const struct lc_bench_page *page) {
    char text[32], low[32], high[32];
    fprintf(page->out, "  median %s%s%s, 95 %% interval %s to %s", page->bold,
            lc_bench_time(f->median.value, text), page->plain, lc_bench_time(f->median.low, low),
            lc_bench_time(f->median.high, high));
    fprintf(page->out, "; tells as much as %.0f independent repetitions\n\n", f->median.effective);
    fprintf(page->out, "  %9s", "min");
    for (int q = 0; q < LC_FINGERPRINT_QUANTILES; q++)
        fprintf(page->out, " %7d %%", lc_fingerprint_percent[q]);
    fprintf(page->out, " %9s %9s\n  %9s", "max", "mean", lc_bench_time(f->ascending[0], text));
    for (int q = 0; q < LC_FINGERPRINT_QUANTILES; q++)
        fprintf(page->out, " %9s", lc_bench_time(f->quantiles[q], text));
    fprintf(page->out, " %9s", lc_bench_time(f->ascending[f->n - 1], text));
    fprintf(page->out, " %9s\n", lc_bench_time(f->mean, text));
}

/* "  a repetition takes 3.99 us from start to start; ranks begin 10 ns apart (95 %: 40 ns)" */
static void print_starts(const struct lc_fingerprint *f, const struct lc_bench_page *page) {
    const json_t *benchmark = json_object_get(f->about, "benchmark"),
                 *skew = json_object_get(benchmark, "start_skew_ns"),
                 *apart =
                     json_object_get(json_object_get(benchmark, "start_to_start_ns"), "median");
    char whole[32], median[32], tail[32];
    if (json_is_number(apart) && json_is_object(skew))
        fprintf(page->out,
                "  a repetition takes %s from start to start; ranks begin %s apart (95 %%: %s)\n",
                lc_bench_time(json_number_value(apart), whole),
                lc_bench_time(json_number_value(json_object_get(skew, "median")), median),
                lc_bench_time(json_number_value(json_object_get(skew, "q95")), tail));
}

/* The median without the benchmark itself, where it was asked for. */
static void print_less_empty(const struct lc_fingerprint *f, const struct lc_bench_page *page) {
    const json_t *benchmark = json_object_get(f->about, "benchmark"),
                 *less = json_object_get(benchmark, "median_less_empty_ns"),
                 *ci = json_object_get(benchmark, "median_less_empty_ci_ns");
    char text[32], empty[32], low[32], high[32];
    if (!json_is_number(less))
        return;
    fprintf(page->out, "  less `empty` (%s): median %s, 95 %% interval %s to %s\n",
            lc_bench_time(json_number_value(json_object_get(benchmark, "empty_ns")), empty),
            lc_bench_time(json_number_value(less), text),
            lc_bench_time(json_number_value(json_array_get(ci, 0)), low),
            lc_bench_time(json_number_value(json_array_get(ci, 1)), high));
}

/* Of a nonblocking operation beside which ranks compute. */
static void print_overlap(const struct lc_fingerprint *f, const struct lc_bench_page *page) {
    const json_t *benchmark = json_object_get(f->about, "benchmark"),
                 *share = json_object_get(benchmark, "overlap_share"),
                 *ci = json_object_get(benchmark, "overlap_share_ci");
    char text[32];
    if (!json_is_number(share))
        return;
    fprintf(
        page->out,
        "\n  overlap: %.0f %% (95 %% interval %.0f to %.0f %%) of the %s that it takes alone "
        "pass while ranks compute as long\n",
        100 * json_number_value(share), 100 * json_number_value(json_array_get(ci, 0)),
        100 * json_number_value(json_array_get(ci, 1)),
        lc_bench_time(strtod(text_at(f->about, "benchmark", "overlap_compute_ns"), NULL), text));
}

static void print_categories(const struct lc_fingerprint *f, const struct lc_bench_page *page) {
    char text[32];
    heading(page, "Phases", "");
    if (f->warmup.end != LC_NO_END && f->warmup.fall > 0) {
        double fall = f->warmup.step * f->median.value, from = fall / f->warmup.fall;
        fprintf(page->out, "  warm-up ends at repetition %lld: the level falls from %s",
                (long long)f->warmup.end, lc_bench_time(from, text));
        fprintf(page->out, " to %s\n", lc_bench_time(from - fall, text));
    } else if (f->warmup.raw_end != LC_NO_END)
        fprintf(page->out,
                "  no warm-up: the fall of the minimum at repetition %lld is no change of level\n",
                (long long)f->warmup.raw_end);
    else
        fputs("  no warm-up\n", page->out);
    const json_t *late = json_object_get(json_object_get(f->about, "benchmark"), "late_first");
    if (json_integer_value(late) > 0)
        fprintf(page->out,
                "  left out: %lld before the first that counts, which began late and may have been "
                "part of a warm-up (with --sync barrier all count)\n",
                (long long)json_integer_value(late));
    for (int c = 0; c < LC_CATEGORIES; c++)
        if (f->of[c].count > 0)
            fprintf(page->out, "  %s%-8s%s %7zu  %5.1f %%  median %s\n", page->category[c],
                    lc_category_name((enum lc_category)c), *page->category[c] ? page->plain : "",
                    f->of[c].count, 100.0 * (double)f->of[c].count / (double)f->n,
                    lc_bench_time(f->of[c].median, text));
    fputs("  modes:", page->out);
    for (size_t i = 0; i < f->modes.n; i++)
        fprintf(page->out, "%s %s (%.0f %%)", i > 0 ? "," : "",
                lc_bench_time(f->modes.mode[i].location_ns, text), 100 * f->modes.mode[i].weight);
    for (size_t i = 0; i < f->modes.n && f->modes.n > 1; i++)
        fprintf(page->out, "%s %.3g",
                i > 0 ? "," : "\n  repetitions in succession in each:", f->modes.mode[i].dwell);
    fputs(f->n_change_points > 0 ? "\n  level changes at repetition " : "\n  level changes nowhere",
          page->out);
    for (size_t i = 0; i < f->n_change_points && i < 10; i++)
        fprintf(page->out, "%s%zu", i > 0 ? ", " : "", f->change_points[i]);
    fputs(f->n_change_points > 10 ? ", ..\n" : "\n", page->out);
}

/* What comes again, and outliers that come together. */
static void print_patterns(const struct lc_fingerprint *f, const struct lc_bench_page *page) {
    const struct lc_patterns *p = &f->patterns;
    if (p->period > 0)
        fprintf(page->out, "  period: %zu repetitions (autocorrelation %.2f)\n", p->period,
                p->autocorrelation);
    if (p->clusters_p < LC_SHOWN_BELOW)
        fprintf(page->out,
                "  outliers come together: %zu in %zu cluster%s, %zu in the largest (by chance "
                "about %.0f clusters)\n",
                p->outliers, p->clusters, lc_plural((double)p->clusters), p->largest,
                p->clusters_by_chance);
}

char *lc_fingerprint_phases(const struct lc_fingerprint *f, const struct lc_bench_page *page) {
    struct lc_bench_page to = *page;
    char *text = NULL;
    size_t length;
    to.out = open_memstream(&text, &length);
    if (to.out == NULL)
        return NULL;
    print_categories(f, &to);
    print_patterns(f, &to);
    fclose(to.out);
    return text;
}

/* A canvas with times at its left. */
static void print_canvas(const struct lc_canvas *canvas, double low, double high,
                         const struct lc_bench_page *page) {
    struct lc_strbuf line = {0};
    char text[32];
    for (size_t row = 0; row < canvas->rows; row++) {
        const char *label = row == 0                  ? lc_bench_time(high, text)
                            : row + 1 == canvas->rows ? lc_bench_time(low, text)
                                                      : "";
        lc_strbuf_clear(&line);
        lc_canvas_put_row(canvas, row, page->category, page->plain, &line);
        fprintf(page->out, "%*s %s%s\n", LABEL - 1, label, page->utf8 ? "│" : "|",
                lc_strbuf_get(&line));
    }
    lc_strbuf_free(&line);
}

/* Run time over repetitions; logarithmic where all data span more than a factor of four. */
static enum lc_err print_series(const struct lc_fingerprint *f, const struct lc_bench_page *page,
                                bool all) {
    const struct lc_histogram *h = all ? &f->all : &f->zoom;
    struct lc_canvas canvas;
    LC_TRY(lc_canvas_new(&canvas, page->width - LABEL - 2, PLOT_ROWS, page->utf8));
    bool logarithmic = h->high_ns > 4 * h->low_ns;
    for (size_t i = 0; i < f->n; i++) {
        if (f->runs[i] > h->high_ns)
            continue;
        double y = logarithmic ? log(f->runs[i] / h->low_ns) / log(h->high_ns / h->low_ns)
                               : (f->runs[i] - h->low_ns) / (h->high_ns - h->low_ns);
        lc_canvas_set(&canvas, ((double)i + 0.5) / (double)f->n, y, f->category[i]);
    }
    heading(page, all ? "Run time per repetition" : "The same without outliers",
            logarithmic ? "(logarithmic)" : "");
    print_canvas(&canvas, h->low_ns, h->high_ns, page);
    lc_canvas_free(&canvas);
    return LC_OK;
}

struct bar {
    size_t all, of[LC_CATEGORIES];
};

/* The category at a share of a bar: good ones at its beginning, the others behind them. */
static int category_at(const struct bar *bar, double share) {
    double below = 0;
    for (int c = LC_CATEGORIES - 1; c > 0; c--) {
        below += (double)bar->of[c];
        if (share * (double)bar->all < below)
            return c;
    }
    return 0;
}

/* Each character has the colour of the category in its middle. */
static void put_bar(const struct bar *bar, size_t most, const struct lc_bench_page *page,
                    struct lc_strbuf *out) {
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    double width = (double)(page->width - LABEL - 12) * (double)bar->all / (double)most;
    size_t filled = (size_t)lround(8 * width);
    const char *colour = "";
    for (size_t i = 0; 8 * i < filled; i++) {
        size_t left = filled - 8 * i;
        double middle = (double)i + (left >= 8 ? 0.5 : (double)left / 16);
        const char *its = page->category[category_at(bar, middle / width)];
        if (its != colour)
            lc_strbuf_printf(out, "%s%s", *colour != '\0' ? page->plain : "", its);
        colour = its;
        if (left >= 8)
            lc_strbuf_puts(out, page->utf8 ? "█" : "#");
        else
            lc_strbuf_puts(out, page->utf8 ? eighths[left] : left > 3 ? "#" : "");
    }
    lc_strbuf_puts(out, *colour != '\0' ? page->plain : "");
}

/* The zoomed histogram, with fewer bins than it has. */
static void print_histogram(const struct lc_fingerprint *f, const struct lc_bench_page *page,
                            const struct lc_histogram *h, const char *title) {
    struct bar bars[BARS] = {{0}};
    size_t most = 1;
    struct lc_strbuf line = {0};
    char text[32];
    for (int i = 0; i < LC_FINGERPRINT_BINS; i++) {
        struct bar *bar = &bars[i * BARS / LC_FINGERPRINT_BINS];
        bar->all += h->counts[i];
        for (int c = 0; c < LC_CATEGORIES; c++)
            bar->of[c] += h->of[i][c];
    }
    for (int i = 0; i < BARS; i++)
        most = bars[i].all > most ? bars[i].all : most;
    heading(page, title, "");
    for (int i = 0; i < BARS; i++) {
        int first_bin = (i * LC_FINGERPRINT_BINS + BARS - 1) / BARS;
        double low = h->low_ns + (h->high_ns - h->low_ns) * first_bin / LC_FINGERPRINT_BINS;
        lc_strbuf_clear(&line);
        put_bar(&bars[i], most, page, &line);
        fprintf(page->out, "%*s %s%s %.1f %%\n", LABEL - 1, lc_bench_time(low, text),
                page->utf8 ? "│" : "|", lc_strbuf_get(&line),
                100.0 * (double)bars[i].all / (double)f->n);
    }
    lc_strbuf_free(&line);
}

/* Share of repetitions up to a run time, and the box plot below it on the same axis. */
static enum lc_err print_distribution(const struct lc_fingerprint *f,
                                      const struct lc_bench_page *page) {
    double low = f->ascending[0];
    double high = fmin(f->zoom.high_ns, f->box.high + 2 * (f->box.q3 - f->box.q1)) * 1.0001;
    size_t columns = page->width - LABEL - 2;
    struct lc_canvas canvas;
    struct lc_strbuf line = {0};
    char from[32], to[32];
    LC_TRY(lc_canvas_new(&canvas, columns, PLOT_ROWS, page->utf8));
    high = high > low ? high : low + 1;
    for (size_t x = 0, i = 0; x < canvas.width; x++) {
        double at = low + (high - low) * ((double)x + 0.5) / (double)canvas.width;
        while (i < f->n && f->ascending[i] <= at)
            i++;
        lc_canvas_set(&canvas, ((double)x + 0.5) / (double)canvas.width, (double)i / (double)f->n,
                      0);
    }
    heading(page, "Share of repetitions up to a run time", "(box: quartiles)");
    for (size_t row = 0; row < canvas.rows; row++) {
        lc_strbuf_clear(&line);
        lc_canvas_put_row(&canvas, row, &(const char *){""}, "", &line);
        fprintf(page->out, "%*s %s%s\n", LABEL - 1,
                row == 0                 ? "100 %"
                : row + 1 == canvas.rows ? "0 %"
                                         : "",
                page->utf8 ? "│" : "|", lc_strbuf_get(&line));
    }
    lc_canvas_free(&canvas);
    lc_strbuf_clear(&line);
    for (size_t x = 0; x < columns; x++) {
        double begin = low + (high - low) * (double)x / (double)columns;
        double end = low + (high - low) * (double)(x + 1) / (double)columns;
        bool middle = f->box.median >= begin && f->box.median < end;
        bool box = end > f->box.q1 && begin <= f->box.q3;
        bool whisker = end > f->box.low && begin <= f->box.high;
        lc_strbuf_puts(&line, middle    ? (page->utf8 ? "┃" : "|")
                              : box     ? (page->utf8 ? "▒" : "=")
                              : whisker ? (page->utf8 ? "─" : "-")
                                        : " ");
    }
    fprintf(page->out, "%*s  %s\n", LABEL - 1, "", lc_strbuf_get(&line));
    fprintf(page->out, "%*s  %-*s%*s\n", LABEL - 1, "", (int)(columns / 2),
            lc_bench_time(low, from), (int)(columns - columns / 2), lc_bench_time(high, to));
    lc_strbuf_free(&line);
    return LC_OK;
}

static void print_ranks(const struct lc_fingerprint *f, const struct lc_bench_page *page) {
    enum { MOST = 16 };
    const json_t *ranks = json_object_get(f->about, "per_rank"), *rank;
    char text[32], late[32];
    if (json_array_size(ranks) < 2)
        return;
    heading(page, "Ranks", "(own run time; how often the last to leave)");
    for (size_t i = 0; (rank = json_array_get(ranks, i)) != NULL && i < MOST; i++) {
        struct lc_strbuf cpus = {0};
        const char *list = json_string_value(json_object_get(rank, "cpus"));
        lc_put_printable(&cpus, list != NULL ? list : "");
        fprintf(page->out, "  rank %-4zu median %-9s 95 %% %-9s last %3.0f %%%s%s\n", i,
                lc_bench_time(json_number_value(json_object_get(rank, "median_ns")), text),
                lc_bench_time(json_number_value(json_object_get(rank, "q95_ns")), late),
                100 * json_number_value(json_object_get(rank, "last_share")),
                cpus.length > 0 ? "  CPUs " : "", lc_strbuf_get(&cpus));
        lc_strbuf_free(&cpus);
    }
    if (json_array_size(ranks) > MOST)
        fprintf(page->out, "  .. %zu more\n", json_array_size(ranks) - MOST);
}

/* What reading the counters, and sampling, do to the run time. */
static void print_perturbation(const json_t *counted, const struct lc_bench_page *page) {
    const json_t *change = json_object_get(counted, "perturbation"),
                 *ci = json_object_get(counted, "ci");
    long long every = (long long)json_integer_value(json_object_get(counted, "every"));
    if (every <= 0)
        return;
    fprintf(page->out,
            "  taken in one repetition of %lld, whose run time does not count: taking them ",
            every);
    if (json_is_number(change))
        fprintf(page->out, "changes it by %+.1f %%", 100 * json_number_value(change));
    if (json_is_number(json_array_get(ci, 0)) && json_is_number(json_array_get(ci, 1)))
        fprintf(page->out, ", 95 %% interval %+.1f to %+.1f %%\n",
                100 * json_number_value(json_array_get(ci, 0)),
                100 * json_number_value(json_array_get(ci, 1)));
    else
        fputs(json_is_number(change) ? ": too few for an interval\n"
                                     : "may change it: too few to tell\n",
              page->out);
}

static const char *value_text(bool is_time, double value, char text[32]) {
    if (is_time)
        return lc_bench_time(value, text);
    snprintf(text, 32, "%.4g", value);
    return text;
}

/* Of a counter in the warm-up and after it, where they differ. */
static void print_levels(const char *name, const json_t *levels, const struct lc_bench_page *page) {
    const json_t *warmup = json_object_get(levels, "warmup"),
                 *good = json_object_get(levels, "good"), *p = json_object_get(levels, "p");
    size_t length = strlen(name);
    bool is_time = length > 3 && strcmp(name + length - 3, "_ns") == 0;
    char before[32], after[32];
    if (json_is_number(warmup) && json_is_number(good) && json_is_number(p) &&
        json_number_value(p) < LC_SHOWN_BELOW)
        fprintf(page->out, "    %s in the warm-up, %s in good repetitions (p < %g)\n",
                value_text(is_time, json_number_value(warmup), before),
                value_text(is_time, json_number_value(good), after), LC_SHOWN_BELOW);
}

/* A counter's coefficients; without a warm-up those of both are those of good ones. False: it has
 * none. */
static bool print_counter(const char *name, const json_t *counter, bool warmup,
                          const struct lc_bench_page *page) {
    static const char *const keys[][2] = {{"all", "all"},
                                          {"warmup", "warmup"},
                                          {"outlier", "outlier"},
                                          {"good", "good"},
                                          {"warmup_good", "both"}};
    const json_t *spearman = json_object_get(counter, "spearman");
    struct lc_strbuf shown = {0};
    for (int i = 0; i < (warmup ? 5 : 4); i++) {
        const json_t *value = json_object_get(spearman, keys[i][0]);
        if (json_is_number(value))
            lc_strbuf_printf(&shown, " %s %+.2f", keys[i][1], json_number_value(value));
    }
    bool any = shown.length > 0;
    if (any) {
        struct lc_strbuf label = {0};
        lc_put_printable(&label, name);
        fprintf(page->out, "  %-32s%s\n", lc_strbuf_get(&label), lc_strbuf_get(&shown));
        lc_strbuf_free(&label);
        print_levels(name, json_object_get(counter, "levels"), page);
    }
    lc_strbuf_free(&shown);
    return any;
}

static bool is_state(const json_t *counter) {
    const char *kind = json_string_value(json_object_get(counter, "kind"));
    return kind != NULL && strcmp(kind, "state") == 0;
}

/* Names on one line, broken where it is full. */
static void add_name(struct lc_strbuf *list, size_t *column, const char *name,
                     const struct lc_bench_page *page) {
    struct lc_strbuf label = {0};
    lc_put_printable(&label, name);
    if (list->length > 0)
        lc_strbuf_puts(list, *column + label.length + 3 > page->width ? ",\n    " : ", ");
    if (list->length > 0 && *column + label.length + 3 > page->width)
        *column = 4;
    lc_strbuf_puts(list, lc_strbuf_get(&label));
    *column += label.length + 2;
    lc_strbuf_free(&label);
}

static void print_counters(const struct lc_fingerprint *f, const struct lc_bench_page *page) {
    static const char constant_title[] = "  constant: ", states_title[] = "  states, by number: ";
    const char *name;
    json_t *counter, *counters = json_object_get(f->about, "counters");
    struct lc_strbuf constant = {0}, states = {0};
    size_t column = sizeof constant_title - 1, states_column = sizeof states_title - 1;
    if (json_object_size(counters) == 0)
        return;
    bool warmup = f->of[LC_CATEGORY_WARMUP].count > 0;
    heading(page, "Counters and run time",
            warmup
                ? "(Spearman's correlation of ranks, by category; both: of warm-up and good ones)"
                : "(Spearman's correlation of ranks, by category)");
    json_object_foreach(counters, name, counter) {
        if (print_counter(name, counter, warmup, page))
            continue;
        if (is_state(counter))
            add_name(&states, &states_column, name, page);
        else
            add_name(&constant, &column, name, page);
    }
    if (states.length > 0)
        fprintf(page->out, "%s%s\n", states_title, lc_strbuf_get(&states));
    if (constant.length > 0)
        fprintf(page->out, "%s%s\n", constant_title, lc_strbuf_get(&constant));
    lc_strbuf_free(&constant);
    lc_strbuf_free(&states);
}

/* Call paths of the samples, from the operation inwards: shares of its time with their standard
 * errors. */
static void print_samples(const struct lc_fingerprint *f, const struct lc_bench_page *page) {
    enum { MOST = 25, NAME = 44 };
    const json_t *samples = json_object_get(f->about, "samples"),
                 *paths = json_object_get(samples, "callpaths"), *one;
    size_t shown = 0;
    bool unnamed = false;
    if (json_array_size(paths) == 0)
        return;
    heading(page, "Where the operation spends its time", "(samples; with the library)");
    for (size_t i = 0; (one = json_array_get(paths, i)) != NULL && shown < MOST; i++) {
        double share = json_number_value(json_object_get(one, "share"));
        const char *name = json_string_value(json_object_get(one, "function")),
                   *file = json_string_value(json_object_get(one, "file"));
        int depth = (int)fmin(fmax(json_number_value(json_object_get(one, "depth")), 0), 20);
        if (share < LC_SHARE_SHOWN || name == NULL)
            continue;
        struct lc_strbuf shown_name = {0};
        lc_put_printable(&shown_name, name);
        fprintf(page->out, "  %5.1f %% %s %-4.1f %*s%-*s", 100 * share, page->utf8 ? "±" : "+-",
                100 * json_number_value(json_object_get(one, "error")), 2 * depth, "",
                NAME - 2 * depth, lc_strbuf_get(&shown_name));
        unnamed = unnamed || strstr(name, "+0x") != NULL;
        lc_strbuf_clear(&shown_name);
        lc_put_printable(&shown_name, file != NULL ? file : "");
        fprintf(page->out, " %s\n", lc_strbuf_get(&shown_name));
        lc_strbuf_free(&shown_name);
        shown++;
    }
    fprintf(page->out, "  %lld samples of %lld repetitions",
            (long long)json_integer_value(json_object_get(samples, "n")),
            (long long)json_integer_value(json_object_get(samples, "repetitions")));
    long long lost = (long long)json_integer_value(json_object_get(samples, "lost"));
    if (lost > 0)
        fprintf(page->out, "; %lld more found no room", lost);
    fputc('\n', page->out);
    if (unnamed)
        fputs("  +0x..: a function that begins there; its library has no symbols, those for "
              "debugging would name it\n",
              page->out);
}

/* What was asked for and is not available: a line each. */
static void print_missing(const struct lc_fingerprint *f, const struct lc_bench_page *page) {
    const char *line;
    json_t *value, *missing = json_object_get(json_object_get(f->about, "benchmark"), "missing");
    json_object_foreach(missing, line, value) {
        fputs("  left out: ", page->out);
        print_printable(page, line);
        fputc('\n', page->out);
    }
}

enum lc_err lc_fingerprint_text(const struct lc_fingerprint *f, const struct lc_bench_page *page) {
    fputs(page->bold, page->out);
    print_printable(page, f->operation);
    fputs(page->plain, page->out);
    if (lc_bench_is_sized(f->operation))
        fprintf(page->out, "  %llu byte%s", (unsigned long long)f->bytes,
                lc_plural((double)f->bytes));
    fputc('\n', page->out);
    print_setting(f, page);
    print_quantiles(f, page);
    print_less_empty(f, page);
    print_starts(f, page);
    print_overlap(f, page);
    print_categories(f, page);
    print_patterns(f, page);
    LC_TRY(print_series(f, page, true));
    if (f->of[LC_CATEGORY_OUTLIER].count > 0)
        LC_TRY(print_series(f, page, false));
    LC_TRY(print_distribution(f, page));
    print_histogram(f, page, &f->zoom, "Histogram without outliers");
    print_ranks(f, page);
    print_counters(f, page);
    print_samples(f, page);
    if (json_object_size(json_object_get(f->about, "counters")) > 0 ||
        json_object_size(json_object_get(f->about, "samples")) > 0)
        print_perturbation(json_object_get(f->about, "counted"), page);
    print_missing(f, page);
    return LC_OK;
}

void lc_fingerprint_line(const struct lc_fingerprint *f, const struct lc_bench_page *page) {
    char median[32], low[32], tail[32];
    fputs("  ", page->out);
    struct lc_strbuf name = {0}, size = {0};
    lc_put_printable(&name, f->operation);
    if (lc_bench_is_sized(f->operation))
        lc_strbuf_printf(&size, "%llu B", (unsigned long long)f->bytes);
    fprintf(page->out, "%-28s %12s  median %-9s min %-9s 95 %% %-9s %zu mode%s",
            lc_strbuf_get(&name), lc_strbuf_get(&size), lc_bench_time(f->median.value, median),
            lc_bench_time(f->ascending[0], low), lc_bench_time(f->tail.value, tail), f->modes.n,
            lc_plural((double)f->modes.n));
    size_t warnings = json_array_size(json_object_get(f->about, "warnings"));
    if (warnings > 0)
        fprintf(page->out, "  %s%zu warning%s%s", page->alarm, warnings,
                lc_plural((double)warnings), page->plain);
    fputc('\n', page->out);
    lc_strbuf_free(&name);
    lc_strbuf_free(&size);
}
