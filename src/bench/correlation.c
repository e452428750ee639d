#include "bench/correlation.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"

static double pearson(const double *x, const double *y, size_t n) {
    double mean_x = 0, mean_y = 0, xx = 0, yy = 0, xy = 0;
    for (size_t i = 0; i < n; i++) {
        mean_x += x[i] / (double)n;
        mean_y += y[i] / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        xx += (x[i] - mean_x) * (x[i] - mean_x);
        yy += (y[i] - mean_y) * (y[i] - mean_y);
        xy += (x[i] - mean_x) * (y[i] - mean_y);
    }
    /* what is constant has the rounding of its mean left */
    bool varies =
        xx > 1e-18 * (double)n * mean_x * mean_x && yy > 1e-18 * (double)n * mean_y * mean_y;
    return varies ? xy / sqrt(xx * yy) : NAN;
}

struct placed {
    double value;
    size_t at;
};

static int by_value(const void *a, const void *b) {
    const struct placed *x = a, *y = b;
    return (x->value > y->value) - (x->value < y->value);
}

/* Ranks, the mean of them among equals. */
static void rank_all(const double *values, size_t n, struct placed *order, double *ranks) {
    for (size_t i = 0; i < n; i++)
        order[i] = (struct placed){values[i], i};
    qsort(order, n, sizeof order[0], by_value);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && order[end].value <= order[i].value;)
            end++;
        for (size_t k = i; k < end; k++)
            ranks[order[k].at] = (double)(i + 1 + end) / 2;
    }
}

enum lc_err lc_correlate(const double *x, const double *y, size_t n,
                         struct lc_correlation *result) {
    struct placed *order;
    double *ranks;
    *result = (struct lc_correlation){NAN, NAN};
    if (n < 3)
        return LC_OK;
    LC_TRY(lc_alloc(&order, n, sizeof order[0]));
    enum lc_err err = lc_alloc(&ranks, 2 * n, sizeof ranks[0]);
    if (err == LC_OK) {
        rank_all(x, n, order, ranks);
        rank_all(y, n, order, ranks + n);
        *result = (struct lc_correlation){pearson(x, y, n), pearson(ranks, ranks + n, n)};
        free(ranks);
    }
    free(order);
    return err;
}
