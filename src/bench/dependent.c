#include "bench/dependent.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/stats.h"

/* Sum of the autocorrelation over all lags, 1 at least, of x = 0 or 1 with mean q. */
static double integrated(const unsigned char *x, size_t n, double q) {
    double variance = q * (1 - q) * (double)n, time = 1, pair = 0;
    if (variance <= 0)
        return 1;
    for (size_t lag = 1; lag < n / 4; lag++) {
        double sum = 0;
        for (size_t i = lag; i < n; i++)
            sum += (x[i] - q) * (x[i - lag] - q);
        pair += sum / variance;
        if (lag % 2 == 0) {
            if (pair <= 0)
                break;
            time += 2 * pair;
            pair = 0;
        }
    }
    return time;
}

static enum lc_err integrated_of(const double *runs, size_t n, double limit, double *time) {
    unsigned char *below;
    LC_TRY(lc_alloc(&below, n, 1));
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += below[i] = runs[i] <= limit;
    *time = integrated(below, n, (double)count / (double)n);
    free(below);
    return LC_OK;
}

static enum lc_err sorted_copy(const double *runs, size_t n, double **sorted) {
    LC_TRY(lc_alloc(sorted, n, sizeof(*sorted)[0]));
    for (size_t i = 0; i < n; i++)
        (*sorted)[i] = runs[i];
    lc_stats_sort(*sorted, n);
    return LC_OK;
}

enum lc_err lc_dependent_quantile(const double *runs, size_t n, double q,
                                  struct lc_quantile_interval *interval) {
    double *sorted, time = 1;
    LC_TRY(sorted_copy(runs, n, &sorted));
    interval->value = lc_stats_quantile_sorted(sorted, n, q);
    enum lc_err err = integrated_of(runs, n, interval->value, &time);
    interval->effective = (double)n / time;
    double half = 1.96 * sqrt(q * (1 - q) / interval->effective);
    interval->low = lc_stats_quantile_sorted(sorted, n, fmax(q - half, 0));
    interval->high = lc_stats_quantile_sorted(sorted, n, fmin(q + half, 1));
    free(sorted);
    return err;
}

enum lc_err lc_block_length(const double *runs, size_t n, size_t *length) {
    double *sorted, time = 1;
    LC_TRY(sorted_copy(runs, n, &sorted));
    double median = lc_stats_quantile_sorted(sorted, n, 0.5);
    free(sorted);
    LC_TRY(integrated_of(runs, n, median, &time));
    double wanted = fmax(1.5 * cbrt((double)n), 4 * time);
    *length = (size_t)fmax(1, ceil(fmin(wanted, (double)n / 8)));
    return LC_OK;
}
