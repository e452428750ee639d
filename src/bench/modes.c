#include "bench/modes.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/lookup.h"
#include "base/mem.h"
#include "base/stats.h"

enum { GRID = 512 };
#define LC_VALLEY       0.7
#define LC_LEAST_WEIGHT 0.03

struct density {
    double low, step; /* of log x */
    double at[GRID];
};

/* Silverman's rule with the smaller of both measures of spread; two well separated modes need less
 * smoothing than it says, so half of it. */
static double bandwidth(const double *ascending, size_t n) {
    double mean = 0, square = 0;
    for (size_t i = 0; i < n; i++)
        mean += log(ascending[i]) / (double)n;
    for (size_t i = 0; i < n; i++)
        square += pow(log(ascending[i]) - mean, 2) / (double)n;
    double quartiles = log(lc_stats_quantile_sorted(ascending, n, 0.75) /
                           lc_stats_quantile_sorted(ascending, n, 0.25));
    double spread = sqrt(square);
    if (quartiles > 0)
        spread = fmin(spread, quartiles / 1.34);
    return fmax(0.9 * spread * pow((double)n, -0.2), 1e-3);
}

static void estimate(const double *ascending, size_t n, struct density *d) {
    double width = bandwidth(ascending, n), counts[GRID] = {0};
    /* the far tail would take all of the grid; what lies there is in the last cell */
    double first = log(ascending[0]), last = log(lc_stats_quantile_sorted(ascending, n, 0.99));
    d->low = first - 3 * width;
    d->step = (last - first + 6 * width) / (GRID - 1);
    for (size_t i = 0; i < n; i++) {
        long cell = lround((log(ascending[i]) - d->low) / d->step);
        counts[cell < 0 ? 0 : cell >= GRID ? GRID - 1 : cell]++;
    }
    for (int i = 0; i < GRID; i++) {
        d->at[i] = 0;
        for (int k = 0; k < GRID - 1; k++)
            if (counts[k] > 0)
                d->at[i] += counts[k] * exp(-0.5 * pow((i - k) * d->step / width, 2));
    }
}

struct peak {
    int top, begin, end; /* cells; valleys on both sides */
};

/* Valleys between two neighbours are joined, the flattest first, until all that stay are deep. */
static size_t join_flat(const struct density *d, struct peak *peaks, size_t n) {
    for (;;) {
        double worst = LC_VALLEY;
        size_t at = n;
        for (size_t i = 0; i + 1 < n; i++) {
            double lower = fmin(d->at[peaks[i].top], d->at[peaks[i + 1].top]);
            double depth = d->at[peaks[i].end] / lower;
            if (depth >= worst) {
                worst = depth;
                at = i;
            }
        }
        if (at == n)
            return n;
        int second = d->at[peaks[at + 1].top] > d->at[peaks[at].top];
        peaks[at].top = peaks[at + second].top;
        peaks[at].end = peaks[at + 1].end;
        for (size_t i = at + 1; i + 1 < n; i++)
            peaks[i] = peaks[i + 1];
        n--;
    }
}

static size_t find_peaks(const struct density *d, struct peak *peaks) {
    size_t n = 0;
    int begin = 0, top = 0;
    for (int i = 1; i < GRID; i++) {
        bool falls = d->at[i] < d->at[i - 1];
        if (!falls && d->at[i] >= d->at[top])
            top = i;
        bool valley = i + 1 < GRID && d->at[i] <= d->at[i - 1] && d->at[i + 1] > d->at[i];
        if (valley || i + 1 == GRID) {
            peaks[n++] = (struct peak){top, begin, i};
            begin = top = i;
        }
    }
    return join_flat(d, peaks, n);
}

static size_t below(const double *ascending, size_t n, double limit) {
    return LC_FIRST_WHERE(i, 0, n, ascending[i] >= limit);
}

enum lc_err lc_modes_find(const double *ascending, size_t n, struct lc_modes *modes) {
    struct density d;
    struct peak peaks[GRID];
    *modes = (struct lc_modes){0};
    estimate(ascending, n, &d);
    size_t count = find_peaks(&d, peaks);
    for (size_t i = 0; i < count && modes->n < LC_MODES_MOST; i++) {
        double low = i == 0 ? 0 : exp(d.low + peaks[i].begin * d.step);
        double high = i + 1 == count ? INFINITY : exp(d.low + peaks[i].end * d.step);
        double weight = (double)(below(ascending, n, high) - below(ascending, n, low)) / (double)n;
        if (weight >= LC_LEAST_WEIGHT)
            modes->mode[modes->n++] =
                (struct lc_mode){.location_ns = exp(d.low + peaks[i].top * d.step),
                                 .low_ns = low,
                                 .high_ns = high,
                                 .weight = weight};
    }
    return LC_OK;
}

static struct lc_mode *mode_of(struct lc_modes *modes, double run) {
    for (size_t i = 0; i < modes->n; i++)
        if (run >= modes->mode[i].low_ns && run < modes->mode[i].high_ns)
            return &modes->mode[i];
    return NULL;
}

void lc_modes_dwell(struct lc_modes *modes, const double *runs, size_t n) {
    const struct lc_mode *last = NULL;
    size_t stay = 0, of[LC_MODES_MOST] = {0};
    for (size_t i = 0; i < n; i++) {
        struct lc_mode *mode = mode_of(modes, runs[i]);
        if (mode == NULL)
            continue;
        stay = mode == last ? stay + 1 : 1;
        last = mode;
        mode->stays += stay == 1;
        mode->longest = stay > mode->longest ? stay : mode->longest;
        of[mode - modes->mode]++;
    }
    for (size_t i = 0; i < modes->n; i++)
        if (modes->mode[i].stays > 0)
            modes->mode[i].dwell = (double)of[i] / (double)modes->mode[i].stays;
}
