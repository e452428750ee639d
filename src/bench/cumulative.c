#include "bench/cumulative.h"

#include <math.h>
#include <stdlib.h>

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

struct placed {
    double value;
    size_t at;
};

static int by_value(const void *a, const void *b) {
    const struct placed *x = a, *y = b;
    return x->value != y->value ? (x->value > y->value) - (x->value < y->value)
                                : (x->at > y->at) - (x->at < y->at);
}

/* The place of the k-th of those that are counted (from 0). tree: sums of counts (Fenwick 1994),
 * `top` the largest power of two that is not above n. */
static size_t find_kth(const size_t *tree, size_t n, size_t top, size_t k) {
    size_t place = 0;
    for (size_t step = top; step > 0; step /= 2)
        if (place + step <= n && tree[place + step] <= k) {
            place += step;
            k -= tree[place];
        }
    return place;
}

/* Each run time is counted at its place among all of them: the middle of those counted. */
static void medians(const struct placed *order, const size_t *place, size_t *tree, size_t n,
                    double *out) {
    size_t top = 1;
    while (2 * top <= n)
        top *= 2;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = place[i] + 1; k <= n; k += k & -k)
            tree[k]++;
        double low = order[find_kth(tree, n, top, i / 2)].value;
        double high = order[find_kth(tree, n, top, (i + 1) / 2)].value;
        out[i] = low + (high - low) / 2;
    }
}

static enum lc_err cumulative_median(const double *runs, size_t n, double *out) {
    struct placed *order;
    size_t *place;
    LC_TRY(lc_alloc(&order, n, sizeof order[0]));
    enum lc_err err = lc_alloc(&place, 2 * n + 1, sizeof place[0]); /* and the tree */
    if (err == LC_OK) {
        for (size_t i = 0; i < n; i++)
            order[i] = (struct placed){runs[i], i};
        qsort(order, n, sizeof order[0], by_value);
        for (size_t i = 0; i < n; i++)
            place[order[i].at] = i;
        medians(order, place, place + n, n, out);
        free(place);
    }
    free(order);
    return err;
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

enum lc_err lc_curve_of(const struct lc_cumulative *metric, const double *runs, size_t n,
                        struct lc_curve *curve) {
    double *values;
    LC_TRY(lc_alloc(&values, n, sizeof values[0]));
    enum lc_err err = metric->fill(runs, n, values);
    *curve = (struct lc_curve){.n = n < LC_CURVE_POINTS ? n : LC_CURVE_POINTS};
    for (size_t k = 0, i = 1; err == LC_OK && k < curve->n; k++) {
        curve->at[k] = curve->n == 1 ? 0 : k * (n - 1) / (curve->n - 1);
        curve->value[k] = values[curve->at[k]];
        for (; i <= curve->at[k]; i++)
            if (fabs(values[i] - values[i - 1]) > fabs(curve->delta[k]))
                curve->delta[k] = values[i] - values[i - 1];
    }
    free(values);
    return err;
}
