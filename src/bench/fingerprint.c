#include "bench/fingerprint.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/stats.h"

const int lc_fingerprint_percent[LC_FINGERPRINT_QUANTILES] = {1, 5, 25, 50, 75, 95, 99};

static size_t bin_of(const struct lc_histogram *h, double run_ns) {
    double place = (run_ns - h->low_ns) / (h->high_ns - h->low_ns);
    return (size_t)fmin(place * LC_FINGERPRINT_BINS, LC_FINGERPRINT_BINS - 1);
}

static void fill_histogram(struct lc_histogram *h, const struct lc_fingerprint *f, bool zoomed) {
    h->low_ns = h->high_ns = 0;
    for (size_t i = 0; i < f->n; i++) {
        if (zoomed && f->runs[i] >= 2 * f->median.value)
            continue;
        h->low_ns = h->low_ns > 0 ? fmin(h->low_ns, f->runs[i]) : f->runs[i];
        h->high_ns = fmax(h->high_ns, f->runs[i]);
    }
    if (h->high_ns <= h->low_ns)
        h->high_ns = h->low_ns + 1;
    for (size_t i = 0; i < f->n; i++)
        if (!zoomed || f->runs[i] < 2 * f->median.value) {
            size_t bin = bin_of(h, f->runs[i]);
            h->counts[bin]++;
            h->of[bin][f->category[i]]++;
        }
}

static void fill_box(struct lc_fingerprint *f) {
    f->box.q1 = lc_stats_quantile_sorted(f->ascending, f->n, 0.25);
    f->box.median = f->median.value;
    f->box.q3 = lc_stats_quantile_sorted(f->ascending, f->n, 0.75);
    double reach = 1.5 * (f->box.q3 - f->box.q1);
    f->box.low = f->box.q1;
    f->box.high = f->box.q3;
    for (size_t i = 0; i < f->n; i++) {
        double x = f->ascending[i];
        f->box.outside += x < f->box.q1 - reach || x > f->box.q3 + reach;
        if (x >= f->box.q1 - reach)
            f->box.low = fmin(f->box.low, x);
        if (x <= f->box.q3 + reach)
            f->box.high = fmax(f->box.high, x);
    }
}

/* Count and median of each category; the modes of what is neither first nor warm-up. */
static enum lc_err fill_categories(struct lc_fingerprint *f) {
    double *chosen;
    LC_TRY(lc_alloc(&chosen, f->n, sizeof chosen[0]));
    for (int c = 0; c < LC_CATEGORIES; c++) {
        size_t count = 0;
        for (size_t i = 0; i < f->n; i++)
            if (f->category[i] == c)
                chosen[count++] = f->runs[i];
        lc_stats_sort(chosen, count);
        f->of[c].count = count;
        f->of[c].median = lc_stats_quantile_sorted(chosen, count, 0.5);
    }
    size_t count = 0;
    for (size_t i = 0; i < f->n; i++)
        if (f->category[i] > LC_CATEGORY_WARMUP)
            chosen[count++] = f->runs[i];
    lc_stats_sort(chosen, count);
    enum lc_err err = LC_OK;
    if (count > 0)
        err = lc_modes_find(chosen, count, &f->modes);
    count = 0; /* again, in the order of time */
    for (size_t i = 0; i < f->n; i++)
        if (f->category[i] > LC_CATEGORY_WARMUP)
            chosen[count++] = f->runs[i];
    lc_modes_dwell(&f->modes, chosen, count);
    free(chosen);
    return err;
}

static enum lc_err compute(struct lc_fingerprint *f) {
    LC_TRY(lc_alloc(&f->ascending, f->n, sizeof f->ascending[0]));
    LC_TRY(lc_alloc(&f->category, f->n, 1));
    for (size_t i = 0; i < f->n; i++)
        f->ascending[i] = f->runs[i];
    lc_stats_sort(f->ascending, f->n);
    f->mean = lc_stats_mean(f->runs, f->n);
    for (int q = 0; q < LC_FINGERPRINT_QUANTILES; q++)
        f->quantiles[q] =
            lc_stats_quantile_sorted(f->ascending, f->n, lc_fingerprint_percent[q] / 100.0);
    LC_TRY(lc_dependent_quantile(f->runs, f->n, 0.5, &f->median));
    LC_TRY(lc_dependent_quantile(f->runs, f->n, 0.95, &f->tail));
    LC_TRY(lc_warmup_find(f->runs, f->n, f->median.value, &f->warmup));
    lc_categorize(f->runs, f->n, f->median.value, f->warmup.end, f->category);
    LC_TRY(fill_categories(f));
    LC_TRY(lc_change_points(f->runs, f->n, &f->change_points, &f->n_change_points));
    LC_TRY(lc_patterns_find(f->runs, f->category, f->n, &f->patterns));
    fill_box(f);
    fill_histogram(&f->all, f, false);
    fill_histogram(&f->zoom, f, true);
    return LC_OK;
}

static enum lc_err check_runs(const char *operation, const double *runs, size_t n) {
    if (n == 0)
        return lc_fail(LC_ERR_FORMAT, "bench: %s: no run times", operation);
    for (size_t i = 0; i < n; i++)
        if (!(runs[i] > 0 && runs[i] < 1e18))
            return lc_fail(LC_ERR_FORMAT,
                           "bench: %s: run time %zu is %g: they are in ns, above 0 and below 1e18",
                           operation, i, runs[i]);
    return LC_OK;
}

enum lc_err lc_fingerprint_new(struct lc_fingerprint **made, const char *operation, uint64_t bytes,
                               uint32_t ranks, double *runs, size_t n, json_t *about) {
    *made = NULL;
    struct lc_fingerprint *f = NULL;
    enum lc_err err = check_runs(operation, runs, n);
    if (err == LC_OK)
        err = lc_alloc(&f, 1, sizeof *f);
    if (err != LC_OK) {
        free(runs);
        json_decref(about);
        return err;
    }
    f->runs = runs;
    f->n = n;
    f->about = about;
    f->bytes = bytes;
    f->ranks = ranks;
    err = lc_strdup(&f->operation, operation);
    if (err == LC_OK)
        err = compute(f);
    if (err == LC_OK)
        *made = f;
    else
        lc_fingerprint_free(f);
    return err;
}

void lc_fingerprint_free(struct lc_fingerprint *f) {
    if (f == NULL)
        return;
    json_decref(f->about);
    free(f->operation);
    free(f->runs);
    free(f->category);
    free(f->ascending);
    free(f->change_points);
    free(f);
}
