#include "bench/patterns.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"
#include "bench/categories.h"
#include "bench/modes.h"

/* REPS_MOST: those are looked at, LAGS_MOST: distances. NEAR: of outliers of one cluster. */
enum { REPS_MOST = 20000, LAGS_MOST = 1000, NEAR = 3, OUTLIERS_LEAST = 5 };
#define LC_PEAK_LEAST  0.2
#define LC_PEAK_ERRORS 5.5

/* r[lags + 2], of all distances up to lags + 1. */
static void correlate(const double *y, size_t n, size_t lags, double *r) {
    double mean = 0, square = 0;
    for (size_t i = 0; i < n; i++)
        mean += y[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        square += (y[i] - mean) * (y[i] - mean);
    r[0] = 1;
    for (size_t lag = 1; lag <= lags + 1; lag++) {
        double sum = 0;
        for (size_t i = lag; i < n; i++)
            sum += (y[i] - mean) * (y[i - lag] - mean);
        r[lag] = square > 0 ? sum / square : 0;
    }
}

static void find_period(const double *r, size_t n, size_t lags, struct lc_patterns *p) {
    double least = fmax(LC_PEAK_LEAST, LC_PEAK_ERRORS / sqrt((double)n)), below = INFINITY;
    for (size_t lag = 2; lag <= lags; lag++) {
        below = fmin(below, r[lag - 1]);
        bool peak = r[lag] > r[lag - 1] && r[lag] > r[lag + 1];
        /* the next multiple of a period is as high: only what is clearly higher replaces it */
        if (peak && r[lag] >= least && below < r[lag] / 2 && r[lag] > 1.25 * p->autocorrelation) {
            p->period = lag;
            p->autocorrelation = r[lag];
        }
    }
}

static enum lc_err look_for_period(const double *runs, size_t n, struct lc_patterns *p) {
    double *y;
    n = n < REPS_MOST ? n : REPS_MOST;
    size_t lags = n / 4 < LAGS_MOST ? n / 4 : LAGS_MOST;
    if (lags < 2)
        return LC_OK;
    LC_TRY(lc_alloc(&y, n + lags + 2, sizeof y[0]));
    enum lc_err err = lc_deviations(runs, n, y);
    if (err == LC_OK) {
        correlate(y, n, lags, y + n);
        find_period(y + n, n, lags, p);
    }
    free(y);
    return err;
}

/* P(X >= k) of n draws with probability q. */
static double binomial_tail(size_t n, size_t k, double q) {
    double sum = 0, count = (double)n;
    for (size_t i = k; i <= n; i++) {
        double x = (double)i;
        sum += exp(lgamma(count + 1) - lgamma(x + 1) - lgamma(count - x + 1) + x * log(q) +
                   (count - x) * log1p(-q));
    }
    return fmin(sum, 1);
}

static void find_clusters(const uint8_t *category, size_t n, struct lc_patterns *p) {
    size_t row = 0, last = 0, after = 0; /* after: repetitions behind the warm-up */
    for (size_t i = 0; i < n; i++) {
        after += category[i] > LC_CATEGORY_WARMUP;
        if (category[i] != LC_CATEGORY_OUTLIER)
            continue;
        bool goes_on = p->outliers > 0 && i - last <= NEAR;
        row = goes_on ? row + 1 : 1;
        p->clusters += !goes_on;
        p->largest = row > p->largest ? row : p->largest;
        p->outliers++;
        last = i;
    }
    p->clusters_p = 1;
    if (p->outliers < OUTLIERS_LEAST || p->outliers == after)
        return;
    double share = (double)p->outliers / (double)after, near = 1 - pow(1 - share, NEAR);
    p->clusters_by_chance = 1 + (double)(p->outliers - 1) * (1 - near);
    p->clusters_p = binomial_tail(p->outliers - 1, p->outliers - p->clusters, near);
}

enum lc_err lc_patterns_find(const double *runs, const uint8_t *category, size_t n,
                             struct lc_patterns *p) {
    size_t from = 0;
    *p = (struct lc_patterns){.clusters_p = 1};
    while (from < n && category[from] <= LC_CATEGORY_WARMUP)
        from++;
    find_clusters(category, n, p);
    return look_for_period(runs + from, n - from, p);
}
