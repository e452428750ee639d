#include "bench/cumulative.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/lookup.h"
#include "base/mem.h"
#include "base/stats.h"

static enum lc_err cumulative_mean(const double *runs, size_t n, double *out) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += runs[i];
        out[i] = sum / (double)(i + 1);
    }
    return LC_OK;
}

/* Insertion into a sorted array: quadratic in moves, which memmove does at 10 GB/s. */
static enum lc_err cumulative_median(const double *runs, size_t n, double *out) {
    double *sorted;
    LC_TRY(lc_alloc(&sorted, n, sizeof sorted[0]));
    for (size_t i = 0; i < n; i++) {
        size_t place = LC_FIRST_WHERE(k, 0, i, sorted[k] > runs[i]);
        memmove(sorted + place + 1, sorted + place, (i - place) * sizeof sorted[0]);
        sorted[place] = runs[i];
        out[i] = lc_stats_quantile_sorted(sorted, i + 1, 0.5);
    }
    free(sorted);
    return LC_OK;
}

static enum lc_err cumulative_minimum(const double *runs, size_t n, double *out) {
    for (size_t i = 0; i < n; i++)
        out[i] = i == 0 ? runs[0] : fmin(out[i - 1], runs[i]);
    return LC_OK;
}

/* The window around i; beyond the ends stands the outermost value. */
static void window(const double *runs, size_t n, size_t i, double values[LC_RUNNING_WINDOW]) {
    for (int k = 0; k < LC_RUNNING_WINDOW; k++) {
        long at = (long)i + k - LC_RUNNING_WINDOW / 2;
        values[k] = runs[at < 0 ? 0 : (size_t)at >= n ? n - 1 : (size_t)at];
    }
}

static enum lc_err running_mean(const double *runs, size_t n, double *out) {
    double values[LC_RUNNING_WINDOW];
    for (size_t i = 0; i < n; i++) {
        window(runs, n, i, values);
        out[i] = lc_stats_mean(values, LC_RUNNING_WINDOW);
    }
    return LC_OK;
}

static enum lc_err running_median(const double *runs, size_t n, double *out) {
    double values[LC_RUNNING_WINDOW];
    for (size_t i = 0; i < n; i++) {
        window(runs, n, i, values);
        lc_stats_sort(values, LC_RUNNING_WINDOW);
        out[i] = values[LC_RUNNING_WINDOW / 2];
    }
    return LC_OK;
}

const struct lc_cumulative lc_cumulative[] = {
    {"cumulative_mean", cumulative_mean},       {"cumulative_median", cumulative_median},
    {"cumulative_minimum", cumulative_minimum}, {"running_mean", running_mean},
    {"running_median", running_median},         {NULL, NULL}};
